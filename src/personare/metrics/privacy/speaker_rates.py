"""Success rates when a speaker is tested more than once: speakers are the sample, not their recordings.

Wilson's interval with as many independent outcomes as the speakers are worth. One success or failure per speaker is one
outcome. The mean of several tests of a speaker, or the mean over many galleries, varies less than that: with p(1-p)/v,
v the variance of the rate over speakers, there are more, and the interval is narrower; never fewer than speakers, for
nothing between 0 and 1 varies more than one success or failure does. [korn1998effective]: the number is multiplied by
(z / t)^2, because v is itself estimated from few speakers.

Whether a rate is better than guessing is asked of the speakers as one success or failure each, of which nothing with
the same mean has heavier tails:  p = I_c(s, n - s + 1), c the chance level, s the sum of n speakers' rates.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from personare.core.findings import LEVEL_OF_PROOF
from personare.metrics.intervals import student_quantile, wilson

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.core.findings import Estimate

MOST_PER_SPEAKER = 50.0


def rates_over_speakers(
    successes: NDArray[np.float64], owner: NDArray[np.intp], *, level: float = 0.95
) -> list[Estimate]:
    """Estimate the mean of each column of ``successes`` [t, s], values 0..1, tests belonging to speakers ``owner`` [t].

    >>> rates_over_speakers(np.array([[1.0], [0.0]]), np.array([0, 1]))[0].value
    0.5
    """
    tests = np.bincount(owner).astype(np.float64)
    speakers = len(tests)
    fewest = tests.sum() ** 2 / (tests**2).sum()
    estimates = []
    for column in successes.T:
        rate = float(column.mean())
        own = np.bincount(owner, weights=column)
        each = fewest
        if speakers > 1 and 0 < rate < 1:
            left_out = (own.sum() - own) / (tests.sum() - tests)
            variance = (speakers - 1) / speakers * float(((left_out - left_out.mean()) ** 2).sum())
            worth = rate * (1 - rate) / variance if variance > 0 else math.inf
            ratio = student_quantile(0.5 + level / 2, math.inf) / student_quantile(0.5 + level / 2, speakers - 1)
            each = min(max(fewest, worth * ratio**2), MOST_PER_SPEAKER * speakers)
        estimate = wilson(min(rate * each, each), each, level=level)
        estimates.append(replace(estimate, value=rate, n=speakers))
    return estimates


def rate_tails(rate: float, chance: float, speakers: int) -> tuple[float, float]:
    """Give how likely a guesser reaches a mean rate of this size over so many speakers, and one so small; NaN of few.

    >>> [round(p, 5) for p in rate_tails(1.0, 0.2, 5)]
    [0.00032, 1.0]
    """
    from scipy import special

    if not 0 < chance < 1 or math.isnan(rate) or chance**speakers > LEVEL_OF_PROOF:
        return math.nan, math.nan
    hits = rate * speakers
    better = float(special.betainc(hits, speakers - hits + 1, chance)) if hits > 0 else 1.0
    misses = speakers - hits
    worse = float(special.betainc(misses, speakers - misses + 1, 1 - chance)) if misses > 0 else 1.0
    return better, worse
