"""Speech codecs: audio in, tokens out, and back."""
