"""The floor: the words every room uses (audio, tables, findings, chance, names, errors, weights)."""
