"""The sections of a report, one idea per file."""
