"""The universal speech codec (USC): tokens that say what is said (C0), and tokens that say how it sounded (C1-C5)."""
