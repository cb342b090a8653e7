"""The kinds of work a study is made of, one file each: anonymize, embed, generate, train, listen, measure."""
