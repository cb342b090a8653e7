"""The best the attacker could make of a ranking: pool-adjacent-violators (PAV) blocks, the hull of the ROC.

PAV gives each score the posterior that fits the labels best among all rising maps; its blocks are the edges of the
convex hull of the ROC curve. Every threshold-free number (ROCCH-EER, min Cllr, D_ECE) follows from the two counts of
each block.                                                                        [brummer2009pav]

Deviations: ties are pooled first. The public reference sorts nontargets before targets, so each tie helps the attacker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from personare.metrics.privacy.levels import Levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Weights = NDArray[np.int64] | NDArray[np.float64]


def pav_starts(targets: Weights, nontargets: Weights) -> NDArray[np.intp]:
    """Tell where each PAV block begins in levels of these (positive) weights, [blocks].

    >>> pav_starts(np.array([0, 1, 0, 1]), np.array([2, 0, 1, 0])).tolist()
    [0, 1, 3]
    """
    from scipy.optimize import isotonic_regression

    weight = (targets + nontargets).astype(np.float64)
    share = targets / weight
    if (share[1:] > share[:-1]).all():  # already PAV blocks: nothing to pool
        return np.arange(len(share))
    blocks: NDArray[np.intp] = isotonic_regression(share, weights=weight).blocks
    return blocks[:-1]


def pav_counts(targets: Weights, nontargets: Weights) -> tuple[Any, Any]:
    """Count target and nontarget weight in each PAV block, lowest scores first; levels without weight are skipped.

    Of a table [rows, levels] every row is pooled by itself; rows with fewer blocks end in blocks without weight.

    >>> [side.tolist() for side in pav_counts(np.array([[0, 1, 0, 1], [1, 0, 0, 0]]), np.array([[2, 0, 1, 0]] * 2))]
    [[[0, 1, 1], [1, 0, 0]], [[2, 1, 0], [3, 0, 0]]]
    """
    if targets.ndim == 2:
        t, n, _ = pav_rows(targets, nontargets, nontargets)
        return t, n
    there = (targets + nontargets) > 0
    t, n = targets[there], nontargets[there]
    starts = pav_starts(t, n)
    return np.add.reduceat(t, starts), np.add.reduceat(n, starts)


def pav_rows(targets: Weights, nontargets: Weights, carried: Weights) -> tuple[Any, Any, Any]:
    """Sum target, nontarget and carried weight over the PAV blocks of each row, [rows, levels] -> [rows, blocks]."""
    there = (targets + nontargets) > 0
    row = np.nonzero(there)[0]
    flat = [side[there] for side in (targets, nontargets, carried)]
    starts = row_starts(flat[0], flat[1], row)
    row = row[starts]
    sizes = np.bincount(row, minlength=len(targets))
    place = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    tables = [np.zeros((len(targets), sizes.max(initial=1)), dtype=side.dtype) for side in flat]
    for table, side in zip(tables, flat, strict=True):
        table[row, place] = np.add.reduceat(side, starts)
    return tables[0], tables[1], tables[2]


def row_starts(t: Weights, n: Weights, row: NDArray[np.intp]) -> NDArray[np.intp]:
    """Tell where PAV blocks begin in levels of several rows, one row behind the other; ``row`` numbers them, [k] each.

    All rows are fitted at once: each is lifted above the row before, so that no block spans two.
    """
    from scipy.optimize import isotonic_regression

    starts = np.arange(len(row))
    if _falls(t, n, row).any():
        weight = (t + n).astype(np.float64)
        starts = isotonic_regression(t / weight + 2.0 * row, weights=weight).blocks[:-1]
    while True:  # equal shares that rounding kept apart
        falls = _falls(np.add.reduceat(t, starts), np.add.reduceat(n, starts), row[starts])
        if not falls.any():
            return starts
        starts = starts[np.append(True, ~falls)]


def _falls(t: Weights, n: Weights, row: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Say of each level but the last whether the share of targets does not rise from it to the next of its row."""
    falls: NDArray[np.bool_] = (row[1:] == row[:-1]) & (t[:-1] * n[1:] >= t[1:] * n[:-1])
    return falls


def hull_of_levels(targets: Weights, nontargets: Weights) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give P_miss (rising) and P_fa (falling) at each corner of the hull, as the threshold rises past the blocks."""
    t, n = pav_counts(targets, nontargets)
    none = np.zeros((*t.shape[:-1], 1))
    n_left = np.concatenate([n[..., ::-1].cumsum(axis=-1)[..., ::-1], none], axis=-1)
    miss = np.concatenate([none, t.cumsum(axis=-1) / t.sum(axis=-1, keepdims=True)], axis=-1)
    return miss, n_left / n_left[..., :1]


def pav_levels(levels: Levels) -> Levels:
    """Join levels into PAV blocks: the same trials, in as few levels as the best rising map has values."""
    starts = pav_starts(levels.targets, levels.nontargets)
    last = np.append(starts[1:], len(levels.upper)) - 1
    t, n = np.add.reduceat(levels.targets, starts), np.add.reduceat(levels.nontargets, starts)
    return Levels(levels.upper[last], t, n)
