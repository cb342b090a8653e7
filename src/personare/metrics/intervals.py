"""How sure we are of a number: Wilson's interval for counts, and leaving out one speaker after the other.

Trials of one speaker resemble each other. Counting trials would pretend that a thousand trials of ten people are a
thousand independent facts, and give an interval that is far too narrow; leaving out whole speakers does not.

wilson     (p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)                                     [wilson1927]
jackknife  se^2 = (n-1)/n sum_i (u_i - mean u)^2, u_i the statistic without speaker i, on a scale without bounds;
           u -+ t_{n-1} se, taken back to the metric's own scale                          [tukey1958; student1908]

Student's t instead of the Gaussian 1.96 is what five or ten speakers need; quantiles of redrawn speakers, used before,
held the truth in 80 % of cases with five. Deviations: the interval spans both the statistic and the statistic less its
bias 3/2 (n - 1)(mean u - u), because what fits itself to its sample (PAV, ROC hull) is pulled to one side by few
speakers; a statistic that has this taken out already says so (``bias_factors``). Shares are put on the scale of log
odds, numbers from 0 on of logarithms. More than 100 speakers are left out in 100 groups.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import Estimate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

LEVEL = 0.95
MOST_GROUPS = 100
FEWEST_VALID = 0.5
NEAREST = 2e-3  # to the end of a scale from 0 to 1: nearer, a share is counted as being so far from it
ISOTONIC = 3 / 2  # the bias of an isotonic fit falls as n^(-2/3), not as 1/n: it is so many times (n - 1)(mean u - u)
SMALLEST = 1e-2  # of the value: what is smaller on a scale of logarithms counts as this
Bounds = tuple[float, float]
ENDLESS: Bounds = (-math.inf, math.inf)


def wilson(successes: float, n: float, *, level: float = LEVEL) -> Estimate:
    """Estimate a success rate with Wilson's score interval; ``successes`` may be an expectation, hence a fraction.

    So may ``n``, where outcomes are worth more or less than as many independent ones.

    >>> rate = wilson(8, 10)
    >>> rate.value, round(rate.low, 4), round(rate.high, 4), rate.n
    (0.8, 0.4902, 0.9433, 10)
    """
    check_level(level)
    if not n >= 1:
        raise MetricError(f"a rate needs at least one attempt, not {n}")
    if not 0 <= successes <= n:
        raise MetricError(f"successes must lie between 0 and the {n} attempts, not at {successes}")
    z = NormalDist().inv_cdf(0.5 + level / 2)
    p = float(successes) / n
    middle = p + z * z / (2 * n)
    reach = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low = 0.0 if successes == 0 else max(0.0, (middle - reach) / scale)
    high = 1.0 if successes == n else min(1.0, (middle + reach) / scale)
    return Estimate(p, low, high, round(n))


def leave_out_groups(speakers: int) -> NDArray[np.intp]:
    """Number the group with which each speaker is left out [speakers]: alone, as long as there are 100 or fewer."""
    return np.arange(speakers) % max(1, min(speakers, MOST_GROUPS))


def speaker_interval(
    statistic: Callable[[Floats], Floats], *, speakers: int, level: float = LEVEL, bounds: Bounds = ENDLESS
) -> Estimate:
    """Estimate any statistic of a set of speakers, with the interval from leaving out one after the other.

    Parameters
    ----------
    statistic : takes how often each speaker counts, float [rows, speakers], and gives one value per row; a row of ones
        is the data themselves. NaN marks rows in which the statistic does not exist.
    speakers : how many speakers there are; also the ``n`` of the estimate. One speaker has no interval (NaN).
    bounds : the statistic's own limits: they choose the scale.

    >>> heights = np.array([1.5, 1.6, 1.7, 1.8])
    >>> mean = lambda drawn: drawn @ heights / drawn.sum(axis=1)
    >>> estimate = speaker_interval(mean, speakers=4)
    >>> round(estimate.value, 2), round(estimate.low, 2), round(estimate.high, 2), estimate.n
    (1.65, 1.44, 1.86, 4)
    """
    columns = lambda drawn: np.asarray(statistic(drawn), dtype=np.float64)[:, None]  # noqa: E731
    return speaker_intervals(columns, speakers=speakers, level=level, bounds=[bounds])[0]


def speaker_intervals(
    statistics: Callable[[Floats], Floats],
    *,
    speakers: int,
    level: float = LEVEL,
    bounds: Sequence[Bounds] | None = None,
) -> list[Estimate]:
    """Like ``speaker_interval`` for several statistics of the same speakers: [rows, speakers] -> [rows, statistics]."""
    if speakers < 1:
        raise MetricError(f"an interval over speakers needs speakers, not {speakers}")
    groups = leave_out_groups(speakers)
    weights = np.vstack([np.ones(speakers), groups[None, :] != np.arange(groups.max() + 1)[:, None]])
    if speakers == 1:
        weights = weights[:1]
    values = np.asarray(statistics(weights.astype(np.float64)), dtype=np.float64)
    return from_left_out(values, speakers=speakers, level=level, bounds=bounds)


def from_left_out(
    values: Floats,
    *,
    speakers: int,
    level: float = LEVEL,
    bounds: Sequence[Bounds] | None = None,
    bias_factors: Sequence[float] | None = None,
) -> list[Estimate]:
    """Make intervals of statistics [1 + groups, k]: the first row of all speakers, each other one without a group.

    ``bias_factors`` say, for each statistic, how many times (n - 1)(mean u - u) its bias is: 3/2 unless said otherwise.
    """
    check_level(level)
    limits = bounds or [ENDLESS] * values.shape[1]
    factors = bias_factors or [ISOTONIC] * values.shape[1]
    return [
        _studentised(float(column[0]), column[1:], speakers, level, limit, factor)
        for column, limit, factor in zip(values.T, limits, factors, strict=True)
    ]


def speaker_mean(sums: ArrayLike, counts: ArrayLike, *, level: float = LEVEL, bounds: Bounds = ENDLESS) -> Estimate:
    """Estimate sum(sums) / sum(counts) over speakers, e.g. errors per word; a speaker without counts is not there.

    >>> estimate = speaker_mean([2, 0, 1], [10, 10, 10], bounds=(0, math.inf))
    >>> estimate.value, estimate.low, round(estimate.high, 2), estimate.n
    (0.1, 0, 2.11, 3)
    """
    top, bottom = np.asarray(sums, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    if top.shape != bottom.shape or top.ndim != 1:
        raise MetricError(f"sums {list(top.shape)} and counts {list(bottom.shape)} must be two lists of equal length")
    there = bottom > 0
    if not there.any():
        raise MetricError("a mean over speakers needs at least one speaker with something to count")
    top, bottom = top[there], bottom[there]
    return speaker_interval(
        lambda drawn: (drawn @ top) / (drawn @ bottom), speakers=len(top), level=level, bounds=bounds
    )


@lru_cache(maxsize=1024)
def student_quantile(share: float, freedom: float) -> float:
    """Give the quantile of Student's t with so many degrees of freedom.

    >>> round(student_quantile(0.975, 4), 3)
    2.776
    """
    from scipy import special

    return float(special.stdtrit(freedom, share))


def _studentised(
    value: float, left_out: Floats, speakers: int, level: float, bounds: Bounds, bias_factor: float
) -> Estimate:
    """Span value and corrected value by t standard errors, on the scale that the bounds choose."""
    none = Estimate(value, math.nan, math.nan, speakers)
    valid = left_out[~np.isnan(left_out)]
    if math.isnan(value) or len(valid) < max(2, FEWEST_VALID * len(left_out)):
        return none
    if math.isinf(value):
        return Estimate(value, value, value, speakers) if (valid == value).all() else none
    valid = valid[np.isfinite(valid)]
    if len(valid) < len(left_out[~np.isnan(left_out)]):  # without some speakers there is no finite number
        return none
    if value in bounds and (valid == value).all():
        return _at_the_end(value, speakers, level, bounds)
    quantile = student_quantile(0.5 + level / 2, min(len(valid), speakers) - 1)
    plain = _ends(value, valid, quantile, bias_factor)
    scale = _Scale(value, bounds)
    ends = _ends(scale.to(value), np.array([scale.to(x) for x in valid]), quantile, bias_factor)
    low, high = sorted(scale.back(end) for end in ends)
    low = bounds[0] if plain[0] <= bounds[0] else low
    high = bounds[1] if plain[1] >= bounds[1] else high
    return Estimate(value, min(low, value), max(high, value), speakers)


def _ends(value: float, left_out: Floats, quantile: float, bias_factor: float) -> tuple[float, float]:
    n, middle = len(left_out), float(left_out.mean())
    reach = quantile * math.sqrt((n - 1) / n * float(((left_out - middle) ** 2).sum()))
    corrected = value - bias_factor * (n - 1) * (middle - value)
    return min(value, corrected) - reach, max(value, corrected) + reach


def _at_the_end(value: float, speakers: int, level: float, bounds: Bounds) -> Estimate:
    """Give a result at the end of its scale the doubt that few speakers leave: Wilson's for no failure among them."""
    if math.isinf(bounds[0]) or math.isinf(bounds[1]):
        return Estimate(value, value, value, speakers)
    width = bounds[1] - bounds[0]
    reach = min(width, wilson(0, speakers, level=level).high * max(1.0, width))
    low, high = (value, value + reach) if value == bounds[0] else (value - reach, value)
    return Estimate(value, low, high, speakers)


