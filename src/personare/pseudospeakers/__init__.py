"""Ways to invent a voice: speaker vector in, speaker vector out."""
