"""The highest scores of some voices among everybody, without a table of all scores: compared and picked block by block.

A block of conversations is compared with all predicates while it lies in the processor's cache; of its scores only
those above a bound are kept. The bound is guessed from every 64th conversation. It changes how long that takes, never
the result: where fewer than needed are above it, everybody is compared again without a bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from personare.core.vectors import PickedRows, unit_rows
from personare.metrics.privacy.isolation import COLUMN_BITS, sort_keys

if TYPE_CHECKING:
    from numpy.typing import NDArray

CONVERSATIONS_AT_ONCE = 1024  # with the scores of 500 predicates they stay in the processor's cache
SAMPLE = 64
KEPT_AT_ONCE = 8_000_000  # scores above their bounds that are held before only the highest are kept: 96 MB
SINGLE_SCALE = 1e15  # vectors of a length beyond this, or below one over it, are scaled in double precision


@dataclass(frozen=True, eq=False)
class UnitRows:
    """Vectors [c, d] as given, or rows of a table that is not copied; they are scaled to length 1 when asked for."""

    vectors: NDArray[np.floating] | PickedRows

    def __len__(self) -> int:
        return len(self.vectors)

    def __getitem__(self, which: slice | NDArray[np.intp]) -> NDArray[np.float32]:
        some = self.vectors[which]
        if some.dtype == np.float32:
            lengths = np.sqrt(np.einsum("ij,ij->i", some, some, dtype=np.float64))
            if len(lengths) and 1 / SINGLE_SCALE < lengths.min() <= lengths.max() < SINGLE_SCALE:
                unit: NDArray[np.float32] = some * (1 / lengths).astype(np.float32)[:, None]
                return unit
        return unit_rows(some, dtype=np.float32)

    def compare(self, predicates: NDArray[np.float32], which: NDArray[np.intp]) -> NDArray[np.float32]:
        """Give the cosines of predicates of length 1 [k, d] with some of these rows [k, len(which)]."""
        scores = np.empty((len(predicates), len(which)), dtype=np.float32)
        for start in range(0, len(which), CONVERSATIONS_AT_ONCE):
            part = slice(start, start + CONVERSATIONS_AT_ONCE)
            scores[:, part] = predicates @ self[which[part]].T
        return scores


@dataclass(frozen=True, eq=False)
class Highest:
    """Columns and scores of the highest of each predicate, falling [k, t]; a column of -1 is no conversation."""

    columns: NDArray[np.intp]
    scores: NDArray[np.floating]

    def only(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> Highest:
        """Keep some predicates."""
        return Highest(self.columns[rows], self.scores[rows])


def highest_scores(predicates: NDArray[np.float32], gallery: UnitRows, many: int) -> Highest:
    """Find the ``many`` highest cosines of each predicate of length 1 [k, d] among all rows of a gallery.

    >>> voices = np.array([[1, 0], [0, 1], [1, 1]], dtype=np.float32)
    >>> highest_scores(voices[:1], UnitRows(voices), 2).columns
    array([[0, 2]])
    """
    best = Highest(*(np.empty((len(predicates), many), dtype=kind) for kind in (np.intp, np.float32)))
    found = _above(predicates, gallery, _guess(predicates, gallery, many), many)
    short = np.bincount(found.predicate, minlength=len(predicates)) < many
    found.fill(best)
    if short.any():
        again = best.only(short)
        _above(predicates[short], gallery, np.full(len(again.columns), -np.inf, np.float32), many).fill(again)
        best.columns[short], best.scores[short] = again.columns, again.scores
    return best


def _guess(predicates: NDArray[np.float32], gallery: UnitRows, many: int) -> NDArray[np.float32]:
    """Guess for each predicate a bound that about twice as many scores exceed, from a sample of the gallery."""
    sample = np.arange(0, len(gallery), SAMPLE)
    depth = 2 * many // SAMPLE + 5
    if depth >= len(sample):
        return np.full(len(predicates), -np.inf, dtype=np.float32)
    scores = gallery.compare(predicates, sample)
    bound: NDArray[np.float32] = np.partition(scores, len(sample) - depth, axis=1)[:, len(sample) - depth]
    return bound


@dataclass(frozen=True, eq=False)
class _Kept:
    """Scores that were kept: predicate (a number below 2^15), column and score of each."""

    predicate: NDArray[np.int16]
    column: NDArray[np.int64]
    score: NDArray[np.float32]

    def highest(self, many: int) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """Give the places of the ``many`` highest of each predicate, falling."""
        order = np.argsort(self.predicate, kind="stable")  # the columns of each predicate stay in their order
        names, first = np.unique(self.predicate[order], return_index=True)
        for predicate, some in zip(names.tolist(), np.split(order, first[1:]), strict=True):
            keys = sort_keys(self.score[some], np.arange(len(some)))
            keys.sort()
            yield predicate, some[keys[:many] & COLUMN_BITS]

    def fill(self, best: Highest) -> None:
        """Write the highest of each predicate into its row."""
        for predicate, places in self.highest(best.columns.shape[1]):
            best.columns[predicate, : len(places)] = self.column[places]
            best.scores[predicate, : len(places)] = self.score[places]

    def pruned(self, many: int, bound: NDArray[np.float32]) -> _Kept:
        """Keep the ``many`` highest of each predicate, and raise its bound to what a later score must reach."""
        kept = []
        for predicate, places in self.highest(many):
            if len(places) == many:
                bound[predicate] = np.nextafter(self.score[places[-1]], np.float32(np.inf))
            kept.append(np.sort(places))
        some = np.concatenate(kept)
        return _Kept(self.predicate[some], self.column[some], self.score[some])


def _above(predicates: NDArray[np.float32], gallery: UnitRows, bound: NDArray[np.float32], many: int) -> _Kept:
    """Compare with everybody, and keep what reaches the bound; where that is too much, the ``many`` highest of it."""
    bound = bound.copy()
    kept: list[_Kept] = []
    held = 0
    width = min(CONVERSATIONS_AT_ONCE, len(gallery))
    block = np.empty((len(predicates), width), dtype=np.float32)  # written again and again: it stays in the cache
    above = np.empty(block.shape, dtype=np.bool_)
    for start in range(0, len(gallery), width):
        some = gallery[start : start + width]
        whole = len(some) == width
        scores = np.matmul(predicates, some.T, out=block if whole else None)
        hits = np.flatnonzero(np.greater_equal(scores, bound[:, None], out=above if whole else None))
        predicate, column = np.divmod(hits.astype(np.int32), np.int32(len(some)))
        kept.append(_Kept(predicate.astype(np.int16), column.astype(np.int64) + start, scores.ravel()[hits]))
        held += len(hits)
        if held > KEPT_AT_ONCE:
            kept = [_joined(kept).pruned(many, bound)]
            held = len(kept[0].column)
    return _joined(kept)


def _joined(parts: list[_Kept]) -> _Kept:
    return _Kept(
        np.concatenate([part.predicate for part in parts]),
        np.concatenate([part.column for part in parts]),
        np.concatenate([part.score for part in parts]),
    )
