"""Nontargets above each test, counted part by part of the gallery by any engine: whole numbers that add up exactly.

A gallery that lies in a file (.npy) is not sent to workers: each maps its own rows of it. One in memory is sent part by
part. The sum is the count of one process, whatever the parts and whoever counts them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import MetricError
from personare.engine import Engine
from personare.metrics.privacy.nontargets_above import GalleryTests, gallery_parts, tests_against
from personare.metrics.privacy.vectors import checked_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.core.tables import Embeddings

PART_ROWS = 16_384


@dataclass(frozen=True)
class MappedRows:
    """Where the rows of a table lie in a file: its path, the first byte, what a number is, and the shape."""

    path: str
    offset: int
    dtype: str
    shape: tuple[int, ...]

    def rows(self, first: int, last: int) -> NDArray[Any]:
        """Map them."""
        table = np.memmap(self.path, dtype=self.dtype, mode="r", offset=self.offset, shape=self.shape)
        return np.asarray(table[first:last])


def mapped_rows(table: NDArray[Any]) -> MappedRows | None:
    """Tell where a table that is mapped from a file lies in it; None where it is in memory, or only a part of it."""
    base: Any = table if isinstance(table, np.memmap) else table.base
    whole = isinstance(base, np.memmap) and base.shape == table.shape and base.dtype == table.dtype
    if not whole or base.filename is None or not base.flags.c_contiguous or base.ctypes.data != table.ctypes.data:
        return None
    return MappedRows(str(base.filename), int(base.offset), base.dtype.str, tuple(base.shape))


@dataclass(frozen=True, eq=False)
class GalleryPart:
    """Some rows of the gallery: from ``first`` to ``last``; ``vectors`` where they are not read from a file."""

    first: int
    last: int
    vectors: NDArray[np.floating] | None = None


@dataclass(frozen=True, eq=False)
class CountPart:
    """Compare all tests with one part of the gallery, in any process: counts [t]."""

    tests: GalleryTests
    mapped: MappedRows | None

    def __call__(self, part: GalleryPart) -> NDArray[np.int64]:
        """Count."""
        if self.mapped is not None:
            return self.tests.above_in(self.mapped.rows(part.first, part.last), first=part.first)
        assert part.vectors is not None
        return self.tests.above_in(part.vectors, first=part.first)


def nontargets_by_engine(tests: Embeddings, gallery: Embeddings, *, engine: Engine) -> NDArray[np.int64]:
    """Count for each test the enrolled nontargets that score at least as high as its own speaker [t]."""
    enroll = checked_vectors(gallery.vectors, of="enrolment")
    against = tests_against(tests.vectors, np.array(tests.speakers), enroll, np.array(gallery.speakers))
    mapped = mapped_rows(enroll)
    counts = np.zeros(len(tests.ids), dtype=np.int64)
    for result in engine.map(CountPart(against, mapped), _parts(enroll, sent=mapped is None), ordered=False):
        if result.value is None:
            rows = f"rows {result.item.first + 1} to {result.item.last}"
            raise MetricError(f"{rows} of the gallery could not be compared ({result.error})")
        counts += result.value
    return counts


def _parts(enroll: NDArray[np.floating], *, sent: bool) -> Iterator[GalleryPart]:
    for first, last in gallery_parts(len(enroll), rows=PART_ROWS):
        yield GalleryPart(first, last, enroll[first:last] if sent else None)
