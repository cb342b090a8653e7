"""What a guessing attacker would get from just these trials: the same metric after the labels were shuffled.

Metrics that fit themselves to the labels (ROC hull, PAV) find a little "evidence" in pure noise: the ROCCH-EER of 30
targets among 300 nontargets is about 0.45 where nothing is to be found, not 0.5. The mean over shuffles is the chance
level to compare with; the textbook level is reached only with endless trials.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import MetricError
from personare.metrics.privacy.levels import checked
from personare.metrics.privacy.pav import pav_counts
from personare.metrics.privacy.redraws import LevelStatistic

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MOST_SHUFFLES, FEWEST_SHUFFLES, TRIALS_TO_SHUFFLE = 200, 10, 4_000_000


def chance_levels(
    targets: ArrayLike,
    nontargets: ArrayLike,
    statistics: Sequence[LevelStatistic],
    *,
    rng: np.random.Generator,
    shuffles: int | None = None,
) -> list[float]:
    """Average level statistics over shuffled labels; ties stay ties, both classes keep their number of trials.

    ``shuffles`` is 200 unless told, fewer (at least 10) where millions of trials make each one precise.

    >>> from personare.metrics.privacy.eer import eer_of_levels
    >>> found = chance_levels(range(30), range(300), [eer_of_levels], rng=np.random.default_rng(1))
    >>> round(found[0], 2)
    0.45
    """
    t, n = checked(targets, "target"), checked(nontargets, "nontarget")
    scores = np.sort(np.concatenate([t, n]))
    starts = np.append(0, np.flatnonzero(scores[1:] != scores[:-1]) + 1)
    sizes = np.diff(np.append(starts, len(scores)))
    labels = (np.arange(len(scores)) < len(t)).astype(np.int64)
    rounds = _rounds(len(scores)) if shuffles is None else shuffles
    if rounds < 1:
        raise MetricError(f"the chance level needs at least one shuffle, not {rounds}")
    totals = np.zeros(len(statistics))
    for _ in range(rounds):
        rng.shuffle(labels)
        hits = np.add.reduceat(labels, starts)
        blocks = pav_counts(hits, sizes - hits)
        totals += [statistic(*blocks) for statistic in statistics]
    return [float(total) for total in totals / rounds]


def _rounds(trials: int) -> int:
    return int(np.clip(TRIALS_TO_SHUFFLE // trials, FEWEST_SHUFFLES, MOST_SHUFFLES))
