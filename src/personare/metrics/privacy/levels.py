"""Scores put in order once: how many target and nontarget trials lie at each level, ties and pure runs pooled.

All rank metrics (EER, min Cllr, ZEBRA) need only these counts. Equal scores form one level, so a tie favours nobody.
Neighbouring levels that hold one class only may be joined without changing the pool-adjacent-violators (PAV) fit or
the hull of the ROC, whatever weight each trial has; at most 2 min(targets, nontargets) + 1 levels remain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import MetricError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]


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


def levels_of(targets: ArrayLike, nontargets: ArrayLike) -> Levels:
    """Sort the scores, pool the ties, join the pure runs.

    >>> found = levels_of([2, 3, 3, 5], [1, 1, 3])
    >>> found.upper.tolist(), found.targets.tolist(), found.nontargets.tolist()
    ([1.0, 2.0, 3.0, 5.0], [0, 1, 2, 1], [2, 0, 1, 0])
    """
    mine, others = np.sort(checked(targets, "target")), np.sort(checked(nontargets, "nontarget"))
    swapped = len(others) < len(mine)
    few, many = (others, mine) if swapped else (mine, others)
    upper, few_counts, many_counts = _pooled(few, many)
    pair = (many_counts, few_counts) if swapped else (few_counts, many_counts)
    return _joined(Levels(upper, *pair))


def _pooled(few: Any, many: Any) -> tuple[Any, Counts, Counts]:
    """Count both classes at each distinct score of the rarer class and in each gap between two of them."""
    ends = np.append(np.flatnonzero(few[1:] != few[:-1]), len(few) - 1)
    distinct = few[ends]
    below = np.searchsorted(many, distinct, side="left")
    up_to = np.searchsorted(many, distinct, side="right")
    k = len(distinct)
    upper = np.empty(2 * k + 1, dtype=np.result_type(few, many))
    few_counts, many_counts = np.zeros(2 * k + 1, dtype=np.int64), np.zeros(2 * k + 1, dtype=np.int64)
    few_counts[1::2] = np.diff(ends, prepend=-1)
    edges = np.append(0, up_to)
    many_counts[0::2] = np.append(below, len(many)) - edges
    many_counts[1::2] = up_to - below
    upper[1::2] = distinct
    upper[0::2] = many[np.maximum(np.append(below, len(many)) - 1, 0)]
    return upper, few_counts, many_counts


def _joined(levels: Levels) -> Levels:
    """Drop empty levels, then join neighbours that hold only the same class."""
    there = (levels.targets + levels.nontargets) > 0
    t, n, upper = levels.targets[there], levels.nontargets[there], levels.upper[there]
    kind = 2 * (t > 0) + (n > 0)
    starts = np.append(True, (kind[1:] != kind[:-1]) | (kind[1:] == 3))
    first = np.flatnonzero(starts)
    last = np.append(first[1:], len(t)) - 1
    return Levels(upper[last], np.add.reduceat(t, first), np.add.reduceat(n, first))
