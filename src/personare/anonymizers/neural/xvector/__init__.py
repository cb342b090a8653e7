"""The neural x-vector anonymizer: the same words and F0 contour, spoken by a pseudo-speaker who does not exist."""
