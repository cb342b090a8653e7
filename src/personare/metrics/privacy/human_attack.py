"""People as attackers: how well listeners recognise a speaker, in A/B/X triplets and by rating similarity.

P(A) = #{X was said to be A} / #{answers}, A the speaker of X, B another one        [turavecino2025usc, sec. 3.3]
EER, Cllr and min Cllr of the similarity that listeners rated, targets against nontargets
                                                                              [tomashenko2022voiceprivacy, sec. 4.3]

Intervals leave out one evaluator after the other: answers of one evaluator resemble each other. What guessing gives is
the EER after the targets and nontargets of each evaluator were shuffled: with few ratings it is less than 0.5.
Deviations: of a single evaluator Wilson's interval over answers is given. All three are taken of normalized ranks, as
the paper's DET curves are. The paper does not say that ratings were calibrated before Cllr: here the ranks (0 to 1) are
taken at their word as log-likelihood ratios, so that only min Cllr, which calibrates them, tells what they hold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import Estimate, Finding, MetricCard
from personare.metrics.intervals import LEVEL, speaker_mean, wilson
from personare.metrics.privacy.chance import shuffled_within
from personare.metrics.privacy.cllr import cllr_estimate, min_cllr_estimate
from personare.metrics.privacy.eer import eer_of_levels, rocch_eer_estimate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ABX_CARD = MetricCard(
    name="abx",
    title="Speaker found in A/B/X (people)",
    better="lower",
    bounds=(0.0, 1.0),
    chance=0.5,
    cite="turavecino2025usc, sec. 3.3",
    reading="share of triplets in which listeners say that X and A, the same speaker, are the same; 50 % is guessing",
    caution="B speakers are chosen to sound alike: the share is low for people even where speech is not anonymized",
    unit="%",
)
EER_CARD = MetricCard(
    name="eer_people",
    title="EER of rated similarity (people)",
    better="higher",
    bounds=(0.0, 0.5),
    chance=0.5,
    cite="tomashenko2022voiceprivacy, sec. 4.3",
    reading="share of wrong answers if the similarity that people rated decided; 50 % is guessing",
    caution="one short recording against another; programs that compare voices do better than people",
    unit="%",
)

CLLR_CARD = MetricCard(
    name="cllr_people",
    title="Cllr of rated similarity (people)",
    better="higher",
    bounds=(0.0, math.inf),
    chance=None,
    cite="brummer2006cllr; tomashenko2022voiceprivacy, sec. 4.3",
    reading="bits that are lacking when the ratings of people are taken at their word; 1 is no information",
    caution="ratings are no likelihood ratios: read min Cllr",
    unit="bit",
)
MIN_CLLR_CARD = MetricCard(
    name="min_cllr_people",
    title="min Cllr of rated similarity (people)",
    better="higher",
    bounds=(0.0, 1.0),
    chance=1.0,
    cite="brummer2006cllr; tomashenko2022voiceprivacy, sec. 4.3",
    reading="bits that are lacking after the best calibration of people's ratings, at even odds; 1 is no information",
    caution="the calibration knows the answers: with few ratings noise alone lowers it",
    unit="bit",
)


def abx_estimate(correct: ArrayLike, *, evaluators: ArrayLike, level: float = LEVEL) -> Estimate:
    """Estimate the probability that X is said to be A; one evaluator per answer, n = answers.

    >>> estimate = abx_estimate([1, 1, 0, 1], evaluators=["p", "p", "q", "q"])
    >>> estimate.value, estimate.low < 0.5, estimate.n
    (0.75, True, 4)
    """
    right, who = np.asarray(correct, dtype=np.float64), np.asarray(evaluators)
    if right.ndim != 1 or right.shape != who.shape or not len(right):
        raise MetricError(f"each answer needs one evaluator: {list(right.shape)} and {list(who.shape)}")
    _, at = np.unique(who, return_inverse=True)
    estimate = speaker_mean(np.bincount(at, right), np.bincount(at), level=level, bounds=ABX_CARD.bounds)
    if math.isnan(estimate.low):
        return wilson(float(right.sum()), len(right), level=level)
    return replace(estimate, n=len(right))


def similarity_eer(
    targets: ArrayLike,
    nontargets: ArrayLike,
    *,
    target_evaluators: ArrayLike,
    nontarget_evaluators: ArrayLike,
) -> Estimate:
    """Estimate the EER of rated similarity, with an interval from leaving out evaluators.

    >>> who = ["p", "q"]
    >>> similarity_eer([0.9, 0.8], [0.1, 0.2], target_evaluators=who, nontarget_evaluators=who).value
    0.0
    """
    return rocch_eer_estimate(
        targets,
        nontargets,
        target_speakers=target_evaluators,
        nontarget_speakers=nontarget_evaluators,
    )


def similarity_cllr(
    targets: ArrayLike,
    nontargets: ArrayLike,
    *,
    target_evaluators: ArrayLike,
    nontarget_evaluators: ArrayLike,
) -> tuple[Estimate, Estimate]:
    """Estimate Cllr and min Cllr of rated similarity, with intervals from leaving out evaluators.

    >>> who = ["p", "q"]
    >>> raw, least = similarity_cllr([0.5, 0.5], [0.5, 0.5], target_evaluators=who, nontarget_evaluators=who)
    >>> round(raw.value, 3), least.value
    (1.045, 1.0)
    """
    return (
        cllr_estimate(targets, nontargets, target_speakers=target_evaluators, nontarget_speakers=nontarget_evaluators),
        min_cllr_estimate(
            targets, nontargets, target_speakers=target_evaluators, nontarget_speakers=nontarget_evaluators
        ),
    )


def similarity_eer_finding(
    targets: ArrayLike,
    nontargets: ArrayLike,
    *,
    target_evaluators: ArrayLike,
    nontarget_evaluators: ArrayLike,
    conditions: Mapping[str, str | int | float],
    rng: np.random.Generator,
) -> Finding:
    """Give the same with what guessing gives on these very ratings: targets and nontargets of an evaluator shuffled."""
    who = {"target_owners": target_evaluators, "nontarget_owners": nontarget_evaluators}
    dealt = shuffled_within(targets, nontargets, eer_of_levels, **who, rng=rng)
    estimate = similarity_eer(
        targets, nontargets, target_evaluators=target_evaluators, nontarget_evaluators=nontarget_evaluators
    )
    return dealt.finding(EER_CARD, estimate, conditions)
