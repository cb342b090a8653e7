"""The rank test: among how many people does a speaker vanish? Mean rank of the right person over many random tests.

r_s^l = rank of s when one utterance of s is compared with one utterance of each of N speakers     [turavecino2025usc]
mean rank of s = (1/L) sum_l r_s^l                                                                  [eq. 2]

Reported over speakers: the median (p50) and the first percentile (p1), the speech k-anonymity factor: 99 % of the
speakers hide among at least so many. *Linkability* compares anonymized references with anonymized utterances, *singling
out* anonymized references with original utterances: same arithmetic. *Reversed* singling out, by request, looks for an
anonymized utterance among original references, as the paper's sentence on it says; its formula has the former.

What guessing gives is measured: the mean rank of everybody under somebody else's name, the same percentiles of it, in
200 deals of the names (one name further down the list where there are more than 400 people, redrawn 200 times). That is
the chance level of N people and their utterances; the paper's is that of endless people and utterances, about
(N+1)/2 - 2.33 sqrt((N^2-1)/12L) for p1, which a guesser among ten people undercuts nine times in ten.
Intervals are order statistics, for which the binomial law tells how often they enclose a percentile [thompson1936]; p50
has one from 6 speakers on, p1 from 368 on.
Deviations: in one test l all speakers meet the same reference utterances, drawn anew for every l. A nontarget with
the same score counts as indistinguishable, hence before the speaker: rank 1 + #{ nontargets >= target }.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import Estimate, Finding, MetricCard
from personare.core.seeding import Rng, as_rng
from personare.core.vectors import cosine
from personare.metrics.intervals import check_level
from personare.metrics.privacy.dealt import Dealt
from personare.metrics.privacy.nontargets_above import nontargets_above
from personare.metrics.privacy.vectors import checked_speakers, checked_vectors, same_dimension

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Variant = Literal["linkability", "singling_out", "singling_out_reversed"]
PAPER_TESTS = 100
K_ANONYMITY = 0.01
FULL_MATRIX = 400  # people up to whom every name is dealt to everybody
DEALS = 200
DECIMALS = 12  # of a cosine: what differs beyond is a tie


def _card(name: str, title: str) -> MetricCard:
    return MetricCard(
        name=name,
        title=title,
        better="higher",
        bounds=(1.0, math.inf),
        chance=None,
        cite="turavecino2025usc, eq. 2",
        reading="The mean position of the right person when the attacker sorts N people by likeness.",
        caution="Grows with N: compare only at the same number of speakers. p1 has no interval below 368 speakers.",
    )


LINK_MEDIAN_CARD = _card("rank_link_p50", "Median rank, linkability (USC)")
LINK_CARD = _card("rank_link_p1", "Speech k-anonymity factor, linkability (USC)")
SINGLE_MEDIAN_CARD = _card("rank_single_p50", "Median rank, singling out (USC)")
SINGLE_CARD = _card("rank_single_p1", "Speech k-anonymity factor, singling out (USC)")
REVERSED_MEDIAN_CARD = _card("rank_single_reversed_p50", "Median rank, singling out reversed (USC)")
REVERSED_CARD = _card("rank_single_reversed_p1", "Speech k-anonymity factor, singling out reversed (USC)")
CARDS: Mapping[Variant, tuple[MetricCard, MetricCard]] = {
    "linkability": (LINK_MEDIAN_CARD, LINK_CARD),
    "singling_out": (SINGLE_MEDIAN_CARD, SINGLE_CARD),
    "singling_out_reversed": (REVERSED_MEDIAN_CARD, REVERSED_CARD),
}


@dataclass(frozen=True, eq=False)
class RankTest:
    """Mean rank per speaker and its percentiles.

    Parameters
    ----------
    variant : what was compared: anonymized utterances with anonymized references (linkability), original utterances
        with anonymized references (singling out), or anonymized utterances with original references (reversed).
    speakers, mean_ranks : everybody, sorted, and their mean rank over ``tests`` tests [n].
    p50, p1 : percentiles over speakers with intervals; p1 is the speech k-anonymity factor.
    dealt_p50, dealt_p1 : the same for an attacker who guesses, in many deals.
    """

    variant: Variant
    speakers: NDArray[np.generic]
    mean_ranks: NDArray[np.float64]
    tests: int
    p50: Estimate
    p1: Estimate
    dealt_p50: Dealt
    dealt_p1: Dealt

    def __str__(self) -> str:
        p50 = f"median rank among N = {len(self.speakers)}: {self.p50}, chance {self.random_p50:.5g}"
        return f"{p50}\nfirst percentile (speech k-anonymity factor): {self.p1}, chance {self.random_p1:.5g}"

    @property
    def random_p50(self) -> float:
        """The median rank of an attacker who guesses."""
        return self.dealt_p50.mean

    @property
    def random_p1(self) -> float:
        """The first percentile of an attacker who guesses."""
        return self.dealt_p1.mean

    @property
    def k_anonymity(self) -> Estimate:
        """The speech k-anonymity factor: the first percentile of the mean rank."""
        return self.p1

    def findings(self, **conditions: str | int | float) -> list[Finding]:
        """List both percentiles, each with the guesser's value."""
        known = {**conditions, "N": len(self.speakers), "tests": self.tests}
        median, factor = CARDS[self.variant]
        return [self.dealt_p50.finding(median, self.p50, known), self.dealt_p1.finding(factor, self.p1, known)]


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
    >>> ranks.mean_ranks, ranks.random_p50 > 2
    (array([1., 1., 1.]), True)
    """
    test = checked_vectors(test_vectors, of="test")
    reference = checked_vectors(reference_vectors, of="reference")
    same_dimension(test, reference, names=("test", "reference"))
    tested = checked_speakers(test_speakers, rows=len(test), of="test")
    known = checked_speakers(reference_speakers, rows=len(reference), of="reference")
    speakers = np.unique(known)
    _check(tested, speakers, tests)
    rng = as_rng(rng)
    chance = rng.spawn(1)[0]
    total, guessed = np.zeros(len(speakers)), np.zeros((len(speakers), len(speakers) if _is_small(speakers) else 1))
    for _ in range(tests):
        mine, theirs = _one_each(tested, rng), _one_each(known, rng)
        total += 1.0 + nontargets_above(test[mine], speakers, reference[theirs], speakers)
        guessed += _ranks_of_others(test[mine], reference[theirs], speakers)
    p50, p1 = (percentile_estimate(total / tests, share, level=level) for share in (0.5, K_ANONYMITY))
    dealt = _dealt(guessed / tests, chance)
    return RankTest(variant, speakers, total / tests, tests, p50, p1, *dealt)


def percentile_estimate(values: NDArray[np.float64], share: float, *, level: float) -> Estimate:
    """Estimate a percentile over speakers (linear between neighbours, as numpy does), between two order statistics.

    >>> percentile_estimate(np.arange(1.0, 11.0), 0.5, level=0.95)
    Estimate(value=5.5, low=2.0, high=9.0, n=10)
    """
    from scipy import special

    check_level(level)
    ordered, n = np.sort(values), len(values)
    value = float(np.quantile(ordered, share))
    below = special.bdtr(np.arange(n), n, share)  # P(at most k speakers lie below the percentile)
    under = np.flatnonzero(below <= (1 - level) / 2)
    over = np.flatnonzero(below >= (1 + level) / 2)
    if not len(under) or not len(over):
        return Estimate(value, math.nan, math.nan, n)
    return Estimate(value, float(ordered[under[-1]]), float(ordered[over[0]]), n)


def _is_small(speakers: NDArray[np.generic]) -> bool:
    return len(speakers) <= FULL_MATRIX


def _ranks_of_others(
    test: NDArray[np.floating], reference: NDArray[np.floating], speakers: NDArray[np.generic]
) -> NDArray[np.float64]:
    """Rank everybody for every test [N, N], or of more than 400 people the next one [N, 1]."""
    if not _is_small(speakers):
        above = nontargets_above(test, np.roll(speakers, -1), reference, speakers)
        return 1.0 + above[:, None].astype(np.float64)
    n = len(speakers)
    scores = np.rint(cosine(test, reference) * 10.0**DECIMALS).astype(np.int64)
    scores += 4 * 10**DECIMALS * np.arange(n)[:, None]  # each row above the one before: all are looked up at once
    below = np.searchsorted(np.sort(scores, axis=1).ravel(), scores) - n * np.arange(n)[:, None]
    ranks: NDArray[np.float64] = n - below.astype(np.float64)
    return ranks


def _dealt(guessed: NDArray[np.float64], rng: np.random.Generator) -> tuple[Dealt, Dealt]:
    """Deal names, and take both percentiles of every deal."""
    n, columns = guessed.shape
    if columns > 1:
        ranks = guessed[np.arange(n), np.stack([rng.permutation(n) for _ in range(DEALS)])]
    else:
        ranks = guessed[np.stack([rng.integers(0, n, n) for _ in range(DEALS)]), 0]
    deals = np.quantile(ranks, (0.5, K_ANONYMITY), axis=1)
    if columns == 1:  # the level itself rests on one deal: it is as uncertain as the result it is compared with
        middle = deals.mean(axis=1, keepdims=True)
        deals = middle + math.sqrt(2) * (deals - middle)
    possible = math.exp(min(700.0, math.lgamma(n + 1)))
    return Dealt(deals[0], possible), Dealt(deals[1], possible)


def _one_each(speakers: NDArray[np.generic], rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw one row of each speaker, in the order of the sorted names."""
    order = rng.permutation(len(speakers))
    _, first = np.unique(speakers[order], return_index=True)
    return order[first]


def _check(tested: NDArray[np.generic], speakers: NDArray[np.generic], tests: int) -> None:
    if tests < 1:
        raise MetricError(f"the rank test needs at least 1 test per speaker (the paper: {PAPER_TESTS}), not {tests}")
    if (tested.dtype.kind == "U") != (speakers.dtype.kind == "U"):
        raise MetricError("test and reference speakers must both be text or both be whole numbers")
    odd = np.setxor1d(tested, speakers)
    if len(odd):
        raise MetricError(f"{len(odd)} speakers are in one set only (first: '{odd[0]}'); the rank test needs both")
