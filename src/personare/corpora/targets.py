"""A place to write to: new or empty, so that nothing of the user's is ever overwritten."""

from __future__ import annotations

from pathlib import Path

from personare.core.errors import OutputError


def refuse_full(folder: Path) -> None:
    """Refuse a target that is a file or a folder with something in it."""
    try:
        full = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    except OSError as error:
        raise OutputError(f"{folder}: cannot be used ({error.strerror})") from None
    if full:
        raise OutputError(f"{folder}: exists and is not an empty folder; name a new one")
