"""Other people's layouts become one Corpus: one file per layout."""
