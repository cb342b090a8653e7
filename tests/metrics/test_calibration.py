"""Levels, PAV and oracle calibration: against a plain PAV written here, and the limits of Laplace's rule."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.metrics.privacy.calibration import oracle_llrs
from personare.metrics.privacy.levels import levels_of, pool_ties
from personare.metrics.privacy.pav import pav_counts, pav_levels

SCORES = st.lists(st.integers(-15, 15), min_size=1, max_size=40)
FLOATS = st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=40)


def plain_pav(targets: list[float], nontargets: list[float], *, laplace: bool = False) -> dict[float, float]:
    """Score -> log-likelihood ratio, by the textbook loop: merge neighbours while the lower one has more targets."""
    blocks = []
    for score in sorted({*targets, *nontargets}):
        blocks.append([targets.count(score), nontargets.count(score), [score]])
    if laplace:
        blocks = [[1, 1, []], *blocks, [1, 1, []]]
    merged: list[list[object]] = []
    for block in blocks:
        merged.append(list(block))
        while len(merged) > 1 and _share(merged[-2]) >= _share(merged[-1]):
            t, n, scores = merged.pop()
            merged[-1] = [merged[-1][0] + t, merged[-1][1] + n, merged[-1][2] + scores]  # type: ignore[operator]
    prior = math.log(len(targets)) - math.log(len(nontargets))
    return {s: _log(b[0]) - _log(b[1]) - prior for b in merged for s in b[2]}  # type: ignore[attr-defined]


def _share(block: list[object]) -> float:
    return block[0] / (block[0] + block[1])  # type: ignore[operator, no-any-return]


def _log(count: object) -> float:
    return math.log(count) if count else -math.inf  # type: ignore[arg-type]


@given(SCORES, SCORES, st.booleans())
def test_oracle_llrs_are_those_of_a_plain_pav(targets: list[int], nontargets: list[int], laplace: bool) -> None:
    expected = plain_pav([*targets], [*nontargets], laplace=laplace)
    for scores, llrs in zip((targets, nontargets), oracle_llrs(targets, nontargets, laplace=laplace), strict=True):
        np.testing.assert_allclose(llrs, [expected[s] for s in scores], atol=1e-9)


@given(FLOATS, FLOATS)
def test_levels_keep_every_trial_and_order(targets: list[float], nontargets: list[float]) -> None:
    levels = levels_of(targets, nontargets)
    assert levels.targets.sum() == len(targets)
    assert levels.nontargets.sum() == len(nontargets)
    assert (np.diff(levels.upper) > 0).all()
    assert len(levels.upper) <= 2 * min(len(targets), len(nontargets)) + 1
    for scores, counts in ((targets, levels.targets), (nontargets, levels.nontargets)):
        found = np.bincount(levels.find(np.asarray(scores, dtype=np.float64)), minlength=len(counts))
        np.testing.assert_array_equal(found, counts)


@given(SCORES, SCORES)
def test_levels_are_those_of_a_walk_through_all_scores(targets: list[int], nontargets: list[int]) -> None:
    expected: list[list[int]] = []
    for score in sorted({*targets, *nontargets}):
        t, n = targets.count(score), nontargets.count(score)
        pure_before = expected and ((t and not expected[-1][2]) or (n and not expected[-1][1]))
        if pure_before and not (t and n):
            expected[-1] = [score, expected[-1][1] + t, expected[-1][2] + n]
        else:
            expected.append([score, t, n])
    found = levels_of(targets, nontargets)
    assert np.stack([found.upper, found.targets, found.nontargets], axis=1).tolist() == expected


@given(SCORES, SCORES)
def test_pav_of_pav_blocks_changes_nothing(targets: list[int], nontargets: list[int]) -> None:
    blocks = pav_levels(levels_of(targets, nontargets))
    again = pav_counts(blocks.targets, blocks.nontargets)
    assert (np.diff(blocks.targets / (blocks.targets + blocks.nontargets)) > -1e-12).all()
    assert again[0].sum() == len(targets)
    np.testing.assert_allclose(
        np.repeat(again[0] / (again[0] + again[1]), 1)[[0, -1]],
        (blocks.targets / (blocks.targets + blocks.nontargets))[[0, -1]],
    )


@given(SCORES, SCORES)
def test_llrs_rise_with_the_score_and_ignore_monotone_maps(targets: list[int], nontargets: list[int]) -> None:
    t, n = oracle_llrs(targets, nontargets, laplace=True)
    scores, llrs = np.array(targets + nontargets), np.concatenate([t, n])
    assert (np.diff(llrs[np.argsort(scores, kind="stable")]) >= -1e-12).all()
    cubed = oracle_llrs([s**3 for s in targets], [s**3 for s in nontargets], laplace=True)
    np.testing.assert_array_equal(np.concatenate(cubed), llrs)
    assert np.isfinite(llrs).all()


@given(SCORES, SCORES)
def test_swapping_the_classes_turns_the_evidence_around(targets: list[int], nontargets: list[int]) -> None:
    t, n = oracle_llrs(targets, nontargets, laplace=True)
    n_swapped, t_swapped = oracle_llrs([-s for s in nontargets], [-s for s in targets], laplace=True)
    np.testing.assert_allclose(t_swapped, -t, atol=1e-9)
    np.testing.assert_allclose(n_swapped, -n, atol=1e-9)


def test_perfect_separation_with_and_without_laplace() -> None:
    t, n = oracle_llrs([3.0, 4.0], [0.0, 1.0, 2.0])
    assert t.tolist() == [math.inf] * 2
    assert n.tolist() == [-math.inf] * 3
    t, n = oracle_llrs([3.0, 4.0], [0.0, 1.0, 2.0], laplace=True)
    assert np.exp(t) == pytest.approx(3 * (2 + 1) / 2)
    assert np.exp(-n) == pytest.approx(2 * (3 + 1) / 3)


def test_ties_favour_nobody() -> None:
    t, n = oracle_llrs([1.0] * 100, [1.0] * 100)
    assert not t.any()
    assert not n.any()


@pytest.mark.parametrize("largest", [0.5, 1.0, 100.0, -100.0])
def test_neighbours_nearer_than_a_million_millionth_of_the_largest_score_are_one(largest: float) -> None:
    unit = 1e-12 * max(1.0, abs(largest))
    near, far = pool_ties([0.25, 0.25 + 0.6 * unit, largest]), pool_ties([0.25, 0.25 + 1.6 * unit, largest])
    assert near.tolist() == [0.25, 0.25, largest] and len(set(far.tolist())) == 3
    chain = pool_ties([[0.25 + 1.2 * unit, 0.25], [0.25 + 0.6 * unit, largest]])
    assert chain.tolist() == [[0.25, 0.25], [0.25, largest]], "by way of others, and in any order"
    assert pool_ties(np.empty((0, 3))).shape == (0, 3)
