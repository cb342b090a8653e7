"""Equal error rate: how often the attacker errs when both kinds of error are equally frequent.

EER = P_miss(t) = P_fa(t)                                               [tomashenko2022voiceprivacy, sec. 2.3.1]

The sentence is one, the numbers are many, because real scores never meet it exactly. Two definitions live here:

rocch_eer  where the convex hull of the ROC meets P_miss = P_fa; never above 0.5   [brummer2010thesis]
kaldi_eer  Kaldi's ``compute-eer``, which walks through the sorted targets; may exceed 0.5   [povey2011kaldi]

Chance is 0.5. The hull of pure noise lies a little below it, the more so the fewer the trials.
Deviations: ties are pooled before the hull is built (the reference breaks each tie for the attacker).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.findings import Estimate, Finding, MetricCard
from personare.metrics.intervals import LEVEL, RESAMPLES, speaker_bootstrap, wilson
from personare.metrics.privacy.chance import Identities, chance_of_split
from personare.metrics.privacy.levels import checked, levels_of
from personare.metrics.privacy.pav import hull_of_levels
from personare.metrics.privacy.redraws import level_estimate, speaker_numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

CARD = MetricCard(
    name="eer",
    title="EER (ROCCH)",
    better="higher",
    bounds=(0.0, 0.5),
    chance=0.5,
    cite="brummer2010thesis; vauquier2025legal",
    reading="share of wrong answers of an attacker whose two kinds of error are equally frequent; 0.5 is guessing",
    caution="an average over all speakers and one threshold: one person may be exposed while the EER looks safe",
    unit="%",
)
KALDI_CARD = MetricCard(
    name="eer_kaldi",
    title="EER (Kaldi compute-eer)",
    better="higher",
    bounds=(0.0, 1.0),
    chance=0.5,
    cite="povey2011kaldi; tomashenko2022voiceprivacy",
    reading="as published by VoicePrivacy 2020 and 2022; compare only with numbers of the same definition",
    caution="above 0.5 the attacker could turn the answers around: it does not mean more privacy than 0.5",
    unit="%",
)


def rocch_eer(targets: ArrayLike, nontargets: ArrayLike) -> float:
    """Compute the EER on the convex hull of the ROC; higher scores mean "same speaker".

    >>> rocch_eer([2, 3, 4], [0, 1]), rocch_eer([1, 1], [1, 1, 1]), rocch_eer([0, 1], [2, 3])
    (0.0, 0.5, 0.5)
    """
    levels = levels_of(targets, nontargets)
    return eer_of_levels(levels.targets, levels.nontargets)


def eer_of_levels(targets: Any, nontargets: Any) -> float:
    """Compute the ROCCH-EER from the weight of both classes at each level, lowest scores first."""
    miss, false_alarm = hull_of_levels(targets, nontargets)
    excess = miss - false_alarm
    after = int(np.searchsorted(excess, 0.0))
    part = -excess[after - 1] / (excess[after] - excess[after - 1])
    return float(min(0.5, miss[after - 1] + part * (miss[after] - miss[after - 1])))


def rocch_eer_estimate(
    targets: ArrayLike,
    nontargets: ArrayLike,
    *,
    target_speakers: ArrayLike,
    nontarget_speakers: ArrayLike,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Estimate:
    """Compute the ROCCH-EER with an interval over redrawn speakers; one speaker id per trial, n = speakers.

    >>> rng = np.random.default_rng(1)
    >>> rocch_eer_estimate([1, 2, 3], [0, 1, 2], target_speakers="abc", nontarget_speakers="abc", rng=rng)
    Traceback (most recent call last):
    personare.core.errors.MetricError: each target trial needs one speaker: 3 scores, speakers []
    >>> rocch_eer_estimate([1, 2], [0, 0], target_speakers=["a", "b"], nontarget_speakers=["a", "b"], rng=rng)
    Estimate(value=0.0, low=0.0, high=0.5, n=2)
    """
    estimate = level_estimate(
        eer_of_levels,
        targets,
        nontargets,
        bounds=CARD.bounds,
        target_speakers=target_speakers,
        nontarget_speakers=nontarget_speakers,
        rng=rng,
        resamples=resamples,
        level=level,
    )
    return never_certain(estimate, level=level)


def eer_finding(
    targets: ArrayLike,
    nontargets: ArrayLike,
    *,
    target_speakers: ArrayLike,
    nontarget_speakers: ArrayLike,
    identities: Identities | None = None,
    conditions: Mapping[str, str | int | float] | None = None,
    failed: int = 0,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Finding:
    """Compute the ROCCH-EER with its interval and what chance gives on these very trials.

    ``identities`` tell who was compared with whom, for the chance level; without, it shuffles labels.
    """
    who: dict[str, ArrayLike] = {"target_speakers": target_speakers, "nontarget_speakers": nontarget_speakers}
    estimate = rocch_eer_estimate(targets, nontargets, **who, rng=rng, resamples=resamples, level=level)
    (chance,) = chance_of_split(targets, nontargets, [eer_of_levels], identities=identities, rng=rng)
    return Finding(CARD, estimate, conditions or {}, failed, chance)


def never_certain(estimate: Estimate, *, level: float = LEVEL) -> Estimate:
    """Widen the interval of an attacker who made no error: no redraw of such speakers can show one.

    The upper end is Wilson's for no failing speaker among n: few speakers without an error prove little.
    """
    if estimate.value > 0 or estimate.high > 0:
        return estimate
    return Estimate(0.0, 0.0, min(CARD.bounds[1], wilson(0, estimate.n, level=level).high), estimate.n)


def kaldi_eer(targets: ArrayLike, nontargets: ArrayLike) -> float:
    """Compute the EER by Kaldi's rule: the first target that beats its mirror among the nontargets.

    Position i of the n_t sorted targets is compared with position n_n - 1 - floor(n_n i / n_t) of the sorted
    nontargets; the EER is i / n_t at the first i where the target is higher, else at the last i.

    >>> kaldi_eer([2, 3, 4], [0, 1]), kaldi_eer([0, 1, 2, 3], [4, 5])
    (0.0, 0.75)
    """
    t, n = np.sort(checked(targets, "target")), np.sort(checked(nontargets, "nontarget"))
    return _walk(t, np.arange(1, len(t) + 1), n, np.arange(1, len(n) + 1))


def kaldi_eer_estimate(
    targets: ArrayLike,
    nontargets: ArrayLike,
    *,
    target_speakers: ArrayLike,
    nontarget_speakers: ArrayLike,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Estimate:
    """Compute Kaldi's EER with an interval over redrawn speakers; one speaker id per trial, n = speakers."""
    t, n = checked(targets, "target"), checked(nontargets, "nontarget")
    t_who, n_who, speakers = speaker_numbers(target_speakers, nontarget_speakers, len(t), len(n))
    t_order, n_order = np.argsort(t, kind="stable"), np.argsort(n, kind="stable")
    t, n, t_who, n_who = t[t_order], n[n_order], t_who[t_order], n_who[n_order]

    def walked(drawn: Floats) -> Floats:
        return np.array([_walk(t, np.cumsum(row[t_who]), n, np.cumsum(row[n_who])) for row in drawn])

    return speaker_bootstrap(walked, speakers=speakers, rng=rng, resamples=resamples, level=level)


def _walk(t: Any, t_counted: Any, n: Any, n_counted: Any) -> float:
    """Apply Kaldi's rule to sorted scores that count more than once; the counts come as running sums.

    The comparison changes its answer only once along the walk, so a bisection finds the place Kaldi walks to.
    """
    t_total, n_total = int(t_counted[-1]), int(n_counted[-1])
    if not t_total or not n_total:
        return float("nan")

    def beaten(i: int) -> bool:
        mirror = max(0, n_total - 1 - int(n_total * i / t_total))
        nontarget = n[np.searchsorted(n_counted, mirror, side="right")]
        return bool(nontarget < t[np.searchsorted(t_counted, i, side="right")])

    low, high = 0, t_total - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if beaten(middle) else (middle + 1, high)
    return low / t_total
