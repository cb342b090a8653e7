"""What people think of speech: ratings without the habits of single evaluators, and which of two kinds is rated higher.

normalized rank   (r - 1) / (n - 1), r the rank of a rating among the n of one evaluator, ties averaged
                                                          [rosenberg2017opinion; tomashenko2022voiceprivacy, sec. 4.2.1]
P(a > b) + P(a = b) / 2 = U / (n m)                     the Mann-Whitney U of n ratings a and m ratings b [mann1947test]
MOS               the mean of ratings from 1 to 5         [wang2026rpgmm, sec. 5.5.2]

Intervals leave out one evaluator after the other: another panel would have other people.
Deviations: the papers do not say how ranks are scaled; here an evaluator's lowest rating is 0 and the highest 1 (0.5
where an evaluator gave only one rating), so that the mean of every evaluator is 0.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import Estimate, MetricCard
from personare.metrics.intervals import ENDLESS, LEVEL, Bounds, speaker_interval, speaker_mean

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

_RANKS = "ranks within one panel: they say nothing about ratings of another panel or other systems"
_FEW = "opinions of these evaluators about these recordings; compare only systems that were rated side by side"


def _rank_card(name: str, title: str, reading: str) -> MetricCard:
    cite = "rosenberg2017opinion; tomashenko2022voiceprivacy, sec. 4.2.1"
    return MetricCard(name, title, "higher", (0.0, 1.0), None, cite, reading, _RANKS)


def _opinion_card(name: str, title: str, reading: str) -> MetricCard:
    return MetricCard(name, title, "higher", (1.0, 5.0), None, "wang2026rpgmm, Table 8", reading, _FEW)


NATURALNESS_CARD = _rank_card(
    "naturalness", "Naturalness (people, normalized rank)", "mean rank among all that was rated"
)
INTELLIGIBILITY_CARD = _rank_card(
    "intelligibility", "Intelligibility (people, normalized rank)", "mean rank among all that was rated"
)
SIMILARITY_CARD = MetricCard(
    "similarity",
    "Similarity to the speaker (people, normalized rank)",
    "lower",
    (0.0, 1.0),
    None,
    "tomashenko2022voiceprivacy, sec. 4.2.1",
    "mean rank of the similarity to another recording; targets should sound as unlike as nontargets",
    _RANKS,
)
RATED_ABOVE_CARD = MetricCard(
    "rated_above",
    "Rated above original speech (people, Mann-Whitney)",
    "higher",
    (0.0, 1.0),
    0.5,
    "mann1947test; tomashenko2022voiceprivacy, sec. 4.2.1",
    "how often anonymized speech is rated above original speech, ties counted half; 50 % is no difference",
    "the p-value takes answers as independent, which answers of one evaluator are not; read the interval",
    "%",
)
EXPRESSION_CARD = MetricCard(
    "expression_found",
    "Expression found in A/B/X (people)",
    "higher",
    (0.0, 1.0),
    0.5,
    "turavecino2025usc, sec. 3.3",
    "share of triplets in which listeners choose the rendering that was made of X; 50 % is guessing, and words alone",
    "A and B are of the same words and speaker; where emotions are not noted, they may be said alike from the start",
    "%",
)
MOS_NATURALNESS_CARD = _opinion_card(
    "mos_naturalness", "MOS naturalness (people)", "1: completely unnatural; 5: natural"
)
MOS_INTELLIGIBILITY_CARD = _opinion_card(
    "mos_intelligibility", "MOS intelligibility (people)", "1: completely unintelligible; 5: intelligible"
)


def normalized_ranks(ratings: ArrayLike, evaluators: ArrayLike) -> Floats:
    """Replace every rating by its rank among the ratings of the same evaluator, from 0 to 1.

    >>> normalized_ranks([1, 5, 5, 9, 3], ["p", "p", "p", "p", "q"]).tolist()
    [0.0, 0.5, 0.5, 1.0, 0.5]
    """
    from scipy.stats import rankdata

    values, who = _checked(ratings, evaluators)
    ranks = np.full(len(values), 0.5)
    for one in np.unique(who):
        own = who == one
        if own.sum() > 1:
            ranks[own] = (rankdata(values[own]) - 1) / (own.sum() - 1)
    return ranks


def mean_rating(
    ratings: ArrayLike,
    *,
    evaluators: ArrayLike,
    level: float = LEVEL,
    bounds: Bounds = ENDLESS,
) -> Estimate:
    """Average ratings, with an interval from leaving out evaluators; n = evaluators, ``bounds`` those of the ratings.

    >>> mean_rating([1, 2, 3], evaluators=["p", "p", "q"]).value
    2.0
    """
    values, who = _checked(ratings, evaluators)
    _, at = np.unique(who, return_inverse=True)
    return speaker_mean(np.bincount(at, values), np.bincount(at), level=level, bounds=bounds)


@dataclass(frozen=True)
class RankSums:
    """The Mann-Whitney U of two lists of ratings; ``above`` is U / (n m), ``p`` two-sided, corrected for ties."""

    u: float
    above: float
    p: float


def mann_whitney(ratings: ArrayLike, others: ArrayLike) -> RankSums:
    """Compare two lists of ratings: is one of them higher?

    >>> mann_whitney([1, 2, 3], [1, 2, 3]).above, mann_whitney([4, 5], [1, 2, 3]).u
    (0.5, 6.0)
    """
    from scipy.stats import mannwhitneyu

    a, b = (np.asarray(values, dtype=np.float64) for values in (ratings, others))
    if a.ndim != 1 or b.ndim != 1 or not len(a) or not len(b) or not np.isfinite([*a, *b]).all():
        raise MetricError(f"two lists of finite ratings are compared, not {list(a.shape)} and {list(b.shape)}")
    result = mannwhitneyu(a, b, alternative="two-sided", method="asymptotic")
    above = float(result.statistic / (len(a) * len(b)))
    return RankSums(float(result.statistic), above, float(result.pvalue))


def rated_above(
    ratings: ArrayLike,
    others: ArrayLike,
    *,
    evaluators: ArrayLike,
    other_evaluators: ArrayLike,
    level: float = LEVEL,
) -> Estimate:
    """Estimate U / (n m) with an interval from leaving out evaluators; n = evaluators.

    >>> who = ["p", "q"]
    >>> rated_above([2, 2], [1, 3], evaluators=who, other_evaluators=who).value
    0.5
    """
    (a, who_a), (b, who_b) = _checked(ratings, evaluators), _checked(others, other_evaluators)
    people = np.unique(np.concatenate([who_a, who_b]))
    at_a, at_b = np.searchsorted(people, who_a), np.searchsorted(people, who_b)
    wins = (a[:, None] > b[None, :]) + 0.5 * (a[:, None] == b[None, :])
    by_pair = np.zeros((len(people), len(people)))
    np.add.at(by_pair, (at_a[:, None], at_b[None, :]), wins)
    n, m = (np.bincount(at, minlength=len(people)).astype(np.float64) for at in (at_a, at_b))

    def statistic(drawn: Floats) -> Floats:
        top = np.einsum("ri,ij,rj->r", drawn, by_pair, drawn)
        bottom = (drawn @ n) * (drawn @ m)
        shares: Floats = np.divide(top, bottom, out=np.full(len(drawn), np.nan), where=bottom > 0)
        return shares

    return speaker_interval(statistic, speakers=len(people), level=level, bounds=RATED_ABOVE_CARD.bounds)


def _checked(ratings: ArrayLike, evaluators: ArrayLike) -> tuple[Floats, NDArray[np.str_]]:
    values, who = np.asarray(ratings, dtype=np.float64), np.asarray(evaluators, dtype=str)
    if values.ndim != 1 or values.shape != who.shape or not len(values):
        raise MetricError(f"each rating needs one evaluator: {list(values.shape)} and {list(who.shape)}")
    if not np.isfinite(values).all():
        raise MetricError("ratings must be finite numbers")
    return values, who
