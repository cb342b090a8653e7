"""Redrawing speakers without sorting again: how many trials each speaker has at each level of the scores.

A redraw of the speakers only changes how often each trial counts, never the order of the scores. So the scores are
sorted once, trials are counted per level and speaker, and each redraw is a product of these counts with how often each
speaker was drawn. The result is exact: the same as copying the trials of each drawn speaker and starting afresh.

A trial belongs to one speaker, the tested one: the same unit as of linkability and Singling Out. The other voice of a
nontarget trial is not redrawn; where few enrolled speakers meet many tested ones, true doubt is somewhat larger than
these intervals say. A score file may not tell who is tested; then the caller says which speakers were redrawn instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict, Unpack

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import Estimate
from personare.metrics.intervals import LEVEL, RESAMPLES, bootstrap_many
from personare.metrics.privacy.levels import checked, levels_of
from personare.metrics.privacy.pav import pav_counts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

CELLS_AT_ONCE = 4_000_000
TRIAL_GROUPS = 500
LevelStatistic = Callable[[Any, Any], float]
"""A number computed from the target and nontarget weight of each level, lowest first, which PAV does not change."""


@dataclass(frozen=True, eq=False)
class SpeakerLevels:
    """Trials per level and speaker: two sparse matrices [levels, speakers], lowest scores first."""

    targets: Any
    nontargets: Any

    @property
    def speakers(self) -> int:
        """How many speakers there are."""
        return int(self.targets.shape[1])


def speaker_levels(
    targets: ArrayLike, nontargets: ArrayLike, *, target_speakers: ArrayLike, nontarget_speakers: ArrayLike
) -> SpeakerLevels:
    """Sort the trials once and count them per level and speaker; one speaker id per trial."""
    t, n = checked(targets, "target"), checked(nontargets, "nontarget")
    t_who, n_who, count = speaker_numbers(target_speakers, nontarget_speakers, len(t), len(n))
    levels = levels_of(t, n)
    shape = (len(levels.upper), count)
    return SpeakerLevels(_counted(levels.find(t), t_who, shape), _counted(levels.find(n), n_who, shape))


def speaker_numbers(
    target_speakers: ArrayLike, nontarget_speakers: ArrayLike, targets: int, nontargets: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], int]:
    """Number the speakers 0, 1, ... over both classes; give each trial's number and how many there are."""
    mine, others = np.asarray(target_speakers), np.asarray(nontarget_speakers)
    for ids, trials, kind in ((mine, targets, "target"), (others, nontargets, "nontarget")):
        if ids.shape != (trials,):
            raise MetricError(f"each {kind} trial needs one speaker: {trials} scores, speakers {list(ids.shape)}")
    known, number = np.unique(np.concatenate([mine, others]), return_inverse=True)
    return number[:targets], number[targets:], len(known)


def trial_groups(
    targets: ArrayLike, nontargets: ArrayLike, *, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Deal trials without speakers into at most 500 random groups that are redrawn instead: millions stay quick."""
    sizes = len(checked(targets, "target")), len(checked(nontargets, "nontarget"))
    mine, others = (rng.permutation(np.arange(size) % min(TRIAL_GROUPS, sum(sizes))) for size in sizes)
    return mine, others


class BySpeaker(TypedDict):
    """What every interval asks for: the tested speaker of each trial, chance, how many redraws, how sure."""

    target_speakers: ArrayLike
    nontarget_speakers: ArrayLike
    rng: np.random.Generator
    resamples: NotRequired[int]
    level: NotRequired[float]


def level_estimate(
    statistic: LevelStatistic,
    targets: ArrayLike,
    nontargets: ArrayLike,
    *,
    bounds: tuple[float, float],
    **how: Unpack[BySpeaker],
) -> Estimate:
    """Estimate one level statistic with an interval over redrawn speakers; n is the number of speakers."""
    counts = speaker_levels(
        targets,
        nontargets,
        target_speakers=how["target_speakers"],
        nontarget_speakers=how["nontarget_speakers"],
    )
    return bootstrap_many(
        level_values(counts, [statistic]),
        speakers=counts.speakers,
        rng=how["rng"],
        resamples=how.get("resamples", RESAMPLES),
        level=how.get("level", LEVEL),
        centred=True,
        bounds=[bounds],
    )[0]


def level_values(counts: SpeakerLevels, statistics: Sequence[LevelStatistic]) -> Callable[[Floats], Floats]:
    """Make the function a bootstrap calls: how often each speaker was drawn -> the statistics, [rows, statistics].

    A redraw in which a class has no trial left gives NaN, and is not counted.
    """
    rows = max(1, CELLS_AT_ONCE // max(1, counts.targets.shape[0]))

    def values(drawn: Floats) -> Floats:
        parts = [_evaluated(counts, statistics, drawn[i : i + rows]) for i in range(0, len(drawn), rows)]
        return np.concatenate(parts)

    return values


def _evaluated(counts: SpeakerLevels, statistics: Sequence[LevelStatistic], drawn: Floats) -> Floats:
    t = np.ascontiguousarray((counts.targets @ drawn.T).T)
    n = np.ascontiguousarray((counts.nontargets @ drawn.T).T)
    values = np.full((len(drawn), len(statistics)), math.nan)
    for row in np.flatnonzero(t.any(axis=1) & n.any(axis=1)):
        blocks = pav_counts(t[row], n[row])  # once for all of them: PAV of PAV blocks changes nothing
        values[row] = [statistic(*blocks) for statistic in statistics]
    return values


def _counted(level: NDArray[np.intp], speaker: NDArray[np.intp], shape: tuple[int, int]) -> Any:
    from scipy.sparse import coo_array

    return coo_array((np.ones(len(level)), (level, speaker)), shape=shape).tocsr()
