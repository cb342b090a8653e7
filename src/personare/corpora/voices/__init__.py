"""Invented speakers who read our own sentences: the corpus that demo, recipes and tests use when there is no other."""
