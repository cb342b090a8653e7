"""Training the reader (extra 'neural'): content and durations from symbols of sounds, learnt from synthetic readers."""
