"""What anonymization leaves useful: every utility number of the papers."""
