"""How a result compares with guessing: the same number after each of many deals of the identities, and its tails."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from personare.core.findings import LEVEL_OF_PROOF, Estimate, Finding, MetricCard

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAME = 1e-12


@dataclass(frozen=True, eq=False)
class Dealt:
    """A statistic after each of several deals [deals], of so many ``possible`` ones."""

    values: NDArray[np.float64]
    possible: float

    @property
    def mean(self) -> float:
        """The chance level."""
        return float(self.values.mean())

    def tails(self, value: float, *, attacker_wants_more: bool) -> tuple[float, float]:
        """Give how likely a guesser does at least as well as ``value``, and at least as badly; NaN of too few deals.

        Where no deal reaches it, Student's t of all deals says how far beyond them it lies.

        >>> Dealt(np.linspace(0.4, 0.6, 99), math.inf).tails(0.58, attacker_wants_more=True)
        (0.11, 0.9)
        """
        if self.possible * LEVEL_OF_PROOF < 1 or math.isnan(value):
            return math.nan, math.nan
        sign = 1.0 if attacker_wants_more else -1.0
        ahead = sign * (self.values - value)
        return self._tail(ahead), self._tail(-ahead)

    def _tail(self, ahead: NDArray[np.float64]) -> float:
        from scipy import special

        deals, reached = len(ahead), int(np.count_nonzero(ahead >= -SAME))
        share, spread = (1 + reached) / (1 + deals), float(ahead.std(ddof=1)) if deals > 1 else 0.0
        if reached or spread <= SAME:  # equal deals differ by rounding
            return share
        beyond = float(special.stdtr(deals - 1, ahead.mean() / (spread * math.sqrt(1 + 1 / deals))))
        return min(share, max(beyond, 1 / self.possible))

    def finding(self, card: MetricCard, estimate: Estimate, conditions: Mapping[str, str | int | float]) -> Finding:
        """Put chance level and test beside an estimate of the same statistic."""
        better, worse = self.tails(estimate.value, attacker_wants_more=card.better == "lower")
        return Finding(card, estimate, conditions, chance=self.mean, p_better=better, p_worse=worse)
