"""So that ``python -m personare`` is the same as ``personare``."""

from personare.cli import main

if __name__ == "__main__":
    main()
