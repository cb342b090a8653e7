"""What each score really says: oracle calibration of scores to log-likelihood ratios (LLRs), by PAV.

LLR(s) = log (p / (1 - p)) - log (n_t / n_n),  p = PAV posterior of the block s lies in     [brummer2009pav]

The labels themselves are used, so this is the best any attacker could do with a rising map: hence "oracle".
Laplace's rule of succession puts one target and one nontarget trial below all scores and another pair above all, and
cuts them off after the fit; no LLR is infinite then.                                  [nautsch2020zebra, footnote 6]

Deviations: ties are pooled (the reference breaks them for the attacker); the reference adds up to 1e-6 to each LLR to
keep the order strict, here equal evidence stays equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from personare.metrics.privacy.levels import Levels, checked, levels_of
from personare.metrics.privacy.pav import pav_levels, pav_starts, row_starts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


def oracle_llrs(targets: ArrayLike, nontargets: ArrayLike, *, laplace: bool = False) -> tuple[Floats, Floats]:
    """Calibrate both classes of scores, in the order given; natural logarithm, [targets] and [nontargets].

    Without Laplace's rule, scores above all nontargets become +inf and scores below all targets -inf.

    >>> [llrs.tolist() for llrs in oracle_llrs([1, 3], [0, 1])]
    [[0.0, inf], [-inf, 0.0]]
    """
    t, n = checked(targets, "target"), checked(nontargets, "nontarget")
    levels = levels_of(t, n)
    if laplace:
        llrs = laplace_llrs(levels.targets, levels.nontargets)
    else:
        levels = pav_levels(levels)
        llrs = _log_ratio(levels.targets, levels.nontargets, levels)
    return llrs[levels.find(t)], llrs[levels.find(n)]


def laplace_llrs(targets: Any, nontargets: Any) -> Floats:
    """Give the LLR of each level by Laplace's rule; every level has some weight."""
    levels = Levels(np.empty(0), targets, nontargets)
    t, n = np.concatenate([[1], targets, [1]]), np.concatenate([[1], nontargets, [1]])
    starts = pav_starts(t, n)
    block_llrs = _log_ratio(np.add.reduceat(t, starts), np.add.reduceat(n, starts), levels)
    return np.repeat(block_llrs, np.diff(np.append(starts, len(t))))[1:-1]


def laplace_llr_rows(targets: Floats, nontargets: Floats) -> Floats:
    """Give the same for each row of weights [rows, levels]; levels without weight have an LLR of 0.

    >>> laplace_llr_rows(np.array([[0.0, 2.0, 0.0]]), np.array([[1.0, 0.0, 0.0]])).round(3).tolist()
    [[-1.386, 0.405, 0.0]]
    >>> laplace_llrs(np.array([0, 2]), np.array([1, 0])).round(3).tolist()
    [-1.386, 0.405]
    """
    one = np.ones((len(targets), 1))
    t, n = (np.concatenate([one, side, one], axis=1) for side in (targets, nontargets))
    there = (t + n) > 0
    row, real_t, real_n = np.nonzero(there)[0], targets.sum(axis=1), nontargets.sum(axis=1)
    starts = row_starts(t[there], n[there], row)
    sums_t, sums_n = np.add.reduceat(t[there], starts), np.add.reduceat(n[there], starts)
    with np.errstate(divide="ignore"):
        blocks = np.log(sums_t * real_n[row[starts]]) - np.log(sums_n * real_t[row[starts]])
    llrs = np.zeros(t.shape)
    llrs[there] = np.repeat(blocks, np.diff(np.append(starts, len(row))))
    return llrs[:, 1:-1]


def _log_ratio(t: Any, n: Any, levels: Levels) -> Floats:
    """Divide each block's odds by the odds of all real trials."""
    with np.errstate(divide="ignore"):
        llrs: Floats = np.log(t * levels.nontargets.sum()) - np.log(n * levels.targets.sum())
    return llrs
