"""Keep a native decoder from writing to standard error: libmpg123 reports damaged MP3 frames there, and only there.

libsndfile offers no way to ask it to be quiet, so that the file descriptor is led elsewhere during the call. Lines
that are not the decoder's, such as those of another thread, are written afterwards.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO

STDERR = 2
_THEIRS = re.compile(rb"(Note|Warning): |\[[^\]]*mpg123[^\]]*\]")
_LOCK = threading.Lock()
_held: tuple[int, IO[bytes]] | None = None  # standard error as it was, and where it goes meanwhile
_inside = 0


def is_mpeg(source: Path | BinaryIO) -> bool:
    """Whether libsndfile would give this to libmpg123: by its name or its first bytes."""
    if isinstance(source, Path):
        if source.suffix.lower() == ".mp3":
            return True
        with source.open("rb") as stream:
            start = stream.read(3)
    else:
        place = source.tell()
        start = source.read(3)
        source.seek(place)
    return start == b"ID3" or (start[:1] == b"\xff" and start[1:2] >= b"\xe0")


@contextlib.contextmanager
def quiet_decoder(mpeg: bool) -> Iterator[None]:
    """Lead what native code writes to standard error elsewhere, if it is an MPEG file that is decoded.

    Several threads may be inside at once.
    """
    global _held, _inside
    if not mpeg:
        yield
        return
    with _LOCK:
        if _inside == 0:
            _held = _lead_away()
        _inside += 1
    try:
        yield
    finally:
        with _LOCK:
            _inside -= 1
            if _inside == 0 and _held is not None:
                _lead_back(*_held)
                _held = None


def _lead_away() -> tuple[int, IO[bytes]] | None:
    """Put a temporary file in the place of standard error; None where there is no standard error."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.flush()
    try:
        before = os.dup(STDERR)
    except OSError:
        return None
    meanwhile = tempfile.TemporaryFile()  # noqa: SIM115 - closed when it is led back
    os.dup2(meanwhile.fileno(), STDERR)
    return before, meanwhile


def _lead_back(before: int, meanwhile: IO[bytes]) -> None:
    os.dup2(before, STDERR)
    os.close(before)
    with meanwhile:
        meanwhile.seek(0)
        others = b"".join(line for line in meanwhile if not _THEIRS.match(line))
    while others:
        others = others[os.write(STDERR, others) :]
