"""Leaving out speakers without sorting again: how many trials are lost at each level of the scores without each one.

Leaving speakers out only changes how often each trial counts, never the order of the scores. So the scores are sorted
once, and for each speaker the trials are counted, level by level, that are gone without them. The result is exact: the
same as deleting the trials of each speaker and starting afresh.

A target trial belongs to one person. A nontarget trial belongs to two, the tested and the enrolled one, and is lost
without either: where ten people meet each other, ninety nontarget pairs are facts about ten people. Where a caller does
not know who is enrolled, the tested speaker alone counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict, Unpack

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import Estimate
from personare.metrics.intervals import ISOTONIC, LEVEL, Bounds, from_left_out, leave_out_groups
from personare.metrics.privacy.levels import checked, levels_of
from personare.metrics.privacy.pav import pav_counts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

TRIAL_GROUPS = 100
CELLS_AT_ONCE = 1_000_000
LevelStatistic = Callable[[Any, Any], Any]
"""A number computed from the target and nontarget weight of each level, lowest first, which PAV does not change.

Of a table [rows, levels] it gives one number for each row.
"""


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Which trials are gone without each group of speakers.

    Parameters
    ----------
    targets, nontargets : the group of each trial [t], [n]; enrolled : the enrolled side's [n], -1 where it is the same.
    groups : how many groups; speakers : how many people they hold.
    """

    targets: NDArray[np.intp]
    nontargets: NDArray[np.intp]
    enrolled: NDArray[np.intp]
    groups: int
    speakers: int

    def lost(self, trials: NDArray[np.intp], shape: tuple[int, int], *, nontargets: bool) -> Any:
        """Count trials, each at its place [t] or [n], that are gone without each group: sparse [places, groups]."""
        if not nontargets:
            return _counted(trials, self.targets, shape)
        other = self.enrolled >= 0
        places = np.concatenate([trials, trials[other]])
        return _counted(places, np.concatenate([self.nontargets, self.enrolled[other]]), shape)


class BySpeaker(TypedDict):
    """What every interval asks for: the speakers of each trial, and how sure it shall be.

    ``nontarget_enrolled`` is the other person of each nontarget trial, where that is known.
    """

    target_speakers: ArrayLike
    nontarget_speakers: ArrayLike
    nontarget_enrolled: NotRequired[ArrayLike | None]
    level: NotRequired[float]


def left_out(targets: int, nontargets: int, **how: Unpack[BySpeaker]) -> LeftOut:
    """Number the people of so many trials, and the group with which each is left out."""
    mine, others = np.asarray(how["target_speakers"]), np.asarray(how["nontarget_speakers"])
    second = how.get("nontarget_enrolled")
    third = others if second is None else np.asarray(second)
    for ids, trials, kind in ((mine, targets, "target"), (others, nontargets, "nontarget"), (third, nontargets, "")):
        if ids.shape != (trials,):
            raise MetricError(f"each {kind} trial needs one speaker: {trials} scores, speakers {list(ids.shape)}")
    known, number = np.unique(np.concatenate([mine, others, third]), return_inverse=True)
    group = leave_out_groups(len(known))[number]
    tested, enrolled = group[targets : targets + nontargets], group[targets + nontargets :]
    redrawn = len(np.unique(number[: targets + nontargets]))  # people who are enrolled only are no sample of the tested
    other = np.where(enrolled == tested, -1, enrolled)
    return LeftOut(group[:targets], tested, other, int(group.max()) + 1, redrawn)


def trial_groups(
    targets: ArrayLike, nontargets: ArrayLike, *, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Deal trials without speakers into at most 100 random groups that are left out instead."""
    sizes = len(checked(targets, "target")), len(checked(nontargets, "nontarget"))
    mine, others = (rng.permutation(np.arange(size) % min(TRIAL_GROUPS, sum(sizes))) for size in sizes)
    return mine, others


def level_estimate(
    statistic: LevelStatistic,
    targets: ArrayLike,
    nontargets: ArrayLike,
    *,
    bounds: Bounds,
    bias_factor: float = ISOTONIC,
    **how: Unpack[BySpeaker],
) -> Estimate:
    """Estimate one level statistic with an interval from leaving out speakers; n is the number of speakers."""
    out = left_out(np.size(targets), np.size(nontargets), **how)
    values = level_values(targets, nontargets, [statistic], out)
    level = how.get("level", LEVEL)
    return from_left_out(values, speakers=out.speakers, level=level, bounds=[bounds], bias_factors=[bias_factor])[0]


def level_values(
    targets: ArrayLike,
    nontargets: ArrayLike,
    statistics: Sequence[LevelStatistic],
    out: LeftOut,
    *,
    raw: Sequence[LevelStatistic] = (),
) -> Floats:
    """Compute statistics of all trials, then without each group of speakers: [1 + groups, statistics].

    Those in ``raw`` see the levels themselves, the others their PAV blocks. Where a class has no trial left: NaN.
    """
    t, n = checked(targets, "target"), checked(nontargets, "nontarget")
    levels = levels_of(t, n)
    shape = (len(levels.upper), out.groups)
    lost_t = out.lost(levels.find(t), shape, nontargets=False).tocsc()
    lost_n = out.lost(levels.find(n), shape, nontargets=True).tocsc()
    all_t, all_n = levels.targets.astype(np.float64), levels.nontargets.astype(np.float64)
    values = [row_values(all_t[None], all_n[None], statistics, raw)]
    step = max(1, CELLS_AT_ONCE // len(all_t))
    for start in range(0, out.groups if out.groups > 1 else 0, step):
        some = slice(start, start + step)
        kept_t, kept_n = all_t - lost_t[:, some].toarray().T, all_n - lost_n[:, some].toarray().T
        values.append(row_values(kept_t, kept_n, statistics, raw))
    return np.concatenate(values)


def row_values(
    targets: Floats, nontargets: Floats, statistics: Sequence[LevelStatistic], raw: Sequence[LevelStatistic]
) -> Floats:
    """Compute statistics of each row of weights per level [rows, levels]: of PAV blocks, then ``raw`` of the levels.

    A single row is computed as one list: the same number, to the last bit, as without a table.
    """
    there = targets.any(axis=1) & nontargets.any(axis=1)
    values = np.full((len(targets), len(statistics) + len(raw)), math.nan)
    if there.any():
        t, n = (side[0] if len(side) == 1 else side[there] for side in (targets, nontargets))
        blocks = pav_counts(t, n)  # once for all of them: PAV of PAV blocks changes nothing
        values[there] = np.stack([*(s(*blocks) for s in statistics), *(s(t, n) for s in raw)], axis=-1)
    return values


def _counted(place: NDArray[np.intp], group: NDArray[np.intp], shape: tuple[int, int]) -> Any:
    from scipy.sparse import coo_array

    return coo_array((np.ones(len(place)), (place, group)), shape=shape)
