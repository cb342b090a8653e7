"""Dsys: the reference estimator against published values, the corrected one against the integral and its limits."""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from personare.core.errors import MetricError
from personare.metrics.privacy.dsys import dsys, dsys_estimate, dsys_of_levels, dsys_reference, dsys_reference_estimate
from personare.metrics.privacy.levels import levels_of

from .by_hand import ends_by_hand
from .conftest import CONDITIONS, GoldenTrials
from .test_calibration import plain_pav

SCORES = st.lists(st.integers(-20, 20), min_size=1, max_size=40)
Load = Callable[[str], GoldenTrials]


@pytest.mark.shared
@pytest.mark.parametrize("condition", CONDITIONS)
def test_golden_scores_and_cosines(golden_scores: Load, golden_cosines: Load, condition: str) -> None:
    for trials in (golden_scores(condition), golden_cosines(condition)):
        found = dsys_reference(trials.targets, trials.nontargets)
        assert found == pytest.approx(trials.expected["dsys"], rel=1e-5)


def test_defects_of_the_reference_quoted_in_the_literature() -> None:
    rng = np.random.default_rng(0)
    noise = [dsys_reference(rng.normal(size=548), rng.normal(size=11196)) for _ in range(20)]
    assert np.mean(noise) == pytest.approx(0.06, abs=0.01)
    separated = [dsys_reference(rng.random(n) + 1, rng.random(n)) for n in (50, 50_000)]
    assert separated[0] == pytest.approx(0.5, abs=0.15)
    assert separated[1] == pytest.approx(0.97, abs=0.02)


@pytest.mark.parametrize(("distance", "tolerance"), [(0.0, 0.01), (0.5, 0.02), (1.0, 0.02), (3.0, 0.015)])
def test_two_gaussians_have_the_integral_of_the_definition(distance: float, tolerance: float) -> None:
    mated, other = NormalDist(distance).pdf, NormalDist(0).pdf

    def integrand(s: float) -> float:
        ratio = mated(s) / other(s)
        return mated(s) * (2 * ratio / (1 + ratio) - 1) if ratio > 1 else 0.0

    expected = quad(integrand, distance / 2, distance + 8)[0] if distance else 0.0
    rng = np.random.default_rng(0)
    found = [dsys(distance + rng.normal(size=1000), rng.normal(size=10_000), rng=rng) for _ in range(5)]
    assert np.mean(found) == pytest.approx(expected, abs=tolerance)


@given(SCORES, SCORES, st.sampled_from([0.5, 1.0, 2.0]))
def test_before_chance_is_taken_out_it_is_the_mean_over_a_plain_pav(t: list[int], n: list[int], w: float) -> None:
    llr = plain_pav([*t], [*n])
    ratios = w * np.exp(np.clip([llr[s] for s in t], -300, 300))
    expected = np.where(ratios > 1 + 1e-12, 1 - 2 / (1 + ratios), 0.0).mean()
    levels = levels_of(t, n)
    assert dsys_of_levels(levels.targets, levels.nontargets, w) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=25)
@given(SCORES, SCORES)
def test_laws(targets: list[int], nontargets: list[int]) -> None:
    found = dsys(targets, nontargets, rng=np.random.default_rng(0))
    assert 0 <= found <= 1
    mapped = dsys([s**3 for s in targets], [s**3 for s in nontargets], rng=np.random.default_rng(0))
    assert mapped == found


def test_limits_zero_and_one() -> None:
    rng = np.random.default_rng(0)
    for targets, nontargets in ((5, 50), (50, 50), (548, 11196)):
        assert dsys([1] * targets, [1] * nontargets, rng=rng) == 0
        assert dsys(range(nontargets, nontargets + targets), range(nontargets), rng=rng) == 1
    assert dsys([0, 1], [2, 3], rng=rng) == 0
    assert dsys([1], [0], rng=rng) in (0.0, 1.0)


def test_the_reference_refuses_where_it_would_be_silently_wrong() -> None:
    with pytest.raises(MetricError, match="at least 20 target trials, there are 19"):
        dsys_reference(range(19), range(100))
    with pytest.raises(MetricError, match="scores that differ"):
        dsys_reference([1] * 30, [1] * 100)
    with pytest.raises(MetricError, match="above 0"):
        dsys([1], [0], rng=np.random.default_rng(0), w=0)


