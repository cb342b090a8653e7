"""The attacker's choice of threshold: every trade of misses against false alarms, and the cheapest one.

P_miss(t) = share of target scores < t,  P_fa(t) = share of nontarget scores >= t      [martin1997det]
C_det     = C_miss pi P_miss + C_fa (1 - pi) P_fa, divided by min(C_miss pi, C_fa (1 - pi))   [nist2010sre]

min DCF is the smallest normalised cost over all thresholds; an attacker who always gives the same answer pays 1.
Deviations: none; the minimum is taken on the hull of the ROC, whose corners hold the minimum over all thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import Estimate, MetricCard
from personare.metrics.privacy.levels import checked, levels_of
from personare.metrics.privacy.pav import hull_of_levels
from personare.metrics.privacy.redraws import BySpeaker, LevelStatistic, level_estimate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

CARD = MetricCard(
    name="min_dcf",
    title="min DCF (prior and costs named)",
    better="higher",
    bounds=(0.0, 1.0),
    chance=1.0,
    cite="nist2010sre",
    reading="cost of the attacker's best threshold; 1 is an attacker who ignores the voice",
    caution="holds for one prior and one pair of costs only; the attacker chooses them, not we",
)


@dataclass(frozen=True, eq=False)
class ErrorCurve:
    """The points of a DET or ROC curve, lowest threshold first: accept when score >= threshold.

    Parameters
    ----------
    thresholds : each distinct score, then infinity (reject all).
    miss, false_alarm : share of targets rejected and of nontargets accepted; ROC plots 1 - miss against false_alarm,
        DET plots both on a normal scale.
    """

    thresholds: NDArray[np.floating[Any]]
    miss: Floats
    false_alarm: Floats


def error_curve(targets: ArrayLike, nontargets: ArrayLike) -> ErrorCurve:
    """List the error rates at every threshold that changes them.

    >>> curve = error_curve([1, 2], [0, 1])
    >>> curve.thresholds.tolist(), curve.miss.tolist(), curve.false_alarm.tolist()
    ([0.0, 1.0, 2.0, inf], [0.0, 0.0, 0.5, 1.0], [1.0, 0.5, 0.0, 0.0])
    """
    t, n = np.sort(checked(targets, "target")), np.sort(checked(nontargets, "nontarget"))
    thresholds = np.append(np.union1d(t, n), np.inf)
    miss = np.searchsorted(t, thresholds) / len(t)
    false_alarm = (len(n) - np.searchsorted(n, thresholds)) / len(n)
    return ErrorCurve(thresholds, miss, false_alarm)


def hull_curve(targets: ArrayLike, nontargets: ArrayLike) -> tuple[Floats, Floats]:
    """Give P_miss (rising) and P_fa (falling) at the corners of the convex hull of the ROC, [corners] each.

    >>> miss, false_alarm = hull_curve([1, 2], [0, 1])
    >>> miss.tolist(), false_alarm.tolist()
    ([0.0, 0.0, 0.5, 1.0], [1.0, 0.5, 0.0, 0.0])
    """
    levels = levels_of(targets, nontargets)
    return hull_of_levels(levels.targets, levels.nontargets)


def min_dcf(
    targets: ArrayLike, nontargets: ArrayLike, *, prior: float, cost_miss: float = 1.0, cost_false_alarm: float = 1.0
) -> float:
    """Compute the normalised cost of the best threshold for this prior of "same speaker" and these costs.

    >>> min_dcf([1, 2], [0, 1], prior=0.5), min_dcf([0], [1], prior=0.01)
    (0.5, 1.0)
    """
    levels = levels_of(targets, nontargets)
    return float(dcf_of_levels(prior, cost_miss, cost_false_alarm)(levels.targets, levels.nontargets))


def min_dcf_estimate(
    targets: ArrayLike,
    nontargets: ArrayLike,
    *,
    prior: float,
    cost_miss: float = 1.0,
    cost_false_alarm: float = 1.0,
    **how: Unpack[BySpeaker],
) -> Estimate:
    """Compute min DCF with an interval from leaving out speakers; n = speakers."""
    statistic = dcf_of_levels(prior, cost_miss, cost_false_alarm)
    return level_estimate(statistic, targets, nontargets, bounds=CARD.bounds, **how)


def dcf_of_levels(prior: float, cost_miss: float = 1.0, cost_false_alarm: float = 1.0) -> LevelStatistic:
    """Make min DCF for this prior and these costs a statistic of levels."""
    if not 0 < prior < 1:
        raise MetricError(f"the prior of a target lies between 0 and 1, not at {prior}")
    if not (cost_miss > 0 and cost_false_alarm > 0):
        raise MetricError(f"costs are above 0, not {cost_miss} and {cost_false_alarm}")
    weight_miss, weight_alarm = prior * cost_miss, (1 - prior) * cost_false_alarm

    def cost(targets: Any, nontargets: Any) -> Any:
        miss, false_alarm = hull_of_levels(targets, nontargets)
        return np.min(weight_miss * miss + weight_alarm * false_alarm, axis=-1) / min(weight_miss, weight_alarm)

    return cost
