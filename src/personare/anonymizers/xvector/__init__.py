"""The neural x-vector anonymizer: the same words and melody in the voice of somebody who does not exist."""
