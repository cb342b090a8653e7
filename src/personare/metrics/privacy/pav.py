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
    """Count target and nontarget weight in each PAV block, lowest scores first; levels without weight are skipped."""
    there = (targets + nontargets) > 0
    t, n = targets[there], nontargets[there]
    starts = pav_starts(t, n)
    return np.add.reduceat(t, starts), np.add.reduceat(n, starts)


def hull_of_levels(targets: Weights, nontargets: Weights) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give P_miss (rising) and P_fa (falling) at each corner of the hull, as the threshold rises past the blocks."""
    t, n = pav_counts(targets, nontargets)
    n_left = np.append(n[::-1].cumsum()[::-1], 0)
    return np.append(0.0, np.cumsum(t) / t.sum()), n_left / n_left[0]


def pav_levels(levels: Levels) -> Levels:
    """Join levels into PAV blocks: the same trials, in as few levels as the best rising map has values."""
    starts = pav_starts(levels.targets, levels.nontargets)
    last = np.append(starts[1:], len(levels.upper)) - 1
    t, n = np.add.reduceat(levels.targets, starts), np.add.reduceat(levels.nontargets, starts)
    return Levels(levels.upper[last], t, n)
