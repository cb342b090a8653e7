"""Large galleries in parts, by any engine: linkability by parts of the gallery, Singling Out by parts of the voices.

A gallery that lies in a file (.npy) is not sent to workers: each maps its own rows of it; one in memory is sent.
Nontargets above each test are whole numbers that add up, outcomes of Singling Out are yes or no for each predicate:
both are those of one process, whatever the parts and whoever counts them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import MetricError
from personare.core.vectors import PickedRows
from personare.engine import Engine, Serial
from personare.metrics.privacy.gallery import Gallery, GalleryDraw, isolation_in_galleries
from personare.metrics.privacy.nontargets_above import GalleryTests, gallery_parts, tests_against
from personare.metrics.privacy.vectors import checked_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.core.tables import Embeddings

PART_ROWS = 16_384
PART_PREDICATES = 62


@dataclass(frozen=True)
class MappedRows:
    """Where the rows of a table lie in a file: its path, the first byte, what a number is, and the shape."""

    path: str
    offset: int
    dtype: str
    shape: tuple[int, ...]

    def rows(self, first: int, last: int) -> NDArray[Any]:
        """Map some of them."""
        return np.asarray(self.whole()[first:last])

    def whole(self) -> NDArray[Any]:
        """Map them all."""
        return np.memmap(self.path, dtype=self.dtype, mode="r", offset=self.offset, shape=self.shape)


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


@dataclass(frozen=True)
class PredicatePart:
    """Some predicates: from ``first`` to ``last``."""

    first: int
    last: int


@dataclass(frozen=True, eq=False)
class IsolatePart:
    """Run the protocol of Singling Out for some predicates, in any process: outcomes bool [k, sizes, draws, folds].

    Where the table of the gallery lies in a file it is ``mapped``, and not sent.
    """

    enroll: NDArray[np.floating]
    gallery: Gallery
    mapped: MappedRows | None
    draws: tuple[GalleryDraw, ...]
    own: NDArray[np.intp] | None
    rank: NDArray[np.intp]
    sizes: tuple[int, ...]

    def __call__(self, part: PredicatePart) -> NDArray[np.bool_]:
        """Compare."""
        rows, gallery = slice(part.first, part.last), self.gallery
        if self.mapped is not None:
            assert isinstance(gallery.vectors, PickedRows)
            gallery = replace(gallery, vectors=PickedRows(self.mapped.whole(), gallery.vectors.rows))
        own = None if self.own is None else self.own[rows]
        return isolation_in_galleries(
            self.enroll[rows], gallery, self.draws, own=own, rank=self.rank[rows], sizes=self.sizes
        )


@dataclass(frozen=True)
class IsolateByEngine:
    """Singling Out by parts of the predicates: an ``Isolate`` for ``single_out_conversations``."""

    engine: Engine

    def __call__(
        self,
        enroll: NDArray[np.floating],
        gallery: Gallery,
        draws: Sequence[GalleryDraw],
        *,
        own: NDArray[np.intp] | None,
        rank: NDArray[np.intp],
        sizes: Sequence[int],
    ) -> NDArray[np.bool_]:
        """Give the outcomes of all predicates, in their order."""
        if isinstance(self.engine, Serial):
            return isolation_in_galleries(enroll, gallery, draws, own=own, rank=rank, sizes=sizes)
        mapped = mapped_rows(gallery.vectors.table) if isinstance(gallery.vectors, PickedRows) else None
        if mapped is not None:
            assert isinstance(gallery.vectors, PickedRows)
            gallery = replace(gallery, vectors=PickedRows(np.empty((0, mapped.shape[1])), gallery.vectors.rows))
        work = IsolatePart(enroll, gallery, mapped, tuple(draws), own, rank, tuple(sizes))
        parts = [PredicatePart(first, last) for first, last in gallery_parts(len(enroll), rows=PART_PREDICATES)]
        outcomes = []
        for result in self.engine.map(work, parts):
            if result.value is None:
                voices = f"voices {result.item.first + 1} to {result.item.last}"
                raise MetricError(f"{voices} of the enrolled could not be compared ({result.error})")
            outcomes.append(result.value)
        return np.concatenate(outcomes)
