"""Torch building blocks and the one training loop (extra 'neural')."""
