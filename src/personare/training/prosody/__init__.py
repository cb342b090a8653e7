"""Training the prosody network (extra 'neural'): F0 contour, voicing and energy from content and a speaker vector."""
