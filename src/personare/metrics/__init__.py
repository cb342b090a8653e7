"""Pure numbers: privacy and utility, arrays in, Estimates out; no files, models or plots."""
