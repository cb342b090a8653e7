"""How many other speakers sound at least as much like a test as its own speaker does: the count behind every rank.

b_i = #{ j != target(i) : s(test_i, enroll_j) >= s(test_i, enroll_target(i)) },  rank_i = 1 + b_i  (ties count against)

The scores are cosines, computed block by block in single precision, so that the full matrix never exists; the few pairs
too close to the target to be ordered there are decided again in double precision. A difference below ``TIE`` is a
tie: equal up to rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import MetricError
from personare.core.vectors import unit_rows
from personare.metrics.privacy.vectors import (
    checked_speakers,
    checked_vectors,
    same_dimension,
    target_columns,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

BLOCK_CELLS = 6_000_000  # 24 MB of scores at a time
ENROLLED_AT_ONCE = 8192  # rows of the gallery that are scaled and compared together: it is never copied as a whole
NEAR = 4e-6  # single precision cosines are wrong by less than this up to thousands of dimensions
TIE = 1e-12
DOUBLE_CELLS = 500_000  # 4 MB of nontargets in double precision at a time


def nontargets_above(
    test_vectors: ArrayLike, test_speakers: ArrayLike, enroll_vectors: ArrayLike, enroll_speakers: ArrayLike
) -> NDArray[np.int64]:
    """Count for each test the enrolled nontargets that score at least as high as its own speaker.

    Parameters
    ----------
    test_vectors, test_speakers : float [t, d] and [t]; a speaker may have several tests.
    enroll_vectors, enroll_speakers : float [n, d] and [n]; one row per speaker.

    >>> nontargets_above([[1, 0.1], [1, 0.9]], ["ann", "bob"], [[1, 0], [0, 1], [1, 1]], ["ann", "bob", "eve"])
    array([0, 2])
    """
    enroll = checked_vectors(enroll_vectors, of="enrolment")
    return tests_against(test_vectors, test_speakers, enroll, enroll_speakers).above_in(enroll)


def tests_against(
    test_vectors: ArrayLike,
    test_speakers: ArrayLike,
    enroll_vectors: NDArray[np.floating],
    enroll_speakers: ArrayLike,
) -> GalleryTests:
    """Check tests and enrolled, and find each test's own speaker: what every part of the gallery is compared with."""
    test = checked_vectors(test_vectors, of="test")
    same_dimension(test, enroll_vectors, names=("test", "enrolment"))
    column = target_columns(
        checked_speakers(test_speakers, rows=len(test), of="test"),
        checked_speakers(enroll_speakers, rows=len(enroll_vectors), of="enrolment"),
    )
    return GalleryTests(test, np.asarray(enroll_vectors[column]), column)


