"""ZEBRA: how much the scores tell an attacker whose prior belief we do not know, on average and at worst.

ECE(pi) = pi mean_A log2(1 + (1-pi)/(a pi)) + (1-pi) mean_B log2(1 + b pi/(1-pi))        [nautsch2020zebra, eq. 4]
D_ECE   = ( mean_A Z(a) + mean_B Z(1/b) ) / log 2,  Z(x) = ((x-3)(x-1) + 2 log x) / (4 (x-1)^2)            [eq. 6]
log l   = max |log s| over all oracle-calibrated likelihood ratios s, with Laplace's rule               [eq. 7, 8]

a and b are the likelihood ratios of target (A) and nontarget (B) trials after oracle calibration by PAV. D_ECE is the
area between the profile of zero evidence and the attacker's profile over all priors: 0 to 1/(2 log 2) = 0.7213 bit.

Deviations: ties are pooled. Where the plain calibration finds no evidence at all (one PAV block), log l is 0: Laplace's
added trials alone would show a trace of it, and tag 0 could never be reached. Tags close their intervals as Table 1
does (the reference code closes them on the other side).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import Estimate, MetricCard
from personare.metrics.privacy.cllr import softplus_bits
from personare.metrics.privacy.levels import checked, levels_of
from personare.metrics.privacy.pav import pav_counts, pav_rows
from personare.metrics.privacy.redraws import BySpeaker, left_out, level_estimate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

D_ECE_MAX = 1 / (2 * math.log(2))
CARD = MetricCard(
    name="d_ece",
    title="ZEBRA expected disclosure D_ECE",
    better="lower",
    bounds=(0.0, D_ECE_MAX),
    chance=0.0,
    cite="nautsch2020zebra, eq. 6",
    reading="bits an attacker gains on average, whatever the prior belief; 0 is zero evidence, 0.7213 no privacy",
    caution="the calibration knows the labels: with few trials noise alone raises it; compare with the chance level",
    unit="bit",
)
WORST_CARD = MetricCard(
    name="log10_l",
    title="ZEBRA worst case log10(l)",
    better="lower",
    bounds=(0.0, math.inf),
    chance=0.0,
    cite="nautsch2020zebra, eq. 8",
    reading="orders of magnitude by which the strongest score moves the odds; Table 1 turns it into a tag",
    caution="grows with the number of trials: few trials look safe, there is no interval, compare at equal counts only",
)
TAGS = ((1.0, "A"), (2.0, "B"), (4.0, "C"), (5.0, "D"), (6.0, "E"), (math.inf, "F"))
"""Table 1: a tag holds below its limit, from the limit of the tag before; exactly 0 is tag 0."""


@dataclass(frozen=True, eq=False)
class EceCurve:
    """ECE profiles over the prior, [priors] each: the adversary's minimum, zero evidence, the scores as they are."""

    priors: Floats
    zero_evidence: Floats
    minimum: Floats
    actual: Floats


def d_ece(targets: ArrayLike, nontargets: ArrayLike) -> float:
    """Compute the expected privacy disclosure in bits.

    >>> d_ece([0, 0], [0]), round(d_ece([1, 2], [0, -1]), 4)
    (0.0, 0.7213)
    """
    levels = levels_of(targets, nontargets)
    return float(d_ece_of_levels(levels.targets, levels.nontargets))


def d_ece_estimate(targets: ArrayLike, nontargets: ArrayLike, **how: Unpack[BySpeaker]) -> Estimate:
    """Compute D_ECE with an interval from leaving out speakers; n = speakers."""
    return level_estimate(d_ece_of_levels, targets, nontargets, bounds=CARD.bounds, **how)


def d_ece_of_levels(targets: Any, nontargets: Any) -> Any:
    """Compute D_ECE from the weight of both classes at each level, lowest scores first, [..., levels]."""
    t, n = pav_counts(targets, nontargets)
    x, y = t / t.sum(axis=-1, keepdims=True), n / n.sum(axis=-1, keepdims=True)
    both = ((top * z_of(np.where(top > 0, top, 1.0), bottom)).sum(axis=-1) for top, bottom in ((x, y), (y, x)))
    return np.clip(sum(both) / math.log(2), 0.0, D_ECE_MAX)


