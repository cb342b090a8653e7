"""The universal speech codec: its networks, its losses, its configurations and its training (extra neural)."""
