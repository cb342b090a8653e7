"""So that ``python -m personare`` is the same as ``personare``."""

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    # "python -m" put the current directory first on the import path; only a module that is named is looked up there
    import os

    if sys.path[:1] in ([os.getcwd()], [""]):  # noqa: PTH109 - nothing may be imported before this
        del sys.path[0]

from personare.cli import main

if __name__ == "__main__":
    main()
