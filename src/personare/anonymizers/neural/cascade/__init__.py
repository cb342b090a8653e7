"""Speech to words to an invented voice: nothing of the original voice passes but what was said, and when."""
