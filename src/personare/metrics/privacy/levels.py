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

PIECE = 1 << 15


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
    t, n = np.sort(checked(targets, "target")), np.sort(checked(nontargets, "nontarget"))
    # Merge piece by piece: small pieces stay in the processor's cache and need no memory worth naming.
    pivots = np.unique(np.concatenate([t[PIECE::PIECE], n[PIECE::PIECE]]))
    t_edges, n_edges = (np.concatenate([[0], np.searchsorted(s, pivots), [len(s)]]) for s in (t, n))
    pieces: list[list[Any]] = []
    for i in range(len(pivots) + 1):
        mine, others = t[t_edges[i] : t_edges[i + 1]], n[n_edges[i] : n_edges[i + 1]]
        if len(mine) or len(others):
            _append(pieces, _merged(mine, others))
    return Levels(*(np.concatenate(column) for column in zip(*pieces, strict=True)))


def _merged(mine: Any, others: Any) -> list[Any]:
    """Merge two sorted lists into levels: highest score, targets and nontargets of each."""
    scores = np.concatenate([mine, others])
    order = np.argsort(scores, kind="stable")  # two sorted runs: a merge; at equal scores targets come first
    scores, is_target = scores[order], order < len(mine)
    new_class, new_score = is_target[1:] != is_target[:-1], scores[1:] != scores[:-1]
    starts = np.append(True, new_class & new_score)
    tied = np.flatnonzero(new_class & ~new_score)
    if len(tied):  # a score that both classes share is a level of its own
        scores_start = np.concatenate([[0], np.flatnonzero(new_score) + 1, [len(scores)]])
        place = np.searchsorted(scores_start, tied, side="right")
        ends = scores_start[place]
        starts[scores_start[place - 1]] = True
        starts[ends[ends < len(scores)]] = True
    first = np.flatnonzero(starts)
    after = np.append(first[1:], len(scores))
    targets = np.add.reduceat(is_target, first, dtype=np.int64)
    return [scores[after - 1], targets, after - first - targets]


def _append(pieces: list[list[Any]], piece: list[Any]) -> None:
    """Add a piece; a pure run that goes on across the border stays one level."""
    if pieces:
        last = pieces[-1]
        if all((last[c][-1] == 0) == (piece[c][0] == 0) for c in (1, 2)) and not (piece[1][0] and piece[2][0]):
            piece[1][0] += last[1][-1]
            piece[2][0] += last[2][-1]
            pieces[-1] = [column[:-1] for column in last]
    pieces.append(piece)