def z_of(top: Floats, bottom: Floats) -> Floats:
    """Compute Z of eq. 6 at the ratio top / bottom (top > 0), also where the ratio is 1 or infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = top / bottom
        d = (top - bottom) / bottom
        plain = (d * (d - 2) + 2 * np.log(ratio)) / (4 * d * d)
    # Near 1 the formula is 0/0; its series is sum_k (-1)^(k+1) d^k / (2 (k + 2)).
    small = np.where(np.abs(d) < 0.01, d, 0.0)
    series = sum((-1) ** (k + 1) * small**k / (2 * (k + 2)) for k in range(1, 10))
    z: Floats = np.where(np.abs(d) < 0.01, series, np.where(np.isinf(ratio), 0.25, plain))
    return z


def log10_l(targets: ArrayLike, nontargets: ArrayLike) -> float:
    """Compute the worst-case disclosure: the strongest evidence, for or against, in orders of magnitude.

    >>> log10_l([0] * 5, [0] * 50), round(log10_l([2, 3], [0, 1]), 4)
    (0.0, 0.4771)
    """
    levels = levels_of(targets, nontargets)
    return float(log10_l_of_levels(levels.targets, levels.nontargets))


def log10_l_estimate(targets: ArrayLike, nontargets: ArrayLike, **how: Unpack[BySpeaker]) -> Estimate:
    """Compute log10(l); n = speakers. It has no interval: it grows with the number of trials, endlessly."""
    out = left_out(np.size(targets), np.size(nontargets), **how)
    return Estimate(log10_l(targets, nontargets), math.nan, math.nan, out.speakers)


def log10_l_of_levels(targets: Any, nontargets: Any) -> Any:
    """Compute log10(l) from the weight of both classes at each level, lowest scores first, [..., levels]."""
    blocks = [
        np.atleast_2d(side) for side in pav_counts(targets, nontargets)
    ]  # Laplace's trials only join them further
    one = np.ones((len(blocks[0]), 1))
    t, n = (np.concatenate([one, side, one], axis=1) for side in blocks)
    real = np.concatenate([0 * one, blocks[0] + blocks[1], 0 * one], axis=1)
    pooled_t, pooled_n, kept = pav_rows(t, n, real)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (pooled_t * blocks[1].sum(axis=1, keepdims=True)) / (pooled_n * blocks[0].sum(axis=1, keepdims=True))
        strength = np.where(kept > 0, np.log10(np.maximum(ratio, 1 / ratio)), 0.0).max(axis=1)
    found = np.where((blocks[0] + blocks[1] > 0).sum(axis=1) > 1, strength, 0.0)
    return found if targets.ndim == 2 else found[0]


def log10_l_maximum(targets: int, nontargets: int) -> float:
    """Compute the log10(l) of perfect separation: no scores of so many trials can exceed it.

    >>> round(log10_l_maximum(548, 11196), 2)
    4.05
    """
    if targets < 1 or nontargets < 1:
        raise MetricError(f"there must be trials of both classes, not {targets} targets and {nontargets} nontargets")
    return math.log10(max(nontargets * (targets + 1) / targets, targets * (nontargets + 1) / nontargets))


def tag(log10_l: float) -> str:
    """Name the category of Table 1 that a worst-case disclosure lies in.

    >>> [tag(x) for x in (0.0, 0.5, 1.0, 2.0, 4.0, 5.0, 6.0)]
    ['0', 'A', 'B', 'C', 'D', 'E', 'F']
    """
    if not log10_l >= 0:
        raise MetricError(f"log10(l) is 0 or more, not {log10_l}")
    return "0" if log10_l == 0 else next(name for limit, name in TAGS if log10_l < limit or limit == math.inf)


def ece(target_llrs: ArrayLike, nontarget_llrs: ArrayLike, priors: ArrayLike) -> Floats:
    """Compute eq. 4 for natural-log likelihood ratios at each prior of a target, [priors].

    >>> ece([0.0], [0.0], [0.0, 0.5, 1.0]).tolist()
    [0.0, 1.0, 0.0]
    """
    t, n = checked(target_llrs, "target"), checked(nontarget_llrs, "nontarget")
    ones_t, ones_n = np.full(len(t), 1 / len(t)), np.full(len(n), 1 / len(n))
    return _profile(t.astype(np.float64), ones_t, n.astype(np.float64), ones_n, _checked_priors(priors))


def ece_curve(targets: ArrayLike, nontargets: ArrayLike, *, priors: ArrayLike) -> EceCurve:
    """Compute the profiles of ZEBRA's figures 2 and 3 at these priors of a target."""
    pi = _checked_priors(priors)
    levels = levels_of(targets, nontargets)
    t, n = pav_counts(levels.targets, levels.nontargets)
    x, y = t / t.sum(), n / n.sum()
    with np.errstate(divide="ignore"):
        llr = np.log(x) - np.log(y)
    zero = np.zeros(1)
    return EceCurve(
        priors=pi,
        zero_evidence=_profile(zero, np.ones(1), zero, np.ones(1), pi),
        minimum=_profile(llr[x > 0], x[x > 0], llr[y > 0], y[y > 0], pi),
        actual=ece(targets, nontargets, pi),
    )


def _profile(t_llr: Floats, t_share: Floats, n_llr: Floats, n_share: Floats, priors: Floats) -> Floats:
    bits = np.zeros(len(priors))
    for i in np.flatnonzero((priors > 0) & (priors < 1)):
        pi = priors[i]
        log_odds = math.log(pi / (1 - pi))
        t_bits, n_bits = softplus_bits(-t_llr - log_odds), softplus_bits(n_llr + log_odds)
        bits[i] = pi * (t_share * t_bits).sum() + (1 - pi) * (n_share * n_bits).sum()
    return bits


def _checked_priors(priors: ArrayLike) -> Floats:
    pi = np.asarray(priors, dtype=np.float64)
    if pi.ndim != 1 or not len(pi) or not ((pi >= 0) & (pi <= 1)).all():
        raise MetricError("priors must be one list of numbers from 0 to 1")
    return pi
