"""Global linkability D_sys: how far a score lets the attacker say "the same person" rather than "two persons".

D(s)  = 2 w LR(s) / (1 + w LR(s)) - 1 where w LR(s) > 1, else 0;  LR(s) = p(s | mated) / p(s | non-mated)
D_sys = integral of D(s) p(s | mated) ds                               [gomezbarrero2018unlinkability]

w is the ratio of the priors of mated (target) and non-mated (nontarget) trials. Two estimators of the same number:

dsys_reference  histograms of min(n_t / 10, 100) bins and the trapezoid rule, as in the code behind published values
                [maouche2020linkability]. Pure noise gives about 0.06 at challenge sizes, perfect separation never 1.
dsys            LR by PAV, the mean of D over targets, and what chance gives on these trials taken out:
                (D - D_chance) / (1 - D_chance), not below 0. Noise tends to 0, perfect separation gives 1.

Deviations: ``dsys_reference`` refuses fewer than 20 targets and scores that are all equal, where the public code
silently gives 0 or NaN. ``dsys`` assumes that higher scores never mean less likely the same speaker, as all attackers
here do; inverted scores give 0 where histograms would see them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import Estimate, MetricCard
from personare.metrics.intervals import LEVEL, from_left_out
from personare.metrics.privacy.chance import Identities, chance_of_split, shuffled_levels
from personare.metrics.privacy.levels import checked, levels_of
from personare.metrics.privacy.pav import pav_counts
from personare.metrics.privacy.redraws import BySpeaker, LevelStatistic, left_out, level_estimate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

CARD = MetricCard(
    name="dsys",
    title="Linkability D_sys (PAV, chance taken out)",
    better="lower",
    bounds=(0.0, 1.0),
    chance=0.0,
    cite="gomezbarrero2018unlinkability",
    reading="0: scores of one person look like scores of two; 1: the attacker can always tell",
    caution="an average over target trials; assumes that higher scores mean more alike",
)
REFERENCE_CARD = MetricCard(
    name="dsys_reference",
    title="Linkability D_sys (reference histograms)",
    better="lower",
    bounds=(0.0, 1.0),
    chance=None,
    cite="maouche2020linkability",
    reading="comparable with published D_sys values; depends on the number of target trials",
    caution="pure noise gives about 0.06 and perfect separation less than 1; fewer than 20 targets are refused",
)
FEWEST_TARGETS = 20
BIAS_FACTOR = 0.0  # what an isotonic fit finds in few speakers is chance, and that is taken out already


def dsys(targets: ArrayLike, nontargets: ArrayLike, *, rng: np.random.Generator, w: float = 1.0) -> float:
    """Compute D_sys with chance taken out; ``rng`` shuffles the labels.

    >>> dsys([2, 3], [0, 1], rng=np.random.default_rng(1)), dsys([0] * 9, [0] * 90, rng=np.random.default_rng(1))
    (1.0, 0.0)
    """
    levels = levels_of(targets, nontargets)
    (dealt,) = shuffled_levels(targets, nontargets, [_plain(w)], rng=rng)
    return float(chance_corrected(dealt.mean, w)(levels.targets, levels.nontargets))


def dsys_estimate(
    targets: ArrayLike,
    nontargets: ArrayLike,
    *,
    w: float = 1.0,
    identities: Identities | None = None,
    rng: np.random.Generator,
    **how: Unpack[BySpeaker],
) -> Estimate:
    """Compute D_sys with chance taken out and an interval over redrawn speakers; n = speakers.

    ``identities`` tell who was compared with whom, for the chance level; without, it shuffles labels.
    """
    (dealt,) = chance_of_split(targets, nontargets, [_plain(w)], identities=identities, rng=rng)
    statistic = chance_corrected(dealt.mean, w)
    return level_estimate(statistic, targets, nontargets, bounds=CARD.bounds, bias_factor=BIAS_FACTOR, **how)


def dsys_of_levels(targets: Any, nontargets: Any, w: float = 1.0) -> Any:
    """Compute the plain PAV estimate, chance still in it, from the weight of both classes at each level, [..., k]."""
    t, n = pav_counts(targets, nontargets)
    share, y = t / t.sum(axis=-1, keepdims=True), n / n.sum(axis=-1, keepdims=True)
    x = w * share
    linked = np.where(x > y, share * (x - y) / np.where(x > y, x + y, 1.0), 0.0)
    return np.minimum(1.0, linked.sum(axis=-1))


def chance_corrected(chance: float, w: float = 1.0) -> LevelStatistic:
    """Make the level statistic (D - chance) / (1 - chance), not below 0."""

    def corrected(targets: Any, nontargets: Any) -> Any:
        plain = dsys_of_levels(targets, nontargets, w)
        return np.maximum(0.0, (plain - chance) / (1 - chance)) if chance < 1 else np.ones_like(plain)

    return corrected


def dsys_reference(targets: ArrayLike, nontargets: ArrayLike, *, w: float = 1.0) -> float:
    """Compute D_sys as the public reference does, to compare with published values."""
    t, n = checked(targets, "target"), checked(nontargets, "nontarget")
    edges = _edges(t, n)
    return float(_histogram_dsys(np.histogram(t, edges)[0][None], np.histogram(n, edges)[0][None], edges, w)[0])


def dsys_reference_estimate(
    targets: ArrayLike, nontargets: ArrayLike, *, w: float = 1.0, **how: Unpack[BySpeaker]
) -> Estimate:
    """Compute the reference D_sys with an interval from leaving out speakers; the bins stay those of the data."""
    t, n = checked(targets, "target"), checked(nontargets, "nontarget")
    edges = _edges(t, n)
    out = left_out(len(t), len(n), **how)
    shape = (len(edges) - 1, out.groups)
    kept = []
    for scores, of_nontargets in ((t, False), (n, True)):
        bins = np.clip(np.searchsorted(edges, scores, side="right") - 1, 0, shape[0] - 1)
        all_of_them = np.histogram(scores, edges)[0].astype(np.float64)
        lost = out.lost(bins, shape, nontargets=of_nontargets).toarray()
        kept.append(np.vstack([all_of_them, all_of_them - lost.T]))
    values = _histogram_dsys(kept[0], kept[1], edges, w)[: None if out.groups > 1 else 1, None]
    return from_left_out(values, speakers=out.speakers, level=how.get("level", LEVEL), bounds=[CARD.bounds])[0]


def _plain(w: float) -> LevelStatistic:
    """Make the estimate with chance still in it a level statistic."""
    if not w > 0:
        raise MetricError(f"the ratio of priors w is above 0, not {w}")
    return lambda t, n: dsys_of_levels(t, n, w)


def _edges(t: Any, n: Any) -> Floats:
    if len(t) < FEWEST_TARGETS:
        rule = f"the reference D_sys needs at least {FEWEST_TARGETS} target trials, there are {len(t)}"
        raise MetricError(f"{rule}; use the corrected estimator")
    low, high = min(t.min(), n.min()), max(t.max(), n.max())
    if low == high:
        raise MetricError("the reference D_sys needs scores that differ; use the corrected estimator")
    return np.linspace(low, high, min(len(t) // 10, 100) + 1)


def _histogram_dsys(t_counts: Any, n_counts: Any, edges: Floats, w: float) -> Floats:
    """Apply the reference's rule to counts per bin, [rows, bins]; NaN where a class is empty."""
    width = edges[1] - edges[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        y1 = t_counts / (t_counts.sum(axis=1, keepdims=True) * width)
        y2 = n_counts / (n_counts.sum(axis=1, keepdims=True) * width)
        ratio = w * np.where(y2 > 0, y1 / y2, 1.0)
    d = np.where(ratio > 1, 2 * ratio / (1 + ratio) - 1, 0.0)
    d = np.where((y2 == 0) & (y1 > 0), 1.0, d)
    height = d * y1
    areas: Floats = (height[:, 1:] + height[:, :-1]).sum(axis=1) * width / 2  # trapezoids between bin centres
    return areas
