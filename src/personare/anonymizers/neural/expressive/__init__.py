"""expressive: words and a few symbols of how they were said, re-synthesized with a pseudo-speaker."""
