"""What was said: a recording cut into phrases, recognized, and its words left out where they must not be spoken."""
