"""Everything a list of scores says, from one sort: detection, ZEBRA and linkability with intervals and chance levels.

The single metrics live in their own files with their definitions; this file only shares the work between them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from personare.core.findings import Finding
from personare.metrics.intervals import LEVEL, RESAMPLES, bootstrap_many
from personare.metrics.privacy import cllr as cllr_file
from personare.metrics.privacy import detection, zebra
from personare.metrics.privacy import dsys as dsys_file
from personare.metrics.privacy import eer as eer_file
from personare.metrics.privacy.chance import Identities, chance_of_split
from personare.metrics.privacy.levels import checked, levels_of
from personare.metrics.privacy.pav import pav_counts
from personare.metrics.privacy.redraws import BySpeaker, LevelStatistic, level_values, speaker_levels

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

RANK_METRICS: Mapping[str, LevelStatistic] = {
    "eer": eer_file.eer_of_levels,
    "min_cllr": cllr_file.min_cllr_of_levels,
    "d_ece": zebra.d_ece_of_levels,
    "log10_l": zebra.log10_l_of_levels,
}


@dataclass(frozen=True)
class ScoreSummary:
    """All findings about one list of scores, the tag of Table 1, and the largest log10(l) so few trials can show."""

    findings: tuple[Finding, ...]
    tag: str
    log10_l_maximum: float
    targets: int
    nontargets: int


def score_values(targets: ArrayLike, nontargets: ArrayLike) -> dict[str, float]:
    """Compute EER (ROCCH), min Cllr, D_ECE, log10(l), Cllr and the calibration loss from one sort, without intervals.

    >>> values = score_values([2.0, 3.0], [-1.0, 0.0])
    >>> values["eer"], values["min_cllr"], round(values["d_ece"], 4)
    (0.0, 0.0, 0.7213)
    """
    levels = levels_of(targets, nontargets)
    blocks = pav_counts(levels.targets, levels.nontargets)
    values = {name: statistic(*blocks) for name, statistic in RANK_METRICS.items()}
    values["cllr"] = cllr_file.cllr(targets, nontargets)
    values["calibration_loss"] = values["cllr"] - values["min_cllr"]
    return values


def score_summary(
    targets: ArrayLike,
    nontargets: ArrayLike,
    *,
    dcf_prior: float,
    identities: Identities | None = None,
    **how: Unpack[BySpeaker],
) -> ScoreSummary:
    """Compute every score metric with its interval over redrawn speakers and its chance level for these trials.

    Parameters
    ----------
    dcf_prior : the prior of a target that min DCF is computed for, with equal costs.
    identities : who was compared with whom, for the chance level; without, it shuffles labels.
    """
    t, n = checked(targets, "target"), checked(nontargets, "nontarget")
    conditions = {"targets": len(t), "nontargets": len(n)}
    before, dcf = _statistics(dcf_prior, 0.0), {**conditions, "prior": dcf_prior, "cost_miss": 1, "cost_false_alarm": 1}
    levels = chance_of_split(t, n, [*before.values()], identities=identities, rng=how["rng"])
    chances = dict(zip(before, levels, strict=True))
    estimates = _joint(t, n, _statistics(dcf_prior, chances["dsys"]), **how)
    findings = [
        Finding(eer_file.CARD, eer_file.never_certain(estimates["eer"]), conditions, chance=chances["eer"]),
        Finding(eer_file.KALDI_CARD, eer_file.kaldi_eer_estimate(t, n, **how), conditions),
        Finding(cllr_file.CARD, estimates["cllr"], conditions),
        Finding(cllr_file.MIN_CARD, estimates["min_cllr"], conditions, chance=chances["min_cllr"]),
        Finding(cllr_file.LOSS_CARD, estimates["calibration_loss"], conditions),
        Finding(detection.CARD, estimates["min_dcf"], dcf),
        Finding(zebra.CARD, estimates["d_ece"], conditions, chance=chances["d_ece"]),
        Finding(zebra.WORST_CARD, estimates["log10_l"], conditions, chance=chances["log10_l"]),
        Finding(dsys_file.CARD, estimates["dsys"], conditions),
    ]
    if len(t) >= dsys_file.FEWEST_TARGETS and min(t.min(), n.min()) < max(t.max(), n.max()):
        estimate = dsys_file.dsys_reference_estimate(t, n, **how)
        findings.append(Finding(dsys_file.REFERENCE_CARD, estimate, conditions))
    limit = zebra.log10_l_maximum(len(t), len(n))
    return ScoreSummary(tuple(findings), zebra.tag(estimates["log10_l"].value), limit, len(t), len(n))


def _statistics(dcf_prior: float, dsys_chance: float) -> dict[str, LevelStatistic]:
    corrected = dsys_file.chance_corrected(dsys_chance)
    return {**RANK_METRICS, "min_dcf": detection.dcf_of_levels(dcf_prior), "dsys": corrected}


def _joint(t: Any, n: Any, statistics: dict[str, LevelStatistic], **how: Unpack[BySpeaker]) -> dict[str, Any]:
    """Estimate the rank metrics, Cllr and the calibration loss from the same redraws."""
    who: dict[str, Any] = {name: how[name] for name in ("target_speakers", "nontarget_speakers")}
    ranked = level_values(speaker_levels(t, n, **who), [*statistics.values()])
    actual, speakers = cllr_file.cllr_values(t, n, **who)
    names = [*statistics, "cllr", "calibration_loss"]
    least = names.index("min_cllr")

    def values(drawn: Floats) -> Floats:
        ranks, cost = ranked(drawn), actual(drawn)
        return np.column_stack([ranks, cost, cost - ranks[:, least]])

    bounds = dict.fromkeys(names, (0.0, 1.0))
    bounds |= {"eer": eer_file.CARD.bounds, "d_ece": zebra.CARD.bounds, "cllr": cllr_file.CARD.bounds}
    bounds |= {"log10_l": (0.0, zebra.log10_l_maximum(len(t), len(n))), "calibration_loss": cllr_file.LOSS_CARD.bounds}
    estimates = bootstrap_many(
        values,
        speakers=speakers,
        rng=how["rng"],
        resamples=how.get("resamples", RESAMPLES),
        level=how.get("level", LEVEL),
        centred=True,
        bounds=[*bounds.values()],
    )
    return dict(zip(names, estimates, strict=True))
