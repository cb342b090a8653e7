"""Text in, sound out: how English words are pronounced, and offline voices that speak them; imports only core."""
