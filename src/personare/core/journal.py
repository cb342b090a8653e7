"""A journal: what was done, one line after the other, each with its own checksum; only ever added to.

A line that was cut by a crash, or changed since, does not fit its checksum and says nothing. Several processes may add
to one journal: every batch of lines is one write at the end of the file.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from personare.core.errors import OutputError
from personare.core.files import append

_CHECK_BYTES = 8
_BATCH_LINES, _BATCH_S = 64, 1.0


@dataclass
class JournalWriter:
    """Adds lines to the end of a journal, in batches that are on the disk when ``flush`` returns.

    A line that is lost with its batch costs only the work it tells of.
    """

    path: Path
    _waiting: list[bytes] = field(default_factory=list)
    _flushed_s: float = field(default_factory=time.monotonic)

    def add(self, values: Sequence[str | float | None]) -> None:
        """Add a line; it is written with the next batch, after a second at the latest where lines keep coming."""
        self._waiting.append(encode_line(values))
        if len(self._waiting) >= _BATCH_LINES or time.monotonic() - self._flushed_s > _BATCH_S:
            self.flush()

    def flush(self) -> None:
        """Force what was added to the disk; a line that a crash has cut is ended first."""
        if self._waiting:
            append(self.path, (b"" if _is_ended(self.path) else b"\n") + b"".join(self._waiting))
            self._waiting.clear()
        self._flushed_s = time.monotonic()


def encode_line(values: Sequence[str | float | None]) -> bytes:
    r"""Write values as one line: a checksum, then a JSON list.

    >>> encode_line(["anna-1", 0.5, None])
    b'339741897fd34cc1 ["anna-1",0.5,null]\n'
    """
    content = json.dumps(list(values), separators=(",", ":")).encode()
    return _check(content) + b" " + content + b"\n"


def read_journal(path: Path) -> Iterator[list[str | float | None]]:
    """Give the values of every whole line, in order; nothing where there is no journal."""
    try:
        with path.open("rb") as stream:
            for line in stream:
                values = decode_line(line)
                if values is not None:
                    yield values
    except FileNotFoundError:
        return
    except OSError as error:
        raise OutputError(f"{path}: cannot be read ({error.strerror})") from None


def decode_line(line: bytes) -> list[str | float | None] | None:
    """Give the values of a line; None where it does not fit its checksum."""
    check, space, content = line.rstrip(b"\n").partition(b" ")
    if not space or not line.endswith(b"\n") or check != _check(content):
        return None
    values = json.loads(content)
    return values if isinstance(values, list) else None


def _check(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_CHECK_BYTES).hexdigest().encode()


def _is_ended(path: Path) -> bool:
    """Whether the last line of a file is ended, or there is none."""
    try:
        with path.open("rb") as stream:
            if not stream.seek(0, 2):
                return True
            stream.seek(-1, 2)
            return stream.read(1) == b"\n"
    except OSError:
        return True
