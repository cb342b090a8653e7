"""Child processes of Python that import no code from the folder in which they are started.

``python -m`` and ``python -c`` put the current directory first on the import path, so that a file ``polars.py`` in a
folder of recordings would run. ``-P``, and PYTHONSAFEPATH for processes that a library starts, turn that off.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

PYTHON = (sys.executable, "-P")  # the beginning of every command line of ours that starts Python
SAFE_PATH = {"PYTHONSAFEPATH": "1"}


@contextlib.contextmanager
def inherited_variables(**variables: str) -> Iterator[None]:
    """Start child processes with a safe import path and these environment variables; restore our own afterwards."""
    given = {**SAFE_PATH, **variables}
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
