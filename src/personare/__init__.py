"""personare (per-sonare, to sound through a mask): hide voices, and prove how well they are hidden."""

__version__ = "0.1.0"