class _Scale:
    """A scale without ends: log odds between two bounds, logarithms beyond one, else the numbers as they are."""

    def __init__(self, value: float, bounds: Bounds) -> None:
        self.low, self.high = bounds
        self.both = math.isfinite(self.low) and math.isfinite(self.high)
        self.one = math.isfinite(self.low) != math.isfinite(self.high)
        if self.both:
            share = (value - self.low) / (self.high - self.low)
            self.least = max(1e-9, min(NEAREST, *(part / 4 for part in (share, 1 - share) if part > 0)))
        elif self.one:
            self.least = SMALLEST * abs(value - self._end)

    @property
    def _end(self) -> float:
        return self.low if math.isfinite(self.low) else self.high

    def to(self, x: float) -> float:
        """Take a number to the scale without ends."""
        if self.both:
            share = min(max((x - self.low) / (self.high - self.low), self.least), 1 - self.least)
            return math.log(share / (1 - share))
        return math.log(max(abs(x - self._end), self.least, 1e-300)) if self.one else x

    def back(self, x: float) -> float:
        """Bring it back."""
        if self.both:
            return self.low + (self.high - self.low) / (1 + math.exp(-min(max(x, -700.0), 700.0)))
        if self.one:
            far = math.exp(min(x, 700.0))
            return self.low + far if math.isfinite(self.low) else self.high - far
        return x


def check_level(level: float) -> None:
    """Refuse a confidence level outside 0 to 1."""
    if not 0 < level < 1:
        raise MetricError(f"a confidence level lies between 0 and 1, not at {level}")
