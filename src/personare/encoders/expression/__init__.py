"""Expression of a sentence: what is measured of its prosody, and the emotion label that is made of it."""
