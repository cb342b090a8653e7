"""Scores put in order once: how many target and nontarget trials lie at each level, ties and pure runs pooled.

All rank metrics (EER, min Cllr, ZEBRA) need only these counts. Equal scores form one level, so a tie favours nobody.
Neighbouring levels that hold one class only may be joined without changing the pool-adjacent-violators (PAV) fit or
the hull of the ROC, whatever weight each trial has; at most 2 min(targets, nontargets) + 1 levels remain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import MetricError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]


TIE = 1e-12


@dataclass(frozen=True, eq=False)
class Levels:
    """Trials per level, from the lowest scores to the highest.

    Parameters
    ----------
    upper : highest score of the level, [k].
    targets, nontargets : how many trials of each class the level holds, [k].
    """

    upper: NDArray[np.floating[Any]]
    targets: Counts
    nontargets: Counts

    def find(self, scores: NDArray[np.floating[Any]]) -> NDArray[np.intp]:
        """Tell in which level each of these scores lies."""
        return np.searchsorted(self.upper, scores)


def checked(scores: ArrayLike, kind: str) -> NDArray[np.floating[Any]]:
    """Give the scores as a float array, or say in one line why they are none."""
    array = np.asarray(scores)
    if array.ndim != 1:
        raise MetricError(f"{kind} scores must be one list of numbers, not an array of shape {list(array.shape)}")
    if not len(array):
        raise MetricError(f"there are no {kind} scores; detection needs trials of both classes")
    if array.dtype not in (np.float32, np.float64):
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            raise MetricError(f"{kind} scores must be numbers, not {array.dtype}") from None
    if not np.isfinite(array).all():
        place = int(np.argmin(np.isfinite(array)))
        raise MetricError(f"{kind} scores must be finite; number {place + 1} is {array[place]}")
    return array


def pool_ties(scores: ArrayLike) -> NDArray[np.float64]:
    """Make scores equal that differ by rounding only: neighbours nearer than 1e-12 (of the largest) become one.

    >>> pool_ties([0.1 + 0.2, 0.3, 0.4]).tolist()
    [0.3, 0.3, 0.4]
    """
    array = np.asarray(scores, dtype=np.float64)
    flat = array.ravel()
    if not len(flat):
        return array
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    first = np.append(True, np.diff(ordered) > TIE * max(1.0, float(np.abs(ordered[[0, -1]]).max())))
    pooled = np.empty_like(flat)
    pooled[order] = ordered[first][np.cumsum(first) - 1]
    return pooled.reshape(array.shape)


def levels_of(targets: ArrayLike, nontargets: ArrayLike) -> Levels:
    """Sort the scores, pool the ties, join the pure runs.

    >>> levels = levels_of([2, 3, 3, 5], [1, 1, 3])
    >>> levels.upper.tolist(), levels.targets.tolist(), levels.nontargets.tolist()
    ([1.0, 2.0, 3.0, 5.0], [0, 1, 2, 1], [2, 0, 1, 0])
    """
    t, n = np.sort(checked(targets, "target")), np.sort(checked(nontargets, "nontarget"))
    if len(t) <= len(n):
        return Levels(*_merged(t, n))
    upper, of_nontargets, of_targets = _merged(n, t)
    return Levels(upper, of_targets, of_nontargets)


def _merged(few: Any, many: Any) -> tuple[Any, Counts, Counts]:
    """Merge two sorted lists into levels, looking up only the shorter one: highest score, counts of few and of many."""
    last = np.append(np.flatnonzero(few[1:] != few[:-1]), len(few) - 1)
    scores, copies = few[last], np.diff(last, prepend=-1)
    below = np.searchsorted(many, scores)
    tied = np.flatnonzero(many[np.minimum(below, len(many) - 1)] == scores)
    up_to = below.copy()
    up_to[tied] = np.searchsorted(many, scores[tied], side="right")
    # A run of the shorter list ends where the other list lies between, and before and after a shared score.
    starts = np.append(True, below[1:] != up_to[:-1])
    starts[tied] = True
    starts[tied[tied + 1 < len(scores)] + 1] = True
    first = np.flatnonzero(starts)
    end = np.append(first[1:], len(scores)) - 1
    gap_end = np.append(below[first], len(many))
    gaps = gap_end - np.append(0, up_to[end])
    # Gap, run, gap, run, ..., gap; empty gaps are left out.
    upper = _interleaved(many[np.maximum(gap_end - 1, 0)], scores[end])
    of_few = _interleaved(np.zeros_like(gaps), np.add.reduceat(copies, first))
    of_many = _interleaved(gaps, up_to[end] - below[end])
    there = (of_few > 0) | (of_many > 0)
    return upper[there], of_few[there], of_many[there]


def _interleaved(gaps: Any, runs: Any) -> Any:
    woven = np.empty(len(gaps) + len(runs), dtype=np.result_type(gaps, runs))
    woven[0::2], woven[1::2] = gaps, runs
    return woven


def joined_runs(hits: Sequence[NDArray[Any]], sizes: Counts) -> tuple[Floats, Floats]:
    """Join the levels between two that hold targets, for each deal of targets: [deals, runs].

    Every second run is such a level, and the others, which may be empty, lie between; all are counts.
    """
    table = np.stack(hits)
    row, place = np.nonzero(table)
    number = np.bincount(row, minlength=len(hits))
    at = np.arange(len(row)) - np.repeat(np.cumsum(number) - number, number)
    most, counted = int(number.max()), np.append(0, np.cumsum(sizes))
    level = np.full((len(hits), most), len(sizes))  # beyond the last one
    level[row, at] = place
    before, after = counted[level], counted[np.minimum(level + 1, len(sizes))]
    targets = np.zeros((len(hits), 2 * most + 1))
    nontargets = np.zeros_like(targets)
    targets[row, 2 * at + 1] = table[row, place]
    nontargets[:, 1::2] = after - before - targets[:, 1::2]
    nontargets[:, 0:-1:2] = before - np.concatenate([np.zeros((len(hits), 1)), after[:, :-1]], axis=1)
    nontargets[:, -1] = counted[-1] - after[:, -1]
    return targets, nontargets
