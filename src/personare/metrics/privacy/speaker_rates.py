"""Intervals for success rates when a speaker is tested more than once: speakers are the sample, not their recordings.

One test per speaker: Wilson's interval (a closed form). Several: a bootstrap that draws whole speakers, so that ten
recordings of one talkative person do not count as ten people. Where all speakers agree on 0 or on 1 no resample can
differ, and Wilson's interval over the speakers is given instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from personare.metrics.intervals import bootstrap_many, wilson

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.core.findings import Estimate


def rates_over_speakers(
    successes: NDArray[np.float64], owner: NDArray[np.intp], *, rng: np.random.Generator, level: float = 0.95
) -> list[Estimate]:
    """Estimate the mean of each column of ``successes`` [t, s], values 0..1, tests belonging to speakers ``owner`` [t].

    >>> rates_over_speakers(np.array([[1.0], [0.0]]), np.array([0, 1]), rng=np.random.default_rng(0))[0].value
    0.5
    """
    tests = np.bincount(owner).astype(np.float64)
    values = successes.mean(axis=0)
    if len(tests) == len(owner):
        return [wilson(float(v) * len(tests), len(tests), level=level) for v in values]
    totals = np.stack([np.bincount(owner, weights=column) for column in successes.T], axis=1)
    redrawn = bootstrap_many(
        lambda drawn: (drawn @ totals) / (drawn @ tests)[:, None], speakers=len(tests), rng=rng, level=level
    )
    return [
        wilson(float(round(v)) * len(tests), len(tests), level=level) if v in (0.0, 1.0) else estimate
        for v, estimate in zip(values, redrawn, strict=True)
    ]
