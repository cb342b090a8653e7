"""What a guessing attacker would get from just these trials: the same metric after identities were dealt out anew.

Metrics that fit themselves to the labels (ROC hull, PAV) find a little "evidence" in pure noise: the ROCCH-EER of 30
targets among 300 nontargets is about 0.45 where there is nothing to detect, not 0.5. The mean over many deals is the
chance level to compare with; the textbook level is reached only with endless trials.

A deal gives every tested speaker the identity of a random enrolled one of the same group (gender), so that the attacker
keeps what the group alone tells, and all tests of one speaker keep one identity. Three kinds of lists:

complete    everybody tested meets everybody enrolled of their group equally often: identities are dealt
incomplete  pairs are missing, so that a dealt speaker may have no target trial: labels are shuffled within each group
no names    nothing but scores and labels: labels are shuffled among all trials (``shuffled_levels``), or among those of
            each evaluator who rated them (``shuffled_within``)

Where groups are not given, people who were compared with each other, directly or by way of others, form one.

The deals are also a test: a result that 2.5 % of them reach or more is no proof. For n people there are n! deals, so
that the test is exact however few they are; four people or fewer (24 deals) can prove nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import MetricError
from personare.metrics.privacy.dealt import Dealt
from personare.metrics.privacy.levels import checked, joined_runs
from personare.metrics.privacy.redraws import CELLS_AT_ONCE, LevelStatistic, row_values

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Codes = NDArray[np.intp]
    Deal = Callable[[], NDArray[np.bool_]]

MOST_DEALS, FEWEST_DEALS, TRIALS_TO_DEAL = 200, 10, 4_000_000


def chance_levels(
    scores: ArrayLike,
    enrolled: ArrayLike,
    tested: ArrayLike,
    statistics: Sequence[LevelStatistic],
    *,
    groups: ArrayLike | None = None,
    rng: np.random.Generator,
    deals: int | None = None,
    raw: Sequence[LevelStatistic] = (),
) -> list[Dealt]:
    """Compute level statistics over deals of identities within each group.

    Parameters
    ----------
    scores, enrolled, tested : one per trial [n]: score, number of the enrolled speaker, number of the speaker who
        speaks; both are numbers of one list 0, 1, ..., k - 1. A trial is a target where they are equal.
    groups : group of each speaker [k], as whole numbers; without, who was compared with whom tells.
    deals : 200 unless given, fewer (at least 10) where millions of trials make each one precise.
    raw : further statistics, of the levels themselves instead of their PAV blocks.

    >>> from personare.metrics.privacy.eer import eer_of_levels
    >>> tested, enrolled = np.divmod(np.arange(60 * 10), 10)  # 60 tests of ten speakers, six each, against all ten
    >>> noise = np.random.default_rng(1).normal(size=600)
    >>> levels = chance_levels(noise, enrolled, tested % 10, [eer_of_levels], rng=np.random.default_rng(2))
    >>> round(levels[0].mean, 2)
    0.47
    """
    s = checked(scores, "trial")
    e, t = (_checked_codes(codes, len(s), of) for codes, of in ((enrolled, "enrolled"), (tested, "tested")))
    order = np.argsort(s, kind="stable")
    s, e, t = s[order], e[order], t[order]
    target = e == t
    if not target.any() or target.all():
        raise MetricError("the chance level needs target and nontarget trials")
    people = int(max(e.max(), t.max())) + 1
    group = _met(e, t, people) if groups is None else _checked_groups(groups, people)
    if _is_complete(e, t, group):
        there = np.unique(e)
        possible = math.exp(min(700.0, sum(math.lgamma(n + 1) for n in np.bincount(group[there]))))
        return _dealt(s, _identities(e, t, group, rng), statistics, deals, possible, raw)
    return _dealt(s, _labels(target, e, t, group, rng), statistics, deals, math.inf, raw)


def shuffled_levels(
    targets: ArrayLike,
    nontargets: ArrayLike,
    statistics: Sequence[LevelStatistic],
    *,
    rng: np.random.Generator,
    deals: int | None = None,
    raw: Sequence[LevelStatistic] = (),
) -> list[Dealt]:
    """Compute level statistics over shuffled labels, for scores without names; both classes keep their size.

    >>> from personare.metrics.privacy.eer import eer_of_levels
    >>> levels = shuffled_levels(range(30), range(300), [eer_of_levels], rng=np.random.default_rng(1))
    >>> round(levels[0].mean, 2)
    0.45
    """
    t, n = checked(targets, "target"), checked(nontargets, "nontarget")
    labels = np.arange(len(t) + len(n)) < len(t)
    scores, few = np.sort(np.concatenate([t, n])), min(len(t), len(n))
    possible = math.comb(len(labels), few) if few < 20 else math.inf
    return _dealt(scores, lambda: rng.permutation(labels), statistics, deals, possible, raw)


def shuffled_within(
    targets: ArrayLike,
    nontargets: ArrayLike,
    statistic: LevelStatistic,
    *,
    target_owners: ArrayLike,
    nontarget_owners: ArrayLike,
    rng: np.random.Generator,
) -> Dealt:
    """Compute a level statistic over labels that are shuffled among the trials of each owner (who rated them)."""
    scores = np.concatenate([checked(targets, "target"), checked(nontargets, "nontarget")])
    _, owner = np.unique(np.append(target_owners, nontarget_owners), return_inverse=True)
    order = np.argsort(scores, kind="stable")
    label, owner = (np.arange(len(scores)) < np.size(targets))[order], owner[order]
    own, all_of_them = np.bincount(owner[label], minlength=owner.max() + 1), np.bincount(owner)
    ways = sum(math.log(math.comb(n, k)) for n, k in zip(all_of_them.tolist(), own.tolist(), strict=True))
    deal = _labels(label, owner, owner, np.arange(owner.max() + 1), rng)
    return _dealt(scores[order], deal, [statistic], None, math.exp(min(700.0, ways)), ())[0]


@dataclass(frozen=True, eq=False)
class Identities:
    """Who was compared with whom in trials split by class: what a deal of identities needs.

    Parameters
    ----------
    target_speakers : who speaks in each target trial, and is enrolled [t].
    nontarget_tested, nontarget_enrolled : who speaks and who is enrolled in each nontarget trial [n].
    groups : everybody's group (gender); without, who was compared with whom tells.
    """

    target_speakers: ArrayLike
    nontarget_tested: ArrayLike
    nontarget_enrolled: ArrayLike
    groups: Mapping[str, str | None] | None = None


def chance_of_split(
    targets: ArrayLike,
    nontargets: ArrayLike,
    statistics: Sequence[LevelStatistic],
    *,
    identities: Identities | None,
    rng: np.random.Generator,
    deals: int | None = None,
    raw: Sequence[LevelStatistic] = (),
) -> list[Dealt]:
    """Deal trials that are split by class; without identities to deal, labels are shuffled."""
    if identities is None:
        return shuffled_levels(targets, nontargets, statistics, rng=rng, deals=deals, raw=raw)
    scores = np.concatenate([checked(targets, "target"), checked(nontargets, "nontarget")])
    mine, others, enrolled = (
        np.asarray(ids)
        for ids in (identities.target_speakers, identities.nontarget_tested, identities.nontarget_enrolled)
    )
    if len(mine) + len(others) != len(scores) or enrolled.shape != others.shape:
        sizes = f"{len(mine)} targets, {len(others)} tested and {len(enrolled)} enrolled nontargets"
        raise MetricError(f"each of {len(scores)} trials needs the speakers it compares; got {sizes}")
    if (enrolled == others).any():
        first = others[int((enrolled == others).argmax())]
        raise MetricError(f"a nontarget trial compares two people; one has '{first}' on both sides")
    names, codes = np.unique(np.concatenate([mine, others, mine, enrolled]), return_inverse=True)
    tested, known = codes[: len(scores)], codes[len(scores) :]
    group = None
    if (given := identities.groups) is not None:
        group = np.unique([given.get(str(name)) or "" for name in names], return_inverse=True)[1]
    return chance_levels(scores, known, tested, statistics, groups=group, rng=rng, deals=deals, raw=raw)


def _dealt(
    scores: Any,
    deal: Deal,
    statistics: Sequence[LevelStatistic],
    deals: int | None,
    possible: float,
    raw: Sequence[LevelStatistic],
) -> list[Dealt]:
    """Compute statistics over deals of labels to sorted scores; ties stay ties in every deal."""
    rounds = int(np.clip(TRIALS_TO_DEAL // len(scores), FEWEST_DEALS, MOST_DEALS)) if deals is None else deals
    if rounds < 1:
        raise MetricError(f"the chance level needs at least one deal, not {rounds}")
    starts = np.append(0, np.flatnonzero(scores[1:] != scores[:-1]) + 1)
    sizes = np.diff(np.append(starts, len(scores)))
    values: list[NDArray[np.float64]] = []
    hits: list[NDArray[Any]] = []
    for left in range(rounds - 1, -1, -1):
        labels = deal()
        hits.append(np.add.reduceat(labels.astype(np.int64), starts) if len(starts) < len(scores) else labels)
        if not left or len(hits) * len(starts) >= CELLS_AT_ONCE:
            values.append(row_values(*joined_runs(hits, sizes), statistics, raw))
            hits = []
    return [Dealt(column, possible) for column in np.concatenate(values).T]


def _identities(e: Codes, t: Codes, group: Codes, rng: np.random.Generator) -> Deal:
    """Deal to each enrolled speaker the identity of one of their group; who is tested only stays nobody's target."""
    there = np.unique(e)
    members = [there[group[there] == each] for each in np.unique(group[there])]

    def deal() -> NDArray[np.bool_]:
        identity = np.full(len(group), -1)
        for some in members:
            identity[some] = rng.permutation(some)
        labels: NDArray[np.bool_] = identity[t] == e
        return labels

    return deal


