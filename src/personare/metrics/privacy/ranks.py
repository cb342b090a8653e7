"""The rank test: among how many people does a speaker vanish? Mean rank of the right person over many random tests.

r_s^l = rank of s when one utterance of s is compared with one utterance of each of N speakers     [turavecino2025usc]
mean rank of s = (1/L) sum_l r_s^l                                                                  [eq. 2]

Reported over speakers: the median (p50) and the first percentile (p1), the speech k-anonymity factor: 99 % of the
speakers hide among at least so many. Guessing gives (N+1)/2 on average. *Linkability* compares anonymized references
with anonymized utterances, *singling out* anonymized references with original utterances: same arithmetic.
Deviations: in one test l all speakers meet the same reference utterances, drawn anew for every l. A nontarget with
the same score counts as indistinguishable, hence before the speaker: rank 1 + #{ nontargets >= target }.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import Estimate, Finding, MetricCard
from personare.core.seeding import Rng, as_rng
from personare.metrics.intervals import bootstrap_many
from personare.metrics.privacy.nontargets_above import nontargets_above
from personare.metrics.privacy.vectors import checked_speakers, checked_vectors, same_dimension

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Variant = Literal["linkability", "singling_out"]
PAPER_TESTS = 100
K_ANONYMITY = 0.01


def _card(name: str, title: str) -> MetricCard:
    return MetricCard(
        name=name,
        title=title,
        better="higher",
        bounds=(1.0, math.inf),
        chance=None,
        cite="turavecino2025usc, eq. 2",
        reading="The mean position of the right person when the attacker sorts N people by likeness.",
        caution="Grows with N: compare only at the same number of speakers. p1 needs hundreds of speakers.",
    )


LINK_MEDIAN_CARD = _card("rank_link_p50", "Median rank, linkability (USC)")
LINK_CARD = _card("rank_link_p1", "Speech k-anonymity factor, linkability (USC)")
SINGLE_MEDIAN_CARD = _card("rank_single_p50", "Median rank, singling out (USC)")
SINGLE_CARD = _card("rank_single_p1", "Speech k-anonymity factor, singling out (USC)")


@dataclass(frozen=True, eq=False)
class RankTest:
    """Mean rank per speaker and its percentiles.

    Parameters
    ----------
    variant : what was compared: anonymized with anonymized (linkability) or with original (singling out).
    speakers, mean_ranks : everybody, sorted, and their mean rank over ``tests`` tests [n].
    p50, p1 : percentiles over speakers with bootstrap intervals; p1 is the speech k-anonymity factor.
    random_p50, random_p1 : the same for an attacker who guesses.
    """

    variant: Variant
    speakers: NDArray[np.generic]
    mean_ranks: NDArray[np.float64]
    tests: int
    p50: Estimate
    p1: Estimate
    random_p50: float
    random_p1: float

    def __str__(self) -> str:
        p50 = f"median rank among N = {len(self.speakers)}: {self.p50}, chance {self.random_p50:.5g}"
        return f"{p50}\nfirst percentile (speech k-anonymity factor): {self.p1}, chance {self.random_p1:.5g}"

    @property
    def k_anonymity(self) -> Estimate:
        """The speech k-anonymity factor: the first percentile of the mean rank."""
        return self.p1

    def findings(self, **conditions: str | int | float) -> list[Finding]:
        """List both percentiles, each with the guesser's value."""
        known = {**conditions, "N": len(self.speakers), "tests": self.tests}
        links = self.variant == "linkability"
        return [
            Finding(LINK_MEDIAN_CARD if links else SINGLE_MEDIAN_CARD, self.p50, known, chance=self.random_p50),
            Finding(LINK_CARD if links else SINGLE_CARD, self.p1, known, chance=self.random_p1),
        ]


def rank_test(
    test_vectors: ArrayLike,
    test_speakers: ArrayLike,
    reference_vectors: ArrayLike,
    reference_speakers: ArrayLike,
    *,
    variant: Variant,
    tests: int = PAPER_TESTS,
    rng: Rng = 0,
    level: float = 0.95,
) -> RankTest:
    """Run ``tests`` identification tests per speaker with utterances [t, d] against reference utterances [r, d].

    Both sets hold one or more utterances of each of the same N speakers.

    >>> ranks = rank_test(np.eye(3), list("abc"), np.eye(3), list("abc"), variant="linkability", tests=2)
    >>> ranks.mean_ranks, ranks.random_p50
    (array([1., 1., 1.]), 2.0)
    """
    test = checked_vectors(test_vectors, of="test")
    reference = checked_vectors(reference_vectors, of="reference")
    same_dimension(test, reference, names=("test", "reference"))
    tested = checked_speakers(test_speakers, rows=len(test), of="test")
    known = checked_speakers(reference_speakers, rows=len(reference), of="reference")
    speakers = np.unique(known)
    _check(tested, speakers, tests)
    rng = as_rng(rng)
    total = np.zeros(len(speakers))
    for _ in range(tests):
        mine, theirs = _one_each(tested, rng), _one_each(known, rng)
        total += 1.0 + nontargets_above(test[mine], speakers, reference[theirs], speakers)
    mean_ranks = total / tests
    p50, p1 = _percentiles(mean_ranks, rng, level)
    middle = (len(speakers) + 1) / 2
    return RankTest(
        variant, speakers, mean_ranks, tests, p50, p1, middle, random_percentile(len(speakers), tests=tests)
    )


def random_percentile(people: int, *, tests: int, share: float = K_ANONYMITY) -> float:
    """Give the percentile of a guesser's mean rank: a mean of ``tests`` uniform ranks, nearly Gaussian.

    >>> round(random_percentile(7974, tests=100))  # Table 2 of the paper: 3452.06
    3452
    """
    spread = math.sqrt((people**2 - 1) / 12 / tests)
    return max(1.0, (people + 1) / 2 + NormalDist().inv_cdf(share) * spread)


def _one_each(speakers: NDArray[np.generic], rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw one row of each speaker, in the order of the sorted names."""
    order = rng.permutation(len(speakers))
    _, first = np.unique(speakers[order], return_index=True)
    return order[first]


def _percentiles(mean_ranks: NDArray[np.float64], rng: np.random.Generator, level: float) -> list[Estimate]:
    """Estimate p50 and p1 over speakers (linear between neighbours, as numpy does), by redrawing speakers."""
    ranks = np.sort(mean_ranks)
    n = len(ranks)

    def both(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        upto = np.cumsum(drawn, axis=1)
        columns = []
        for share in (0.5, K_ANONYMITY):
            place = share * (n - 1)
            low, high = (ranks[(upto > end).argmax(axis=1)] for end in (math.floor(place), math.ceil(place)))
            columns.append(low + (place - math.floor(place)) * (high - low))
        return np.stack(columns, axis=1)

    return bootstrap_many(both, speakers=n, rng=rng, level=level)


def _check(tested: NDArray[np.generic], speakers: NDArray[np.generic], tests: int) -> None:
    if tests < 1:
        raise MetricError(f"the rank test needs at least 1 test per speaker (the paper: {PAPER_TESTS}), not {tests}")
    if (tested.dtype.kind == "U") != (speakers.dtype.kind == "U"):
        raise MetricError("test and reference speakers must both be text or both be whole numbers")
    odd = np.setxor1d(tested, speakers)
    if len(odd):
        raise MetricError(f"{len(odd)} speakers are in one set only (first: '{odd[0]}'); the rank test needs both")
