"""A study: one file says what to compare, one command does it, one folder holds what was found."""
