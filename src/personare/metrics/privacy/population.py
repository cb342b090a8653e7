"""Linkability in a whole population: what the measured ranks say about a town, a country or 10^9 people.

pi_link(N) = E[ (1-p)^(N-1) ],   p the chance that a random nontarget sounds at least as close as the speaker

The law of p is fitted to the ranks measured among n enrolled speakers (see ``exceedance``). How far that carries is
tested on the same data: fitted as if only n/10, n/100, n/1000 people were enrolled, it must predict the linkability
measured among all n. The error of each such check is part of the result.

The interval holds two doubts. Downwards: what leaving out speakers shows for either curve, and the worst error of the
checks, on the scale of log odds, for every factor of ten that lies between the data and the forecast. Upwards: the
linkability measured among the n themselves, with its own interval, because it can only fall with more people and no
measured rank tells a voice that nobody in 10^9 resembles from one that nobody in n does (half of the voices
unmistakable and half lost look like one wide bell curve). Fewer than 200 enrolled cannot be checked: no interval.
Deviations: extends eq. 3-4 of [vauquier2025legal] beyond the data; no paper defines it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import Estimate, Finding, MetricCard
from personare.core.seeding import Rng, as_rng
from personare.metrics.intervals import LEVEL, speaker_intervals
from personare.metrics.privacy.exceedance import CountBins, Exceedance, fit_exceedance
from personare.metrics.privacy.linkability import checked_counts, link_probability
from personare.metrics.privacy.speaker_rates import rates_over_speakers
from personare.metrics.privacy.vectors import checked_speakers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

CARD = MetricCard(
    name="population_linkability",
    title="Linkability at population scale (extrapolated)",
    better="lower",
    bounds=(0.0, 1.0),
    chance=None,
    cite="personare; extends vauquier2025legal, eq. 3-4",
    reading="If all these people were enrolled, this is how often the attacker's best guess would be right.",
    caution=(
        "An extrapolation, whose interval reaches up to what was measured. Do not trust it beyond the checked factor "
        "times the enrolled speakers, where fewer than 20 tests were beaten by another speaker, or for a population "
        "that sounds different (language, channel, age) from the enrolled one."
    ),
    unit="%",
)

POPULATIONS = (10**5, 10**6, 10**7, 10**8, 10**9)
FACTORS = (10, 100, 1000)
FEWEST_ENROLLED = 20
FEWEST_BEATEN = 20
THINNINGS = 20
SMALLEST = 1e-12  # share of log odds


@dataclass(frozen=True)
class Check:
    """A forecast that can be compared: fitted among ``fitted_on`` speakers, for ``factor`` times as many."""

    factor: int
    fitted_on: int
    forecast: float
    measured: float

    @property
    def error(self) -> float:
        """Forecast minus measured."""
        return self.forecast - self.measured


@dataclass(frozen=True, eq=False)
class PopulationLinkability:
    """Linkability extrapolated to populations larger than the data.

    Parameters
    ----------
    populations : numbers of people N.
    estimates : one per population; n counts tested speakers; no interval where nothing could be checked.
    chance : 1/N.
    checks : how well the same method predicted what was measured.
    beaten : tests that at least one nontarget beat; only they tell where the curve ends.
    model : the fitted curves.
    """

    populations: tuple[int, ...]
    estimates: tuple[Estimate, ...]
    chance: tuple[float, ...]
    checks: tuple[Check, ...]
    beaten: int
    enrolled: int
    model: Exceedance

    def __str__(self) -> str:
        rows = zip(self.populations, self.estimates, self.chance, strict=True)
        lines = [f"linkability among N = {people:,}: {e}, chance {chance:.3g}" for people, e, chance in rows]
        return "\n".join([*lines, f"supported up to N = {self.trusted_to():,}"])

    def trusted_to(self, *, tolerance: float = 0.05) -> int:
        """Give the largest population that the checks support: n times the factor up to which all errors are small."""
        if self.beaten < FEWEST_BEATEN:
            return self.enrolled
        good = takewhile(lambda check: abs(check.error) <= tolerance, self.checks)
        return self.enrolled * max((check.factor for check in good), default=1)

    def findings(self, **conditions: str | int | float) -> list[Finding]:
        """List one finding per population, with the largest supported population among its conditions."""
        reach = self.trusted_to()
        rows = zip(self.populations, self.estimates, self.chance, strict=True)
        return [
            Finding(CARD, e, {**conditions, "N": people, "checked_to": reach}, chance=chance)
            for people, e, chance in rows
        ]


def population_linkability(
    above: ArrayLike,
    test_speakers: ArrayLike,
    *,
    enrolled: int,
    populations: Sequence[int] = POPULATIONS,
    rng: Rng = 0,
    level: float = LEVEL,
) -> PopulationLinkability:
    """Extrapolate linkability to populations from the counts of closer nontargets [t] among ``enrolled`` speakers.

    >>> guesses = np.random.default_rng(0).integers(0, 500, 400)
    >>> extrapolated = population_linkability(guesses, np.arange(400), enrolled=500, populations=(10**6,))
    >>> extrapolated.estimates[0].value < 1e-4
    True
    """
    b = checked_counts(above, enrolled=enrolled)
    speakers, owner = np.unique(checked_speakers(test_speakers, rows=len(b), of="test"), return_inverse=True)
    _check(b, enrolled, populations)
    rng = as_rng(rng)
    bins = CountBins.of(enrolled)
    table = np.zeros((len(speakers), len(bins.edges)))  # tests per speaker and bin
    np.add.at(table, (owner, bins.place(b)), 1.0)
    model = fit_exceedance(bins, table.sum(axis=0))

    def both(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        fits = [fit_exceedance(bins, counts, start=model) for counts in drawn @ table]
        return np.array([[c.linkability(n) for c in (f.bell, f.skewed) for n in populations] for f in fits])

    checks, half, values = _checks(b, enrolled, rng), len(populations), [model.linkability(n) for n in populations]
    estimates = tuple(Estimate(value, math.nan, math.nan, len(speakers)) for value in values)
    if checks:
        intervals = speaker_intervals(both, speakers=len(speakers), level=level, bounds=[CARD.bounds] * 2 * half)
        linked = link_probability(b, enrolled=enrolled, sizes=(enrolled,))
        (measured,) = rates_over_speakers(linked, owner, level=level)
        estimates = tuple(
            _widened(value, intervals[i : i + half + 1 : half], checks, measured, math.log10(people / enrolled))
            for i, (value, people) in enumerate(zip(values, populations, strict=True))
        )
    chance = tuple(1 / people for people in populations)
    return PopulationLinkability(tuple(populations), estimates, chance, checks, int((b > 0).sum()), enrolled, model)


def _widened(
    value: float, curves: Sequence[Estimate], checks: Sequence[Check], measured: Estimate, decades: float
) -> Estimate:
    """Span what both curves say, widened downwards by the worst check, upwards to what was measured."""
    low = float(np.nanmin([value, *(curve.low for curve in curves)]))
    worst = max(abs(_log_odds(c.forecast) - _log_odds(c.measured)) / math.log10(c.factor) for c in checks)
    low = min(low, 1 / (1 + math.exp(min(700.0, worst * max(decades, 0.0) - _log_odds(low)))))
    high = measured.high if decades >= 0 else 1.0
    return Estimate(value, low, max(high, value), measured.n)


def _log_odds(share: float) -> float:
    inside = min(max(share, SMALLEST), 1 - SMALLEST)
    return math.log(inside / (1 - inside))


def _checks(b: NDArray[np.int64], enrolled: int, rng: np.random.Generator) -> tuple[Check, ...]:
    """Fit on every smaller enrolment that is large enough, predict the whole, compare with what was measured."""
    measured = float(link_probability(b, enrolled=enrolled, sizes=(enrolled,)).mean())
    checks = []
    for factor in FACTORS:
        few = enrolled // factor
        if few < FEWEST_ENROLLED:
            break
        bins = CountBins.of(few)
        thinned = rng.hypergeometric(b, enrolled - 1 - b, few - 1, size=(THINNINGS, len(b)))
        counts = np.bincount(bins.place(thinned.ravel()), minlength=len(bins.edges)) / THINNINGS
        forecast = fit_exceedance(bins, counts).linkability(enrolled)
        checks.append(Check(factor, few, forecast, measured))
    return tuple(checks)


def _check(b: NDArray[np.int64], enrolled: int, populations: Sequence[int]) -> None:
    if enrolled < FEWEST_ENROLLED:
        raise MetricError(f"a forecast needs at least {FEWEST_ENROLLED} enrolled speakers, not {enrolled}")
    if not (b > 0).any():
        raise MetricError(
            f"no test was beaten by any of {enrolled - 1} other speakers, so nothing tells where that ends; enrol more"
        )
    if not populations or any(people < 1 for people in populations):
        raise MetricError(f"populations must be whole numbers of people; got {list(populations)}")
