"""ZEBRA: golden values, the paper's limits and Table 1, eq. 6 against the integral of eq. 4, laws, extremes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from personare.core.errors import MetricError
from personare.metrics.privacy.calibration import oracle_llrs
from personare.metrics.privacy.cllr import min_cllr
from personare.metrics.privacy.zebra import (
    D_ECE_MAX,
    d_ece,
    d_ece_estimate,
    d_ece_of_levels,
    ece,
    ece_curve,
    log10_l,
    log10_l_estimate,
    log10_l_maximum,
    log10_l_of_levels,
    tag,
    z_of,
)

from .conftest import CONDITIONS, GoldenTrials, printed
from .test_calibration import plain_pav

SCORES = st.lists(st.integers(-20, 20), min_size=1, max_size=40)
Load = Callable[[str], GoldenTrials]


@pytest.mark.shared
@pytest.mark.parametrize("condition", CONDITIONS)
def test_golden_scores_of_voiceprivacy_2020(golden_scores: Load, condition: str) -> None:
    trials = golden_scores(condition)
    t, n, expected = trials.targets, trials.nontargets, trials.expected
    # The reference adds up to 1e-6 to each LLR to keep the order strict; only m_oa (D_ECE 0.0003) shows it, by 1.5e-8.
    assert d_ece(t, n) == pytest.approx(expected["d_ece"], rel=1e-5, abs=2e-8)
    assert log10_l(t, n) == pytest.approx(expected["log10_l"], rel=1e-5)
    assert tag(log10_l(t, n)) == expected["tag"]


@pytest.mark.shared
@pytest.mark.parametrize("condition", CONDITIONS)
def test_golden_d_ece_to_the_last_digit_with_the_references_own_epsilon(golden_scores: Load, condition: str) -> None:
    trials = golden_scores(condition)
    t, n = trials.targets, trials.nontargets
    llrs = np.concatenate(oracle_llrs(t, n))
    order = np.argsort(np.concatenate([t, n]), kind="stable")
    llrs[order] += np.arange(1, len(llrs) + 1) * 1e-6 / len(llrs)
    ratio = np.exp(np.clip(np.concatenate([llrs[: len(t)], -llrs[len(t) :]]), -60, 60))
    z = z_of(ratio, np.ones_like(ratio))
    found = (z[: len(t)].mean() + z[len(t) :].mean()) / math.log(2)
    assert found == pytest.approx(trials.expected["d_ece"], abs=printed(0.0, 8))


@pytest.mark.shared
def test_published_area_and_height_of_the_f_oo_profile(golden_scores: Load) -> None:
    trials = golden_scores("f_oo")
    curve = ece_curve(trials.targets, trials.nontargets, priors=np.linspace(0, 1, 1001))
    area = ((curve.zero_evidence - curve.minimum)[1:] + (curve.zero_evidence - curve.minimum)[:-1]).sum() / 2 / 1000
    assert area == pytest.approx(0.5839, abs=5e-5)
    at_even_odds = ece_curve(trials.targets, trials.nontargets, priors=[0.5])
    assert at_even_odds.minimum[0] == pytest.approx(min_cllr(trials.targets, trials.nontargets), rel=1e-12)


@given(SCORES, SCORES)
def test_equation_6_is_the_integral_of_equation_4(targets: list[int], nontargets: list[int]) -> None:
    llr = plain_pav([*targets], [*nontargets])
    t, n = np.array([llr[s] for s in targets]), np.array([llr[s] for s in nontargets])

    def gap(pi: float) -> float:
        odds = math.log(pi / (1 - pi))
        zero = -pi * math.log2(pi) - (1 - pi) * math.log2(1 - pi)
        adversary = pi * np.logaddexp(0, -t - odds).mean() + (1 - pi) * np.logaddexp(0, n + odds).mean()
        return float(zero - adversary / math.log(2))

    assert d_ece(targets, nontargets) == pytest.approx(quad(gap, 0, 1, limit=200)[0], abs=1e-6)


@given(SCORES, SCORES)
def test_worst_case_is_the_strongest_llr_of_a_plain_pav(targets: list[int], nontargets: list[int]) -> None:
    found = log10_l(targets, nontargets)
    if len({*plain_pav([*targets], [*nontargets]).values()}) == 1:
        assert found == 0
    else:
        strongest = max(abs(x) for x in plain_pav([*targets], [*nontargets], laplace=True).values())
        assert found == pytest.approx(strongest / math.log(10), abs=1e-9)
    assert found <= log10_l_maximum(len(targets), len(nontargets)) + 1e-12


@given(SCORES, SCORES)
def test_laws_of_d_ece(targets: list[int], nontargets: list[int]) -> None:
    found = d_ece(targets, nontargets)
    assert 0 <= found <= D_ECE_MAX
    assert found == pytest.approx(d_ece([s**3 for s in targets], [s**3 for s in nontargets]), abs=1e-12)
    assert found == pytest.approx(d_ece(targets * 2, nontargets * 3), abs=1e-12)
    assert found == pytest.approx(d_ece([-s for s in nontargets], [-s for s in targets]), abs=1e-12)


def test_z_has_the_papers_limits_and_no_jump_at_the_series() -> None:
    def z(x: float) -> float:
        return float(z_of(np.array([x]), np.array([1.0]))[0])

    assert z(1.0) == 0
    assert z(1e12) == pytest.approx(0.25, abs=1e-9)
    assert z_of(np.array([1.0]), np.array([0.0]))[0] == 0.25
    for x in (0.5, 0.98, 0.9899, 0.9901, 0.999, 1.001, 1.0099, 1.0101, 1.02, 3.0):
        expected = quad(lambda u: (u - 1) ** 2 / u, 1, x)[0] / (2 * (x - 1) ** 2)  # an integral form of eq. 6's Z
        assert z(x) == pytest.approx(expected, rel=1e-8)


def test_perfect_separation_and_all_tied() -> None:
    assert d_ece([1, 2], [-1, 0]) == pytest.approx(1 / (2 * math.log(2)))
    for targets, nontargets in ((100, 100), (548, 11196), (1, 1), (7, 3)):
        assert d_ece([5] * targets, [5] * nontargets) == 0
        assert log10_l([5] * targets, [5] * nontargets) == 0
        assert tag(log10_l([5] * targets, [5] * nontargets)) == "0"
        separated = log10_l(np.arange(targets) + 1e6, np.arange(nontargets))
        assert separated == pytest.approx(log10_l_maximum(targets, nontargets))
    assert log10_l_maximum(548, 11196) == pytest.approx(math.log10(11196 * 549 / 548))
    assert log10_l([0], [1]) == 0


def test_levels_that_lost_their_weight_change_nothing() -> None:
    t, n = np.array([0.0, 2.0, 1.0, 4.0]), np.array([5.0, 1.0, 2.0, 0.0])
    padded = [np.insert(side, [0, 2, 4], 0.0) for side in (t, n)]
    assert log10_l_of_levels(*padded) == log10_l_of_levels(t, n) > 0
    assert d_ece_of_levels(*padded) == d_ece_of_levels(t, n) > 0
    assert log10_l_of_levels(np.array([0.0, 2.0]), np.array([0.0, 2.0])) == 0.0


def test_table_1_closes_its_intervals_below() -> None:
    edges = {0: "0", 1e-9: "A", 0.999999: "A", 1: "B", 1.999999: "B", 2: "C", 3.999999: "C", 4: "D", 5: "E", 6: "F"}
    assert {x: tag(x) for x in edges} == edges
    assert tag(99) == "F"
    assert log10_l(range(9, 18), range(9)) == 1.0  # 9 against 9: l is exactly 10, and that is B
    for bad in (-0.1, math.nan):
        with pytest.raises(MetricError, match="0 or more"):
            tag(bad)


@given(SCORES, SCORES, st.floats(0.01, 0.99))
def test_the_adversarys_profile_is_equation_4_of_a_plain_pav(t: list[int], n: list[int], prior: float) -> None:
    llr, odds = plain_pav([*t], [*n]), math.log(prior / (1 - prior))
    misses = np.mean([np.logaddexp(0.0, -llr[s] - odds) for s in t])
    alarms = np.mean([np.logaddexp(0.0, llr[s] + odds) for s in n])
    curve = ece_curve(t, n, priors=[prior, 0.5])
    assert curve.minimum[0] == pytest.approx((prior * misses + (1 - prior) * alarms) / math.log(2), abs=1e-9)
    assert curve.minimum[1] == pytest.approx(min_cllr(t, n), abs=1e-12)
    raw = (
        prior * np.logaddexp(0.0, -np.array(t) - odds).mean()
        + (1 - prior) * np.logaddexp(0.0, np.array(n) + odds).mean()
    )
    assert curve.actual[0] == pytest.approx(raw / math.log(2), rel=1e-9)


def test_ece_of_zero_evidence_is_the_priors_entropy() -> None:
    priors = [0.0, 0.1, 0.5, 1.0]
    curve = ece_curve([0.0, 0.0], [0.0], priors=priors)
    entropy = [0.0, -0.1 * math.log2(0.1) - 0.9 * math.log2(0.9), 1.0, 0.0]
    for profile in (curve.zero_evidence, curve.minimum, curve.actual):
        np.testing.assert_allclose(profile, entropy, atol=1e-12)
    assert ece([1e6], [-1e6], [0.5]).tolist() == [0.0]


@pytest.mark.parametrize("priors", [[], [-0.1], [1.1], [math.nan], [[0.5]]])
def test_priors_outside_0_to_1_are_refused(priors: Any) -> None:
    with pytest.raises(MetricError, match="priors"):
        ece_curve([0.0], [0.0], priors=priors)


def test_estimates_hold_their_values_and_respect_the_attainable_maximum() -> None:
    rng = np.random.default_rng(0)
    t, n = rng.normal(2, 1, size=100), rng.normal(size=1000)
    how: dict[str, Any] = {"target_speakers": np.arange(100) % 10, "nontarget_speakers": np.arange(1000) % 10}
    for metric, estimate in ((d_ece, d_ece_estimate), (log10_l, log10_l_estimate)):
        found = estimate(t, n, **how)
        assert found.value == pytest.approx(metric(t, n))
        if metric is log10_l:
            assert np.isnan([found.low, found.high]).all(), "it grows with the number of trials: no interval"
            continue
        assert found.low <= found.value <= found.high
    assert found.value <= log10_l_maximum(100, 1000)


@pytest.mark.parametrize("metric", [d_ece, log10_l])
def test_one_class_only_is_refused(metric: Callable[..., float]) -> None:
    with pytest.raises(MetricError, match="no target scores"):
        metric([], [1.0])
    for sides in ((0, 5), (5, 0)):
        with pytest.raises(MetricError, match="both classes"):
            log10_l_maximum(*sides)
