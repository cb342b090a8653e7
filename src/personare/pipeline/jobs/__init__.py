"""Work whose result is a folder people asked for: an anonymized corpus, invented voices, a trained model."""
