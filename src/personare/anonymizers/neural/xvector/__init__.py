"""The neural x-vector anonymizer: the same words with predicted prosody, spoken by a synthetic pseudo-speaker."""
