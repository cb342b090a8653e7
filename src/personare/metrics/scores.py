"""Metrics of a list of scores, one call each: how well an attacker tells "same speaker" from "another speaker".

Higher scores mean more alike. Every function takes target and nontarget scores (lists or arrays of any float type) and
gives an ``Estimate``. Intervals leave out the tested speakers where ``target_speakers`` and ``nontarget_speakers`` name
who speaks in each trial, and both people of a trial where ``nontarget_enrolled`` names the other one, too; without them
they leave out trials, and are too narrow where a speaker has several.
``rng`` is a seed or a generator. Definitions, formulas and deviations: the files of ``metrics.privacy``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from personare.core.errors import MetricError
from personare.core.findings import Estimate
from personare.core.seeding import Rng, as_rng
from personare.metrics.intervals import LEVEL
from personare.metrics.privacy import cllr as cllr_file
from personare.metrics.privacy import detection, zebra
from personare.metrics.privacy import dsys as dsys_file
from personare.metrics.privacy import eer as eer_file
from personare.metrics.privacy.redraws import trial_groups

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def eer(
    target_scores: ArrayLike,
    nontarget_scores: ArrayLike,
    *,
    definition: Literal["rocch", "kaldi"] = "rocch",
    target_speakers: ArrayLike | None = None,
    nontarget_speakers: ArrayLike | None = None,
    nontarget_enrolled: ArrayLike | None = None,
    rng: Rng = 0,
    level: float = LEVEL,
) -> Estimate:
    """Compute the equal error rate: on the hull of the ROC (ROCCH), or as Kaldi's ``compute-eer`` walks.

    >>> from personare import metrics
    >>> metrics.eer([2, 3, 4, 5], [0, 1, 2, 3]).value
    0.25
    """
    known = {"rocch": eer_file.rocch_eer_estimate, "kaldi": eer_file.kaldi_eer_estimate}
    if definition not in known:
        raise MetricError(f"no definition '{definition}' of the EER; use 'rocch' or 'kaldi'")
    sides = (target_scores, nontarget_scores, target_speakers, nontarget_speakers, nontarget_enrolled)
    return _estimate(known[definition], *sides, rng=rng, level=level)


def cllr(
    target_scores: ArrayLike,
    nontarget_scores: ArrayLike,
    *,
    target_speakers: ArrayLike | None = None,
    nontarget_speakers: ArrayLike | None = None,
    nontarget_enrolled: ArrayLike | None = None,
    rng: Rng = 0,
    level: float = LEVEL,
) -> Estimate:
    """Compute the cost of scores that are natural-log likelihood ratios, in bits.

    >>> from personare import metrics
    >>> metrics.cllr([0.0, 0.0], [0.0, 0.0]).value
    1.0
    """
    sides = (target_scores, nontarget_scores, target_speakers, nontarget_speakers, nontarget_enrolled)
    return _estimate(cllr_file.cllr_estimate, *sides, rng=rng, level=level)


def min_cllr(
    target_scores: ArrayLike,
    nontarget_scores: ArrayLike,
    *,
    target_speakers: ArrayLike | None = None,
    nontarget_speakers: ArrayLike | None = None,
    nontarget_enrolled: ArrayLike | None = None,
    rng: Rng = 0,
    level: float = LEVEL,
) -> Estimate:
    """Compute Cllr after the best calibration (PAV), in bits.

    >>> from personare import metrics
    >>> metrics.min_cllr([1, 2], [-1, 0]).value
    0.0
    """
    sides = (target_scores, nontarget_scores, target_speakers, nontarget_speakers, nontarget_enrolled)
    return _estimate(cllr_file.min_cllr_estimate, *sides, rng=rng, level=level)


def min_dcf(
    target_scores: ArrayLike,
    nontarget_scores: ArrayLike,
    *,
    prior: float,
    cost_miss: float = 1.0,
    cost_false_alarm: float = 1.0,
    target_speakers: ArrayLike | None = None,
    nontarget_speakers: ArrayLike | None = None,
    nontarget_enrolled: ArrayLike | None = None,
    rng: Rng = 0,
    level: float = LEVEL,
) -> Estimate:
    """Compute the normalised detection cost of the best threshold for this prior of a target and these costs.

    >>> from personare import metrics
    >>> metrics.min_dcf([1, 2], [0, 1], prior=0.5).value
    0.5
    """
    sides = (target_scores, nontarget_scores, target_speakers, nontarget_speakers, nontarget_enrolled)
    metric = partial(detection.min_dcf_estimate, prior=prior, cost_miss=cost_miss, cost_false_alarm=cost_false_alarm)
    return _estimate(metric, *sides, rng=rng, level=level)


def d_ece(
    target_scores: ArrayLike,
    nontarget_scores: ArrayLike,
    *,
    target_speakers: ArrayLike | None = None,
    nontarget_speakers: ArrayLike | None = None,
    nontarget_enrolled: ArrayLike | None = None,
    rng: Rng = 0,
    level: float = LEVEL,
) -> Estimate:
    """Compute ZEBRA's expected privacy disclosure, in bits: 0 is zero evidence, 0.7213 no privacy.

    >>> from personare import metrics
    >>> round(metrics.d_ece([1, 2], [-1, 0]).value, 4)
    0.7213
    """
    sides = (target_scores, nontarget_scores, target_speakers, nontarget_speakers, nontarget_enrolled)
    return _estimate(zebra.d_ece_estimate, *sides, rng=rng, level=level)


def log10_l(
    target_scores: ArrayLike,
    nontarget_scores: ArrayLike,
    *,
    target_speakers: ArrayLike | None = None,
    nontarget_speakers: ArrayLike | None = None,
    nontarget_enrolled: ArrayLike | None = None,
    rng: Rng = 0,
    level: float = LEVEL,
) -> Estimate:
    """Compute ZEBRA's worst-case disclosure: orders of magnitude by which the strongest score moves the odds.

    >>> from personare import metrics
    >>> metrics.log10_l([0.0] * 9, [0.0] * 90).value
    0.0
    """
    sides = (target_scores, nontarget_scores, target_speakers, nontarget_speakers, nontarget_enrolled)
    return _estimate(zebra.log10_l_estimate, *sides, rng=rng, level=level)


def zebra_tag(target_scores: ArrayLike, nontarget_scores: ArrayLike) -> str:
    """Name the category of ZEBRA's Table 1 that the strongest score lies in: 0, A, B, C, D, E or F.

    >>> from personare import metrics
    >>> metrics.zebra_tag(range(100, 200), range(100))
    'C'
    """
    return zebra.tag(zebra.log10_l(target_scores, nontarget_scores))


def dsys(
    target_scores: ArrayLike,
    nontarget_scores: ArrayLike,
    *,
    w: float = 1.0,
    estimator: Literal["pav", "reference"] = "pav",
    target_speakers: ArrayLike | None = None,
    nontarget_speakers: ArrayLike | None = None,
    nontarget_enrolled: ArrayLike | None = None,
    rng: Rng = 0,
    level: float = LEVEL,
) -> Estimate:
    """Compute the global linkability D_sys: by PAV with chance taken out, or by the public reference's histograms.

    >>> from personare import metrics
    >>> metrics.dsys([2, 3], [0, 1]).value
    1.0
    """
    generator = as_rng(rng)
    known: dict[str, Callable[..., Estimate]] = {
        "pav": partial(dsys_file.dsys_estimate, rng=generator),
        "reference": dsys_file.dsys_reference_estimate,
    }
    if estimator not in known:
        raise MetricError(f"no estimator '{estimator}' of D_sys; use 'pav' or 'reference'")
    sides = (target_scores, nontarget_scores, target_speakers, nontarget_speakers, nontarget_enrolled)
    return _estimate(partial(known[estimator], w=w), *sides, rng=generator, level=level)


def _estimate(
    metric: Callable[..., Estimate],
    targets: ArrayLike,
    nontargets: ArrayLike,
    target_speakers: ArrayLike | None,
    nontarget_speakers: ArrayLike | None,
    nontarget_enrolled: ArrayLike | None,
    *,
    rng: Rng,
    level: float,
) -> Estimate:
    """Leave out speakers where both classes name them, else trials; then n counts trials."""
    generator = as_rng(rng)
    if (target_speakers is None) != (nontarget_speakers is None):
        raise MetricError("intervals over speakers need target_speakers and nontarget_speakers; give both or neither")
    if nontarget_enrolled is not None and nontarget_speakers is None:
        raise MetricError("nontarget_enrolled names the other person of a trial; name who speaks in it as well")
    if target_speakers is not None and nontarget_speakers is not None:
        who = {"target_speakers": target_speakers, "nontarget_speakers": nontarget_speakers}
        return metric(targets, nontargets, **who, nontarget_enrolled=nontarget_enrolled, level=level)
    mine, others = trial_groups(targets, nontargets, rng=generator)
    who = {"target_speakers": mine, "nontarget_speakers": others}
    estimate = metric(targets, nontargets, **who, level=level)
    return replace(estimate, n=len(mine) + len(others))
