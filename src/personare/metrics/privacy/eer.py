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
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from personare.core.findings import Estimate, Finding, MetricCard
from personare.metrics.intervals import LEVEL, from_left_out
from personare.metrics.privacy.chance import Identities, chance_of_split
from personare.metrics.privacy.levels import checked, levels_of
from personare.metrics.privacy.pav import hull_of_levels
from personare.metrics.privacy.redraws import BySpeaker, left_out, level_estimate, level_values

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
    return float(eer_of_levels(levels.targets, levels.nontargets))


def eer_of_levels(targets: Any, nontargets: Any) -> Any:
    """Compute the ROCCH-EER from the weight of both classes at each level, lowest scores first, [..., levels]."""
    miss, false_alarm = hull_of_levels(targets, nontargets)
    excess = miss - false_alarm
    after = (excess >= 0).argmax(axis=-1)[..., None]
    (low, high), (start, end) = (
        [np.take_along_axis(side, place, axis=-1)[..., 0] for place in (after - 1, after)] for side in (excess, miss)
    )
    return np.minimum(0.5, start + -low / (high - low) * (end - start))


def rocch_eer_estimate(targets: ArrayLike, nontargets: ArrayLike, **how: Unpack[BySpeaker]) -> Estimate:
    """Compute the ROCCH-EER with an interval from leaving out speakers; one speaker id per trial, n = speakers.

    >>> rocch_eer_estimate([1, 2, 3], [0, 1, 2], target_speakers="abc", nontarget_speakers="abc")
    Traceback (most recent call last):
    personare.core.errors.MetricError: each target trial needs one speaker: 3 scores, speakers []
    >>> error = rocch_eer_estimate([1, 2], [0, 0], target_speakers=["a", "b"], nontarget_speakers=["a", "b"])
    >>> error.value, round(error.high, 3)  # two speakers without an error prove little
    (0.0, 0.5)
    """
    return level_estimate(eer_of_levels, targets, nontargets, bounds=CARD.bounds, **how)


def eer_finding(
    targets: ArrayLike,
    nontargets: ArrayLike,
    *,
    identities: Identities | None = None,
    conditions: Mapping[str, str | int | float] | None = None,
    rng: np.random.Generator,
    **how: Unpack[BySpeaker],
) -> Finding:
    """Compute the ROCCH-EER with its interval, and what chance gives on these very trials.

    ``identities`` tell who was compared with whom, for the chance level; without, it shuffles labels.
    """
    who: BySpeaker = {**how}
    if identities is not None:
        who["nontarget_enrolled"] = identities.nontarget_enrolled
    estimate = rocch_eer_estimate(targets, nontargets, **who)
    (dealt,) = chance_of_split(targets, nontargets, [eer_of_levels], identities=identities, rng=rng)
    return dealt.finding(CARD, estimate, conditions or {})


def kaldi_eer(targets: ArrayLike, nontargets: ArrayLike) -> float:
    """Compute the EER by Kaldi's rule: the first target that beats its mirror among the nontargets.

    Position i of the n_t sorted targets is compared with position n_n - 1 - floor(n_n i / n_t) of the sorted
    nontargets; the EER is i / n_t at the first i where the target is higher, else at the last i.

    >>> kaldi_eer([2, 3, 4], [0, 1]), kaldi_eer([0, 1, 2, 3], [4, 5])
    (0.0, 0.75)
    """
    t, n = np.sort(checked(targets, "target")), np.sort(checked(nontargets, "nontarget"))
    return _walk(t, np.arange(1, len(t) + 1), n, np.arange(1, len(n) + 1))


def kaldi_eer_estimate(targets: ArrayLike, nontargets: ArrayLike, **how: Unpack[BySpeaker]) -> Estimate:
    """Compute Kaldi's EER with an interval from leaving out speakers; one speaker id per trial, n = speakers."""
    out = left_out(np.size(targets), np.size(nontargets), **how)
    values = level_values(targets, nontargets, [], out, raw=[kaldi_eer_of_levels])
    return from_left_out(values, speakers=out.speakers, level=how.get("level", LEVEL), bounds=[KALDI_CARD.bounds])[0]


def kaldi_eer_of_levels(targets: Any, nontargets: Any) -> Any:
    """Compute Kaldi's EER from the number of trials of both classes at each level (not PAV blocks), [..., levels]."""
    if targets.ndim == 2:
        return _walk_rows(targets.cumsum(axis=1), nontargets.cumsum(axis=1))
    place = np.arange(len(targets))
    return _walk(place, np.cumsum(targets), place, np.cumsum(nontargets))


def _walk_rows(t_counted: Any, n_counted: Any) -> Floats:
    """Apply Kaldi's rule to each row of running sums [rows, levels], all of them at once; see ``_walk``."""
    rows = len(t_counted)
    t_total, n_total = t_counted[:, -1], n_counted[:, -1]
    lift = (max(t_total.max(), n_total.max()) + 1) * np.arange(rows)  # sets each row above the one before

    def level_of(counted: Any, place: Any) -> Any:  # counted through all rows: levels of one row are compared only
        return np.searchsorted((counted + lift[:, None]).ravel(), place + lift, side="right")

    low, high = np.zeros(rows), t_total - 1.0
    while (low < high).any():
        middle = (low + high) // 2
        mirror = np.maximum(0, n_total - 1 - np.floor(n_total * middle / t_total))
        beaten = level_of(n_counted, mirror) < level_of(t_counted, middle)
        walking = low < high
        low, high = np.where(walking & ~beaten, middle + 1, low), np.where(walking & beaten, middle, high)
    eers: Floats = low / t_total
    return eers


def _walk(t: Any, t_counted: Any, n: Any, n_counted: Any) -> float:
    """Apply Kaldi's rule to sorted scores that count more than once; the counts come as running sums.

    The comparison changes its answer only once along the walk, so a bisection finds the place Kaldi walks to.
    """
    t_total, n_total = int(t_counted[-1]), int(n_counted[-1])

    def beaten(i: int) -> bool:
        mirror = max(0, n_total - 1 - int(n_total * i / t_total))
        nontarget = n[np.searchsorted(n_counted, mirror, side="right")]
        return bool(nontarget < t[np.searchsorted(t_counted, i, side="right")])

    low, high = 0, t_total - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if beaten(middle) else (middle + 1, high)
    return low / t_total
