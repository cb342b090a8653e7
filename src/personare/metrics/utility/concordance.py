"""Concordance (CCC): do values measured before and after anonymization agree, in order and in size?

CCC = 2 cov(x, y) / (var(x) + var(y) + (mean(x) - mean(y))^2)                                      [lin1989concordance]

Used for continuous emotion or sentiment: 1 is the same value each time, 0 no agreement, -1 reversed.
Deviations: none; variances divide by n, as in Lin's paper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import Estimate, MetricCard
from personare.metrics.intervals import LEVEL, speaker_interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

CARD = MetricCard(
    name="ccc",
    title="Concordance correlation CCC",
    better="higher",
    bounds=(-1.0, 1.0),
    chance=0.0,
    cite="lin1989concordance; turavecino2025usc, table 1",
    reading="agreement of a rating before and after; unlike correlation it also sees shifts and changes of scale",
    caution="a narrow range of ratings makes it small even where each rating changes little",
)


def ccc(before: ArrayLike, after: ArrayLike) -> float:
    """Compute the concordance of two lists of values.

    >>> ccc([1, 2, 3], [1, 2, 3]), ccc([1, 2, 3], [3, 2, 1]), round(ccc([1, 2, 3], [2, 3, 4]), 4)
    (1.0, -1.0, 0.5714)
    """
    return float(_of_moments(_moments(*_checked(before, after)).sum(axis=0)[None])[0])


def ccc_estimate(
    before: ArrayLike,
    after: ArrayLike,
    *,
    speakers: ArrayLike,
    level: float = LEVEL,
) -> Estimate:
    """Compute CCC with an interval from leaving out speakers, one id per value; n = speakers."""
    x, y = _checked(before, after)
    ids = np.asarray(speakers)
    if ids.shape != x.shape:
        raise MetricError(f"each value needs one speaker: {len(x)} values, speakers {list(ids.shape)}")
    known, who = np.unique(ids, return_inverse=True)
    moments = _moments(x, y)
    sums = np.stack([np.bincount(who, column) for column in moments.T], axis=1)
    return speaker_interval(
        lambda drawn: _of_moments(drawn @ sums), speakers=len(known), level=level, bounds=CARD.bounds
    )


def _checked(before: ArrayLike, after: ArrayLike) -> tuple[Floats, Floats]:
    x, y = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape or len(x) < 2:
        raise MetricError(f"concordance needs two equally long lists, not {list(x.shape)} and {list(y.shape)}")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise MetricError("concordance needs finite values; some are NaN or infinite")
    if np.ptp(x) == 0 and np.ptp(y) == 0:
        raise MetricError("concordance needs values that differ; both lists are constant")
    return x, y


def _moments(x: Floats, y: Floats) -> Floats:
    """Give each value's part in the sums, [values, 6]; a common shift keeps the sums of squares precise."""
    shift = x.mean()
    x, y = x - shift, y - shift
    return np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1)


def _of_moments(sums: Floats) -> Floats:
    n, x, y, xx, yy, xy = sums.T
    mx, my = x / n, y / n
    spread = xx / n - mx**2 + yy / n - my**2 + (mx - my) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        concordance: Floats = np.where(spread > 0, 2 * (xy / n - mx * my) / spread, np.nan)
    return np.clip(concordance, -1.0, 1.0)
