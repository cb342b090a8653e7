"""Cost of log-likelihood ratios (Cllr): how many bits of doubt the scores leave, or add when they mislead.

Cllr     = 1/2 [ mean_targets log2(1 + e^-s) + mean_nontargets log2(1 + e^s) ]          [brummer2006cllr]
min Cllr = Cllr of the oracle-calibrated scores (PAV)                        [tomashenko2022voiceprivacy, sec. 2.3.1]
calibration loss = Cllr - min Cllr

Scores count as natural-log likelihood ratios. An attacker who always says 0 has Cllr 1; wrong confidence costs more.
Deviations: log(1 + e^x) never overflows; ties are pooled in PAV. With x and y the shares of targets and nontargets in
each PAV block, min Cllr is written as 1/2 sum x log2((x + y) / x) + y log2((x + y) / y): the same number.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from personare.core.findings import Estimate, MetricCard
from personare.metrics.intervals import LEVEL, from_left_out
from personare.metrics.privacy.levels import checked, levels_of
from personare.metrics.privacy.pav import pav_counts
from personare.metrics.privacy.redraws import BySpeaker, LeftOut, left_out, level_estimate, level_values

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
PIECE = 1 << 15
CARD = MetricCard(
    name="cllr",
    title="Cllr",
    better="higher",
    bounds=(0.0, math.inf),
    chance=None,
    cite="brummer2006cllr",
    reading="bits the attacker still lacks when the scores are taken at their word; 1 is no information",
    caution="large values mean badly calibrated scores, not privacy: the attacker can calibrate; read min Cllr",
    unit="bit",
)
MIN_CARD = MetricCard(
    name="min_cllr",
    title="min Cllr (PAV)",
    better="higher",
    bounds=(0.0, 1.0),
    chance=1.0,
    cite="brummer2006cllr; tomashenko2022voiceprivacy, sec. 2.3.1",
    reading="bits the attacker still lacks after the best calibration, at even odds; 1 is no information",
    caution="the calibration knows the labels: with few trials noise alone lowers it; compare with the chance level",
    unit="bit",
)
LOSS_CARD = MetricCard(
    name="calibration_loss",
    title="Calibration loss (Cllr - min Cllr)",
    better="higher",
    bounds=(0.0, math.inf),
    chance=None,
    cite="brummer2006cllr; tomashenko2022voiceprivacy, sec. 2.3.1",
    reading="bits lost because the scores are no honest likelihood ratios",
    caution="no protection: an attacker removes it by calibrating",
    unit="bit",
)


def cllr(targets: ArrayLike, nontargets: ArrayLike) -> float:
    """Compute Cllr of scores that are natural-log likelihood ratios.

    >>> cllr([0, 0], [0]), round(cllr([-1e9], [0]), 1)
    (1.0, 721347520.9)
    """
    t, n = checked(targets, "target"), checked(nontargets, "nontarget")
    return (_mean_softplus_bits(-1.0, t) + _mean_softplus_bits(1.0, n)) / 2


def min_cllr(targets: ArrayLike, nontargets: ArrayLike) -> float:
    """Compute Cllr after oracle calibration.

    >>> min_cllr([1, 2], [0, -1]), min_cllr([0, 0], [0])
    (0.0, 1.0)
    """
    levels = levels_of(targets, nontargets)
    return float(min_cllr_of_levels(levels.targets, levels.nontargets))


def calibration_loss(targets: ArrayLike, nontargets: ArrayLike) -> float:
    """Compute how much of Cllr an attacker removes by calibrating."""
    return cllr(targets, nontargets) - min_cllr(targets, nontargets)


def min_cllr_of_levels(targets: Any, nontargets: Any) -> Any:
    """Compute min Cllr from the weight of both classes at each level, lowest scores first, [..., levels]."""
    t, n = pav_counts(targets, nontargets)
    x, y = t / t.sum(axis=-1, keepdims=True), n / n.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        own, other = np.where(x > 0, x * np.log2(1 + y / x), 0.0), np.where(y > 0, y * np.log2(1 + x / y), 0.0)
    return np.minimum(1.0, (own.sum(axis=-1) + other.sum(axis=-1)) / 2)


def cllr_estimate(targets: ArrayLike, nontargets: ArrayLike, **how: Unpack[BySpeaker]) -> Estimate:
    """Compute Cllr with an interval from leaving out speakers; n = speakers."""
    out = left_out(np.size(targets), np.size(nontargets), **how)
    values = cllr_values(targets, nontargets, out)[:, None]
    return from_left_out(values, speakers=out.speakers, level=how.get("level", LEVEL), bounds=[CARD.bounds])[0]


def min_cllr_estimate(targets: ArrayLike, nontargets: ArrayLike, **how: Unpack[BySpeaker]) -> Estimate:
    """Compute min Cllr with an interval from leaving out speakers; n = speakers."""
    return level_estimate(min_cllr_of_levels, targets, nontargets, bounds=MIN_CARD.bounds, **how)


def calibration_loss_estimate(targets: ArrayLike, nontargets: ArrayLike, **how: Unpack[BySpeaker]) -> Estimate:
    """Compute Cllr - min Cllr with an interval from leaving out speakers; n = speakers."""
    out = left_out(np.size(targets), np.size(nontargets), **how)
    values = cllr_values(targets, nontargets, out)[:, None]
    values = values - level_values(targets, nontargets, [min_cllr_of_levels], out)
    return from_left_out(values, speakers=out.speakers, level=how.get("level", LEVEL), bounds=[LOSS_CARD.bounds])[0]


def cllr_values(targets: ArrayLike, nontargets: ArrayLike, out: LeftOut) -> Floats:
    """Compute Cllr of all trials, then without each group of speakers [1 + groups], from sums per group."""
    t, n = checked(targets, "target"), checked(nontargets, "nontarget")
    means = []
    for bits, of_nontargets in ((softplus_bits(-t), False), (softplus_bits(n), True)):
        rows = np.arange(len(bits))
        lost = out.lost(rows, (len(bits), out.groups), nontargets=of_nontargets).tocsc()
        sums, counts = bits.sum() - bits @ lost, len(bits) - np.ones(len(bits)) @ lost
        with np.errstate(divide="ignore", invalid="ignore"):
            means.append(np.append(bits.mean(), np.where(counts > 0, sums / counts, math.nan)))
    values: Floats = (means[0] + means[1]) / 2
    return values[:1] if out.groups == 1 else values


def _mean_softplus_bits(sign: float, scores: Any) -> float:
    """Average log2(1 + e^(sign * score)) piece by piece, so that no large array exists."""
    pieces = range(0, len(scores), PIECE)
    return math.fsum(softplus_bits(sign * scores[i : i + PIECE]).sum() for i in pieces) / len(scores)


def softplus_bits(x: Any) -> Floats:
    """Compute log2(1 + e^x) without overflow."""
    bits: Floats = (np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x, dtype=np.float64)))) / math.log(2)
    return bits
