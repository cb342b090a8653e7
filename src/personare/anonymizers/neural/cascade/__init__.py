"""Transcribe the speech and re-synthesize it: nothing of the original voice passes but the words."""
