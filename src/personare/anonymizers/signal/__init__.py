"""Anonymizers by signal processing: linear prediction, formants and the WORLD vocoder; no model is needed."""
