"""How sure we are of a number: Wilson's interval for counts, and a bootstrap that draws speakers anew, not trials.

Trials of one speaker resemble each other. Drawing trials would pretend that a thousand trials of ten people are a
thousand independent facts, and give an interval that is far too narrow; drawing whole speakers does not.

wilson     (p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)                    [wilson1927]
bootstrap  quantiles of the statistic over resamples of the speakers                    [efron1979]

Deviations: the quantiles are shifted by the bootstrap's own bias (median of the resamples minus the value) where that
is asked for, because a statistic that fits itself to its sample (PAV, ROC hull) is pulled to one side by each redraw.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import Estimate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

RESAMPLES = 1000
LEVEL = 0.95
CELLS_AT_ONCE = 2_000_000
FEWEST_VALID = 0.5


def wilson(successes: float, n: int, *, level: float = LEVEL) -> Estimate:
    """Estimate a success rate with Wilson's score interval; ``successes`` may be an expectation, hence a fraction.

    >>> rate = wilson(8, 10)
    >>> rate.value, round(rate.low, 4), round(rate.high, 4), rate.n
    (0.8, 0.4902, 0.9433, 10)
    """
    _check_level(level)
    if n < 1:
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
    return Estimate(p, low, high, n)


def speaker_bootstrap(
    statistic: Callable[[Floats], Floats],
    *,
    speakers: int,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    centred: bool = False,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Estimate:
    """Estimate any statistic of a set of speakers, with the percentile interval over redrawn sets.

    Parameters
    ----------
    statistic : takes how often each speaker was drawn, float [resamples, speakers], and gives one value per row;
        a row of ones is the data themselves. NaN marks a redraw in which the statistic does not exist.
    speakers : how many speakers there are; also the ``n`` of the estimate. One speaker has no interval (NaN).
    centred : shift the interval by the bootstrap's bias; ``bounds`` : the statistic's own limits, for such a shift.

    >>> heights = np.array([1.5, 1.6, 1.7, 1.8])
    >>> mean = lambda drawn: drawn @ heights / drawn.sum(axis=1)
    >>> estimate = speaker_bootstrap(mean, speakers=4, rng=np.random.default_rng(1))
    >>> round(estimate.value, 2), round(estimate.low, 2), round(estimate.high, 2), estimate.n
    (1.65, 1.55, 1.75, 4)
    """
    columns = lambda drawn: np.asarray(statistic(drawn), dtype=np.float64)[:, None]  # noqa: E731
    return bootstrap_many(
        columns, speakers=speakers, rng=rng, resamples=resamples, level=level, centred=centred, bounds=[bounds]
    )[0]


def bootstrap_many(
    statistics: Callable[[Floats], Floats],
    *,
    speakers: int,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    centred: bool = False,
    bounds: list[tuple[float, float]] | None = None,
) -> list[Estimate]:
    """Like ``speaker_bootstrap`` for several statistics of the same redraws: [rows, speakers] -> [rows, statistics]."""
    _check_level(level)
    if speakers < 1 or resamples < 1:
        raise MetricError(f"a bootstrap needs speakers and resamples, not {speakers} and {resamples}")
    values = np.asarray(statistics(np.ones((1, speakers))), dtype=np.float64)[0]
    limits = bounds or [(-math.inf, math.inf)] * len(values)
    if speakers == 1:
        return [Estimate(float(value), math.nan, math.nan, 1) for value in values]
    rows = max(1, CELLS_AT_ONCE // speakers)
    redrawn = np.concatenate(
        [statistics(_draw(rng, speakers, min(rows, resamples - start))) for start in range(0, resamples, rows)]
    )
    return [
        _percentile(float(value), column, speakers, level, centred, limit)
        for value, column, limit in zip(values, redrawn.T, limits, strict=True)
    ]


def speaker_mean(
    sums: ArrayLike,
    counts: ArrayLike,
    *,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Estimate:
    """Estimate sum(sums) / sum(counts) over speakers, e.g. errors per word; a speaker without counts is not there.

    >>> estimate = speaker_mean([2, 0, 1], [10, 10, 10], rng=np.random.default_rng(1))
    >>> estimate.value, estimate.low, estimate.high, estimate.n
    (0.1, 0.0, 0.2, 3)
    """
    top, bottom = np.asarray(sums, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    if top.shape != bottom.shape or top.ndim != 1:
        raise MetricError(f"sums {list(top.shape)} and counts {list(bottom.shape)} must be two lists of equal length")
    there = bottom > 0
    if not there.any():
        raise MetricError("a mean over speakers needs at least one speaker with something to count")
    top, bottom = top[there], bottom[there]
    return speaker_bootstrap(
        lambda drawn: (drawn @ top) / (drawn @ bottom), speakers=len(top), rng=rng, resamples=resamples, level=level
    )


def _draw(rng: np.random.Generator, speakers: int, rows: int) -> Floats:
    """Draw ``speakers`` speakers with replacement, ``rows`` times; count how often each came."""
    return rng.multinomial(speakers, np.full(speakers, 1 / speakers), size=rows).astype(np.float64)


def _percentile(
    value: float, redrawn: Floats, speakers: int, level: float, centred: bool, bounds: tuple[float, float]
) -> Estimate:
    valid = redrawn[~np.isnan(redrawn)]
    if math.isnan(value) or len(valid) < FEWEST_VALID * len(redrawn):
        return Estimate(value, math.nan, math.nan, speakers)
    low, middle, high = _quantiles(valid, (0.5 - level / 2, 0.5, 0.5 + level / 2))
    bias = middle - value if centred and math.isfinite(middle) and math.isfinite(value) else 0.0
    low, high = np.clip([low - bias, high - bias], *bounds)
    return Estimate(value, float(low), float(high), speakers)


def _quantiles(values: Floats, shares: tuple[float, ...]) -> list[float]:
    """Give quantiles; next to an infinite value there is nothing to interpolate, and the nearer of the two is taken."""
    if np.isfinite(values).all():
        return [float(q) for q in np.quantile(values, shares)]
    ordered = np.sort(values)
    return [float(ordered[round(share * (len(ordered) - 1))]) for share in shares]


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise MetricError(f"a confidence level lies between 0 and 1, not at {level}")
