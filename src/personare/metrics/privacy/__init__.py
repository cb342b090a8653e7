"""How well voices are hidden: every privacy number of the papers."""
