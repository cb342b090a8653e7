"""Long tables, some rows at a time: kept in a temporary file, and rows of one name brought together.

A question about all rows of an utterance, a speaker or a file needs those rows at the same time, and no others. So rows
are spread over a temporary file by the hash of the name, and read again one bucket after another.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO

import polars as pl

from personare.core.errors import OutputError

ROWS = 16_384  # rows that are in memory at a time
_SPREAD = 64  # buckets of one file; larger ones are spread again
_DEEPEST = 8
_BUCKET = "\tbucket"


@dataclass(frozen=True)
class _Piece:
    """Where a frame lies in the file, or the frame itself; ``label`` is its bucket."""

    label: int
    begin: int
    size: int
    frame: pl.DataFrame | None = None


@dataclass(eq=False)
class Pieces:
    """Frames in the order they came; the first stays in memory, the others go to a temporary file.

    The file has no name and only its owner can read it; the system removes it when the process ends, in whatever way.
    """

    _pieces: list[_Piece] = field(default_factory=list)
    _file: IO[bytes] | None = None

    def add(self, frame: pl.DataFrame, *, label: int = 0) -> None:
        """Keep one more frame, in the bucket ``label``."""
        if not self._pieces:
            self._pieces.append(_Piece(label, 0, 0, frame))
            return
        content = io.BytesIO()
        frame.write_ipc(content, compression="lz4")
        with _told():
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="personare-")  # noqa: SIM115 - closed by close
            begin = self._file.seek(0, io.SEEK_END)
            self._file.write(content.getbuffer())
            self._file.flush()
        self._pieces.append(_Piece(label, begin, content.getbuffer().nbytes))

    def frames(self, columns: Sequence[str] | None = None, *, label: int = 0) -> Iterator[pl.DataFrame]:
        """Give the frames of a bucket one by one, or only some of their columns."""
        for piece in self._pieces:
            if piece.label == label:
                yield self._read(piece, columns)

    def _read(self, piece: _Piece, columns: Sequence[str] | None) -> pl.DataFrame:
        if piece.frame is not None or self._file is None:
            whole = piece.frame if piece.frame is not None else pl.DataFrame()
            return whole if columns is None else whole.select(columns)
        with _told():
            self._file.seek(piece.begin)
            content = self._file.read(piece.size)
        names = None if columns is None else list(columns)
        frame = pl.read_ipc(content, columns=names)
        return frame if names is None else frame.select(names)

    def close(self) -> None:
        """Forget all frames."""
        self._pieces.clear()
        if self._file is not None:
            self._file.close()


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Say in one line what the system refuses; a full disk, say."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"temporary files: cannot be written ({error.strerror or error})") from error


def kept(frames: Iterable[pl.DataFrame]) -> Pieces:
    """Keep frames that come once, to read them again; whoever calls it closes it."""
    pieces = Pieces()
    try:
        for frame in frames:
            pieces.add(frame)
    except BaseException:
        pieces.close()
        raise
    return pieces


def numbered(frames: Iterable[pl.DataFrame], name: str) -> Iterator[pl.DataFrame]:
    """Add the number of each row in the whole table as the column ``name``."""
    count = 0
    for frame in frames:
        yield frame.with_row_index(name, offset=count)
        count += len(frame)


def grouped(frames: Iterable[pl.DataFrame], by: str, *, _level: int = 0) -> Iterator[pl.DataFrame]:
    """Give all rows, those with the same value of the column ``by`` in one frame, in the order they came.

    What is one frame is given as it is. Others have ``ROWS`` rows at most, but where a single value has more.

    >>> table = pl.DataFrame({"who": ["a", "b", "a"], "n": [1, 2, 3]})
    >>> [frame.filter(who="a")["n"].to_list() for frame in grouped([table[:2], table[2:]], "who")]
    [[1, 3]]
    """
    coming = joined(frames)
    first, second = next(coming, None), next(coming, None)
    if first is None or second is None:
        yield from [] if first is None else [first]
        return
    with contextlib.closing(Pieces()) as pieces:
        sizes: Counter[int] = Counter()
        for frame in itertools.chain((first, second), coming):
            place = frame.with_columns((pl.col(by).hash(_level) % _SPREAD).alias(_BUCKET))
            for part in place.partition_by(_BUCKET, maintain_order=True):
                bucket = int(part[_BUCKET][0])
                pieces.add(part.drop(_BUCKET), label=bucket)
                sizes[bucket] += len(part)
        first = second = None
        for bucket, size in sizes.items():
            one = pieces.frames(label=bucket)
            if size <= ROWS or len(sizes) == 1 or _level == _DEEPEST:
                yield pl.concat(one)
            else:
                yield from grouped(one, by, _level=_level + 1)


def joined(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Join short frames into longer ones of ``ROWS`` rows at most; a longer one stays as it is."""
    waiting: list[pl.DataFrame] = []
    rows = 0
    for frame in frames:
        if waiting and rows + len(frame) > ROWS:
            yield pl.concat(waiting)
            waiting, rows = [], 0
        waiting.append(frame)
        rows += len(frame)
    if waiting:
        yield pl.concat(waiting)