@dataclass(frozen=True, eq=False)
class GalleryTests:
    """Tests that can be compared with any rows of a gallery, also elsewhere: the counts of parts add up exactly.

    Parameters
    ----------
    vectors : [t, d] as given; targets : the enrolled vector of each test's own speaker [t, d].
    column : the row of that speaker in the whole gallery [t].
    """

    vectors: NDArray[np.floating]
    targets: NDArray[np.floating]
    column: NDArray[np.intp]

    def above_in(self, part: NDArray[np.floating], *, first: int = 0) -> NDArray[np.int64]:
        """Count the nontargets [t] among some rows of the gallery, which begin at its row ``first``."""
        unit, own = self._unit, self._own
        counts = np.zeros(len(unit), dtype=np.int64)
        step = max(1, BLOCK_CELLS // ENROLLED_AT_ONCE)
        for begin in range(0, len(part), ENROLLED_AT_ONCE):
            some = part[begin : begin + ENROLLED_AT_ONCE]
            gallery = unit_rows(some, dtype=np.float32).T
            for start in range(0, len(unit), step):
                rows = slice(start, start + step)
                column = self.column[rows] - first - begin
                tests = GalleryTests(self.vectors[rows], self.targets[rows], column)
                counts[rows] += tests._in_block(unit[rows] @ gallery, some, own[rows])
        return counts

    @cached_property
    def _unit(self) -> NDArray[np.float32]:
        """The tests scaled to length 1, once for all parts."""
        return unit_rows(self.vectors, dtype=np.float32)

    @cached_property
    def _own(self) -> NDArray[np.float64]:
        """The cosine of each test with its own speaker, in double precision."""
        own = np.empty(len(self.vectors))
        for start in range(0, len(own), ENROLLED_AT_ONCE):
            rows = slice(start, start + ENROLLED_AT_ONCE)
            own[rows] = np.einsum("ij,ij->i", unit_rows(self.vectors[rows]), unit_rows(self.targets[rows]))
        return own

    def _in_block(
        self, block: NDArray[np.float32], enroll: NDArray[np.floating], own: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Count in a block of scores [tests, rows of enroll]; what is within NEAR of the target is decided again."""
        above, near = (own + NEAR).astype(np.float32), (own - NEAR).astype(np.float32)
        counts: NDArray[np.int64] = np.count_nonzero(block > above[:, None], axis=1).astype(np.int64)
        close = np.count_nonzero(block >= near[:, None], axis=1)
        near_rows: list[NDArray[np.intp]] = []
        near_columns: list[NDArray[np.intp]] = []
        for row in np.flatnonzero(close > counts):
            places = np.flatnonzero((block[row] >= near[row]) & ~(block[row] > above[row]))
            places = places[places != self.column[row]]
            near_rows.append(np.full(len(places), row))
            near_columns.append(places)
        if near_rows and sum(map(len, near_rows)):
            rows, places = np.concatenate(near_rows), np.concatenate(near_columns)
            tests, again = np.unique(rows, return_inverse=True)
            wins = _at_least_as_close(self.vectors[tests], self.targets[tests], enroll, again, places)
            counts += np.bincount(rows[wins], minlength=len(block))
        return counts


def gallery_parts(enrolled: int, *, rows: int) -> Iterator[tuple[int, int]]:
    """Cut a gallery into parts of so many rows: first and last + 1 of each.

    >>> list(gallery_parts(5, rows=2))
    [(0, 2), (2, 4), (4, 5)]
    """
    return ((first, min(first + rows, enrolled)) for first in range(0, enrolled, rows))


def _at_least_as_close(
    test: NDArray[np.floating],
    targets: NDArray[np.floating],
    enroll: NDArray[np.floating],
    rows: NDArray[np.intp],
    columns: NDArray[np.intp],
) -> NDArray[np.bool_]:
    """Decide in double precision whether nontarget ``columns[k]`` reaches the target's score of test ``rows[k]``."""
    unit_test = unit_rows(test)
    target = np.einsum("ij,ij->i", unit_test, unit_rows(targets))
    wins = np.empty(len(rows), dtype=np.bool_)
    order = np.argsort(columns, kind="stable")  # pairs of one nontarget side by side: each is normalised once
    nontargets, first = np.unique(columns[order], return_index=True)
    ends = np.append(first, len(order))
    step = max(1, DOUBLE_CELLS // enroll.shape[1])
    for start in range(0, len(nontargets), step):
        part = nontargets[start : start + step]
        scores = unit_test @ unit_rows(enroll[part]).T
        pairs = order[ends[start] : ends[start + len(part)]]
        place = np.searchsorted(part, columns[pairs])
        wins[pairs] = scores[rows[pairs], place] >= target[rows[pairs]] - TIE
    return wins


def nontargets_above_in_scores(scores: ArrayLike, target_column: ArrayLike) -> NDArray[np.int64]:
    """Count the same in a given score matrix [tests, enrolled]; any score will do, higher means more alike.

    >>> nontargets_above_in_scores([[0.9, 0.5, 0.9], [0.1, 0.7, 0.3]], [0, 1])
    array([1, 0])
    """
    matrix = np.asarray(scores)
    column = np.asarray(target_column)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise MetricError(f"scores must form a table [tests, enrolled]; this one has shape {list(matrix.shape)}")
    if np.isnan(matrix).any():
        first = int(np.isnan(matrix).any(axis=1).argmax())
        raise MetricError(f"{np.isnan(matrix).sum()} scores are NaN (first: test {first}); a score is a number")
    if column.shape != (len(matrix),) or column.dtype.kind not in "iu":
        raise MetricError(f"{len(matrix)} tests need {len(matrix)} target columns; got shape {list(column.shape)}")
    if column.min() < 0 or column.max() >= matrix.shape[1]:
        raise MetricError(f"a target column must lie in 0..{matrix.shape[1] - 1}; got {column.min()}..{column.max()}")
    own = matrix[np.arange(len(matrix)), column]
    tie = TIE * float(np.abs(matrix[np.isfinite(matrix)]).max(initial=1.0))
    counts: NDArray[np.int64] = np.count_nonzero(matrix >= own[:, None] - tie, axis=1).astype(np.int64) - 1
    return counts
