"""Training a recognizer of letters: utterances with their text in, a folder with the network out (extra 'neural')."""
