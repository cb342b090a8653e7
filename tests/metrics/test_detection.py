"""DET and ROC points, min DCF: against counting, closed forms, laws, bad parameters."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from personare.core.errors import MetricError
from personare.metrics.privacy.detection import error_curve, hull_curve, min_dcf, min_dcf_estimate
from personare.metrics.privacy.eer import rocch_eer

SCORES = st.lists(st.integers(-20, 20), min_size=1, max_size=40)


@given(SCORES, SCORES)
def test_every_point_by_counting(targets: list[int], nontargets: list[int]) -> None:
    curve = error_curve(targets, nontargets)
    for threshold, miss, alarm in zip(curve.thresholds, curve.miss, curve.false_alarm, strict=True):
        assert miss == sum(s < threshold for s in targets) / len(targets)
        assert alarm == sum(s >= threshold for s in nontargets) / len(nontargets)
    assert (curve.miss[0], curve.false_alarm[0]) == (0, 1)
    assert (curve.miss[-1], curve.false_alarm[-1]) == (1, 0)


@given(SCORES, SCORES)
def test_the_hull_lies_under_every_point_and_is_convex(targets: list[int], nontargets: list[int]) -> None:
    curve = error_curve(targets, nontargets)
    miss, alarm = hull_curve(targets, nontargets)
    order = np.argsort(curve.miss, kind="stable")
    below = np.interp(curve.miss[order], miss, alarm)
    at_same_miss = [
        alarm[miss == m].min() if (miss == m).any() else b for m, b in zip(curve.miss[order], below, strict=True)
    ]
    assert (np.array(at_same_miss) <= curve.false_alarm[order] + 1e-12).all()
    cross = np.diff(miss)[:-1] * np.diff(alarm)[1:] - np.diff(miss)[1:] * np.diff(alarm)[:-1]
    assert (cross >= -1e-12).all()


@given(SCORES, SCORES, st.floats(0.01, 0.99), st.floats(0.1, 10), st.floats(0.1, 10))
def test_min_dcf_is_the_least_over_all_thresholds(
    t: list[int], n: list[int], prior: float, cm: float, cf: float
) -> None:
    curve = error_curve(t, n)
    costs = prior * cm * curve.miss + (1 - prior) * cf * curve.false_alarm
    expected = costs.min() / min(prior * cm, (1 - prior) * cf)
    found = min_dcf(t, n, prior=prior, cost_miss=cm, cost_false_alarm=cf)
    assert found == pytest.approx(expected, abs=1e-12)
    assert 0 <= found <= 1 + 1e-12


def test_two_gaussians_at_even_odds_cost_twice_their_error() -> None:
    grid = np.array([NormalDist().inv_cdf((i + 0.5) / 20_000) for i in range(20_000)])
    assert min_dcf(grid + 2, grid, prior=0.5) == pytest.approx(2 * NormalDist().cdf(-1), abs=1e-3)


@settings(max_examples=20)
@given(SCORES, SCORES)
def test_the_dearest_prior_costs_the_eer(targets: list[int], nontargets: list[int]) -> None:
    eer = rocch_eer(targets, nontargets)
    bayes = [min_dcf(targets, nontargets, prior=p) * min(p, 1 - p) for p in np.linspace(0.01, 0.99, 99)]
    assert max(bayes) <= eer + 1e-12
    assert max(bayes) == pytest.approx(eer, abs=1e-2)


def test_degenerate_scores() -> None:
    assert min_dcf([0] * 5, [0] * 50, prior=0.01) == 1
    assert min_dcf([1], [0], prior=0.01) == 0
    with pytest.raises(MetricError, match="no nontarget"):
        error_curve([1.0], [])


@pytest.mark.parametrize("prior", [0.0, 1.0, -1.0, math.nan])
def test_impossible_priors_are_refused(prior: float) -> None:
    with pytest.raises(MetricError, match="prior"):
        min_dcf([1], [0], prior=prior)


def test_free_errors_are_refused() -> None:
    with pytest.raises(MetricError, match="costs"):
        min_dcf([1], [0], prior=0.5, cost_miss=0)


def test_interval_holds_the_value() -> None:
    rng = np.random.default_rng(0)
    t, n = rng.normal(1, 1, size=100), rng.normal(size=500)
    how: dict[str, Any] = {"target_speakers": np.arange(100) % 10, "nontarget_speakers": np.arange(500) % 10}
    found = min_dcf_estimate(t, n, prior=0.1, **how)
    assert found.value == pytest.approx(min_dcf(t, n, prior=0.1))
    assert found.low < found.value <= found.high <= 1
