"""A corpus some rows at a time: what a job over a million utterances goes through without holding them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from personare.core.tables import Corpus


@dataclass(frozen=True, eq=False)
class CorpusParts:
    """Checked rows of a corpus, in its order, from wherever they lie; ``close`` when they are not needed any more.

    ``read`` (names of columns) gives all rows with these columns, some at a time, as often as it is called.
    """

    columns: tuple[str, ...]
    count: int
    read: Callable[[Sequence[str]], Iterator[pl.DataFrame]]
    close: Callable[[], None] = lambda: None

    def __len__(self) -> int:
        return self.count

    def frames(self, *columns: str) -> Iterator[pl.DataFrame]:
        """Give the rows in their order, some at a time; all columns if none is named."""
        return self.read(columns or self.columns)

    def whole(self) -> Corpus:
        """Give all of it as one table in memory."""
        return Corpus(pl.concat(self.frames()))


def in_parts(corpus: Corpus | CorpusParts) -> CorpusParts:
    """Take a corpus that is in memory for one in parts: it is one part."""
    if isinstance(corpus, CorpusParts):
        return corpus
    frame = corpus.frame
    return CorpusParts(tuple(frame.columns), len(frame), lambda columns: iter([frame.select(columns)]))
