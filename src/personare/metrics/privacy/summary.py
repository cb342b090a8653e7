"""Everything a list of scores says, from one sort: detection, ZEBRA and linkability with intervals and chance levels.

The single metrics live in their own files with their definitions; this file only shares the work between them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from personare.core.findings import Estimate, Finding
from personare.metrics.intervals import ISOTONIC, LEVEL, from_left_out
from personare.metrics.privacy import cllr as cllr_file
from personare.metrics.privacy import detection, zebra
from personare.metrics.privacy import dsys as dsys_file
from personare.metrics.privacy import eer as eer_file
from personare.metrics.privacy.chance import Identities, chance_of_split
from personare.metrics.privacy.levels import checked, levels_of
from personare.metrics.privacy.pav import pav_counts
from personare.metrics.privacy.redraws import BySpeaker, LevelStatistic, left_out, level_values

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
    values = {name: float(statistic(*blocks)) for name, statistic in RANK_METRICS.items()}
    values["cllr"] = cllr_file.cllr(targets, nontargets)
    values["calibration_loss"] = values["cllr"] - values["min_cllr"]
    return values


def score_summary(
    targets: ArrayLike,
    nontargets: ArrayLike,
    *,
    dcf_prior: float,
    identities: Identities | None = None,
    rng: np.random.Generator,
    deals: int | None = None,
    **how: Unpack[BySpeaker],
) -> ScoreSummary:
    """Compute every score metric with its interval and its chance level for these trials.

    Parameters
    ----------
    dcf_prior : the prior of a target that min DCF is computed for, with equal costs.
    identities : who was compared with whom, for the chance level; without, it shuffles labels.
    deals : how often, see ``chance``.
    """
    t, n = checked(targets, "target"), checked(nontargets, "nontarget")
    conditions = {"targets": len(t), "nontargets": len(n)}
    dcf = {**conditions, "prior": dcf_prior, "cost_miss": 1, "cost_false_alarm": 1}
    before = _statistics(dcf_prior, 0.0)
    kaldi = [eer_file.kaldi_eer_of_levels]
    each = chance_of_split(t, n, [*before.values()], identities=identities, rng=rng, deals=deals, raw=kaldi)
    dealt = dict(zip([*before, "eer_kaldi"], each, strict=True))
    if identities is not None:
        how["nontarget_enrolled"] = identities.nontarget_enrolled
    estimates = _joint(t, n, _statistics(dcf_prior, dealt["dsys"].mean), **how)
    plain_dsys = dsys_file.dsys_of_levels(*_levels(t, n))
    better, worse = dealt["dsys"].tails(plain_dsys, attacker_wants_more=True)
    findings = [
        dealt["eer"].finding(eer_file.CARD, estimates["eer"], conditions),
        dealt["eer_kaldi"].finding(eer_file.KALDI_CARD, estimates["eer_kaldi"], conditions),
        Finding(cllr_file.CARD, estimates["cllr"], conditions),
        dealt["min_cllr"].finding(cllr_file.MIN_CARD, estimates["min_cllr"], conditions),
        Finding(cllr_file.LOSS_CARD, estimates["calibration_loss"], conditions),
        dealt["min_dcf"].finding(detection.CARD, estimates["min_dcf"], dcf),
        dealt["d_ece"].finding(zebra.CARD, estimates["d_ece"], conditions),
        dealt["log10_l"].finding(zebra.WORST_CARD, estimates["log10_l"], conditions),
        Finding(dsys_file.CARD, estimates["dsys"], conditions, p_better=better, p_worse=worse),
    ]
    if len(t) >= dsys_file.FEWEST_TARGETS and min(t.min(), n.min()) < max(t.max(), n.max()):
        estimate = dsys_file.dsys_reference_estimate(t, n, **how)
        findings.append(Finding(dsys_file.REFERENCE_CARD, estimate, conditions))
    limit = zebra.log10_l_maximum(len(t), len(n))
    return ScoreSummary(tuple(findings), zebra.tag(estimates["log10_l"].value), limit, len(t), len(n))


def _statistics(dcf_prior: float, dsys_chance: float) -> dict[str, LevelStatistic]:
    corrected = dsys_file.chance_corrected(dsys_chance)
    return {**RANK_METRICS, "min_dcf": detection.dcf_of_levels(dcf_prior), "dsys": corrected}


def _levels(t: Any, n: Any) -> tuple[Any, Any]:
    levels = levels_of(t, n)
    return levels.targets, levels.nontargets


def _joint(t: Any, n: Any, statistics: dict[str, LevelStatistic], **how: Unpack[BySpeaker]) -> dict[str, Estimate]:
    """Estimate the rank metrics, Cllr and the calibration loss, leaving out each speaker once for all of them."""
    out = left_out(len(t), len(n), **how)
    ranked = level_values(t, n, [*statistics.values()], out, raw=[eer_file.kaldi_eer_of_levels])
    cost = cllr_file.cllr_values(t, n, out)
    names = [*statistics, "eer_kaldi", "cllr", "calibration_loss"]
    values = np.column_stack([ranked, cost, cost - ranked[:, names.index("min_cllr")]])
    bounds = dict.fromkeys(names, (0.0, 1.0))
    bounds |= {"eer": eer_file.CARD.bounds, "d_ece": zebra.CARD.bounds, "cllr": cllr_file.CARD.bounds}
    bounds |= {"log10_l": zebra.WORST_CARD.bounds, "calibration_loss": cllr_file.LOSS_CARD.bounds}
    level = how.get("level", LEVEL)
    factors = [dsys_file.BIAS_FACTOR if name == "dsys" else ISOTONIC for name in names]
    ends = [bounds[name] for name in names]
    estimates = from_left_out(values, speakers=out.speakers, level=level, bounds=ends, bias_factors=factors)
    found = dict(zip(names, estimates, strict=True))
    return found | {"log10_l": replace(found["log10_l"], low=math.nan, high=math.nan)}
