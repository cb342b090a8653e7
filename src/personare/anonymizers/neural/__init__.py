"""Neural anonymizers: content, F0 and speaker vector taken apart, and synthesized again by a trained network."""