def test_estimates_hold_their_values() -> None:
    rng = np.random.default_rng(0)
    t, n = rng.normal(1, 1, size=200), rng.normal(size=2000)
    how: dict[str, Any] = {"target_speakers": np.arange(200) % 10, "nontarget_speakers": np.arange(2000) % 10}
    found = dsys_reference_estimate(t, n, **how)
    assert found.value == pytest.approx(dsys_reference(t, n))
    assert found.low < found.value < found.high
    corrected = dsys_estimate(t, n, rng=np.random.default_rng(1), **how)
    assert corrected.value == dsys(t, n, rng=np.random.default_rng(1))
    assert corrected.low < corrected.value < corrected.high


def by_the_references_rule(t: Any, n: Any, edges: Any, w: float = 1.0) -> float:
    """The public reference, bin by bin: densities, their ratio, trapezoids between the centres of the bins."""
    p, q = (np.histogram(scores, edges, density=True)[0] for scores in (t, n))
    heights = []
    for mated, other in zip(p, q, strict=True):
        ratio = w * mated / other if other else np.inf if mated else 0.0
        heights.append(mated * (1.0 if ratio == np.inf else max(0.0, 2 * ratio / (1 + ratio) - 1)))
    return float(np.trapezoid(heights, dx=edges[1] - edges[0]))


@pytest.mark.parametrize(("targets", "bins"), [(20, 2), (39, 3), (999, 99), (1000, 100), (1500, 100)])
@pytest.mark.parametrize("w", [0.5, 1.0, 3.0])
def test_the_reference_has_a_bin_for_ten_targets_and_a_hundred_at_most(targets: int, bins: int, w: float) -> None:
    rng = np.random.default_rng(targets)
    t, n = rng.normal(1.0, 1.0, targets), rng.normal(size=3000)
    edges = np.linspace(min(t.min(), n.min()), max(t.max(), n.max()), bins + 1)
    assert dsys_reference(t, n, w=w) == pytest.approx(by_the_references_rule(t, n, edges, w), rel=1e-9)


@pytest.mark.parametrize("w", [1.0, 3.0])
def test_the_references_interval_leaves_out_speakers_in_the_same_bins_and_spans_their_bias(w: float) -> None:
    rng = np.random.default_rng(5)
    t, n, who = rng.normal(0.8, 1, 60), rng.normal(size=300), np.arange(300) % 6
    sides: dict[str, Any] = {"target_speakers": who[:60], "nontarget_speakers": who}
    found = dsys_reference_estimate(t, n, w=w, level=0.8, **sides)
    edges = np.linspace(min(t.min(), n.min()), max(t.max(), n.max()), 7)
    rest = [by_the_references_rule(t[who[:60] != one], n[who != one], edges, w) for one in range(6)]
    value = by_the_references_rule(t, n, edges, w)
    assert 5 * abs(np.mean(rest) - value) > 0.005, "few trials pull it to one side"
    ends = ends_by_hand(value, rest, bounds=(0.0, 1.0), level=0.8)
    assert (found.low, found.high) == pytest.approx(ends, rel=1e-9)
    assert 0 < found.low < found.value < found.high < 1


def test_scores_that_lie_on_the_edges_of_bins_are_left_out_of_the_bins_they_were_counted_in() -> None:
    """Whole numbers and edges at whole numbers: each belongs to the bin above, the highest to the last one."""
    rng = np.random.default_rng(6)
    t, n, who = rng.integers(0, 6, 50), rng.integers(0, 6, 200), np.arange(200) % 5
    t[0], n[0] = 5, 0
    sides: dict[str, Any] = {"target_speakers": who[:50], "nontarget_speakers": who}
    found = dsys_reference_estimate(t, n, level=0.2, **sides)
    edges = np.linspace(0, 5, 6)
    rest = [by_the_references_rule(t[who[:50] != one], n[who != one], edges) for one in range(5)]
    ends = ends_by_hand(by_the_references_rule(t, n, edges), rest, bounds=(0.0, 1.0), level=0.2)
    assert (found.low, found.high) == pytest.approx(ends, rel=1e-9)