def _labels(target: NDArray[np.bool_], e: Codes, t: Codes, group: Codes, rng: np.random.Generator) -> Deal:
    """Shuffle labels among the trials of one tested and one enrolled group."""
    cell = group[t] * (int(group.max()) + 1) + group[e]
    order = np.argsort(cell, kind="stable")
    cuts = np.flatnonzero(np.diff(cell[order])) + 1
    parts = np.split(order, cuts)

    def deal() -> NDArray[np.bool_]:
        labels = np.empty_like(target)
        for part in parts:
            labels[part] = rng.permutation(target[part])
        return labels

    return deal


def _is_complete(e: Codes, t: Codes, group: Codes) -> bool:
    """Whether everybody who is enrolled and tested meets every enrolled speaker of their group equally often."""
    there = np.unique(e)
    inside = (group[e] == group[t]) & np.isin(t, there)
    pair, counts = np.unique(t[inside] * len(group) + e[inside], return_counts=True)
    who, first, partners = np.unique(pair // len(group), return_index=True, return_counts=True)
    people = np.bincount(group[there], minlength=int(group.max()) + 1)
    same_often = counts == np.repeat(counts[first], partners)
    return bool((partners == people[group[who]]).all() and same_often.all())


def _met(e: Codes, t: Codes, people: int) -> Codes:
    """Number the groups of people who were compared with each other, directly or by way of others."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(e), dtype=np.int8), (e, t)), shape=(people, people))
    group: Codes = connected_components(graph, directed=False)[1]
    return group


def _checked_codes(codes: ArrayLike, trials: int, of: str) -> Codes:
    array = np.asarray(codes)
    if array.shape != (trials,) or array.dtype.kind not in "iu" or array.min(initial=0) < 0:
        raise MetricError(f"{trials} trials need {trials} numbers of {of} speakers, 0 or above; got {array.dtype}")
    return array.astype(np.intp)


def _checked_groups(groups: ArrayLike, people: int) -> Codes:
    array = np.asarray(groups)
    if array.ndim != 1 or len(array) < people or array.dtype.kind not in "iu" or array.min(initial=0) < 0:
        raise MetricError(f"each of {people} speakers needs the number of a group; got shape {list(array.shape)}")
    return array.astype(np.intp)
