"""Risk beyond a control attack: anonymeter's formula, its limits, and what the attacker may say."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from personare.core.errors import MetricError
from personare.core.findings import Estimate, Finding
from personare.metrics.intervals import wilson
from personare.metrics.privacy.control import CARD, AttackRisk, attack_risk, risk_over_control


@given(st.integers(0, 50), st.integers(0, 49))
def test_anonymeters_formula(hits: int, control_hits: int) -> None:
    found = risk_over_control(wilson(hits, 50), wilson(control_hits, 50))
    a, c = hits / 50, control_hits / 50
    assert found.value == pytest.approx(max(0.0, (a - c) / (1 - c)))
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_interval_is_that_of_a_simulated_pair_of_attacks() -> None:
    rng = np.random.default_rng(0)
    a, c = rng.binomial(400, 0.6, size=20_000) / 400, rng.binomial(400, 0.2, size=20_000) / 400
    low, high = np.quantile((a - c) / (1 - c), [0.025, 0.975])
    found = risk_over_control(wilson(240, 400), wilson(80, 400))
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.01)


def test_more_success_of_the_control_means_less_risk() -> None:
    risks = [risk_over_control(wilson(30, 50), wilson(c, 50)).value for c in range(0, 50, 7)]
    assert risks == sorted(risks, reverse=True)


def test_what_the_attacker_may_say() -> None:
    strong = attack_risk(60, 100, control_successes=5, control_attempts=100, baseline=0.05)
    assert strong.proves_something
    assert strong.beats_control
    assert "the data add a risk of 57.9%" in strong.sentence
    general = attack_risk(30, 100, control_successes=28, control_attempts=100, baseline=0.05)
    assert general.proves_something
    assert not general.beats_control
    assert "no better than on people who are not in them" in general.sentence
    weak = attack_risk(5, 100, control_successes=0, control_attempts=100, baseline=0.05)
    assert not weak.proves_something
    assert "proves nothing" in weak.sentence


def test_a_finding_says_whether_it_differs_from_chance() -> None:
    strong = attack_risk(60, 100, control_successes=5, control_attempts=100, baseline=0.05)
    none = attack_risk(5, 100, control_successes=5, control_attempts=100, baseline=0.05)
    assert Finding(CARD, strong.risk).differs_from_chance
    assert not Finding(CARD, none.risk).differs_from_chance


def test_impossible_rates_are_refused() -> None:
    with pytest.raises(MetricError, match="always succeeds"):
        risk_over_control(wilson(1, 2), wilson(2, 2))
    with pytest.raises(MetricError, match="attack's success rate"):
        risk_over_control(Estimate(1.2, 1.1, 1.3, 5), wilson(1, 2))
    with pytest.raises(MetricError, match="guessing"):
        attack_risk(1, 2, control_successes=1, control_attempts=2, baseline=2)


def test_guessing_may_never_or_always_succeed() -> None:
    for baseline in (0.0, 1.0):
        found = attack_risk(1, 2, control_successes=0, control_attempts=2, baseline=baseline)
        assert found.baseline == baseline and found.proves_something == (baseline == 0.0)
    with pytest.raises(MetricError, match=r"not at -0\.1"):
        attack_risk(1, 2, control_successes=1, control_attempts=2, baseline=-0.1)


def test_what_is_exactly_at_guessing_or_at_the_control_proves_nothing() -> None:
    rate = Estimate(0.5, 0.2, 0.8, 9)
    risk = Estimate(0.1, 0.0, 0.2, 9)
    assert not AttackRisk(rate, rate, 0.2, risk, 0.01, 0.99).proves_something
    assert AttackRisk(rate, rate, 0.19, risk, 0.5, 0.5).proves_something
    assert not AttackRisk(rate, rate, 0.1, risk, 0.0251, 0.01).beats_control
    assert AttackRisk(rate, rate, 0.1, risk, 0.025, 0.99).beats_control, "one in forty is proof, whatever the interval"
    finding = AttackRisk(rate, rate, 0.1, risk, 0.03, 0.97).finding({"N": 5})
    assert (finding.p_better, finding.p_worse, finding.chance, finding.conditions) == (0.03, 0.97, 0.0, {"N": 5})


@pytest.mark.parametrize("baseline", [0.05, 0.4])
@pytest.mark.parametrize(("hits", "control"), [(0, 0), (3, 7), (4.9, 2.1), (9, 1), (12, 0), (12, 8)])
def test_the_tests_against_control_and_guessing_by_counting(hits: float, control: float, baseline: float) -> None:
    """Fisher: all ways to deal the successes to 12 and 9 attempts; guessing: the binomial law; the larger counts."""
    a, c = math.floor(hits), math.ceil(control)  # fractions are rounded towards no risk
    found = attack_risk(hits, 12, control_successes=control, control_attempts=9, baseline=baseline)
    ways = [math.comb(12, k) * math.comb(9, a + c - k) if k <= a + c else 0 for k in range(13)]
    guessed = [math.comb(12, k) * baseline**k * (1 - baseline) ** (12 - k) for k in range(13)]
    assert found.p_better == pytest.approx(max(sum(ways[a:]) / sum(ways), sum(guessed[a:])))
    assert found.p_worse == pytest.approx(sum(ways[: a + 1]) / sum(ways))


@pytest.mark.parametrize(("attack", "control"), [(0.85, 0.5), (0.95, 0.5), (0.6, 0.5), (0.3, 0.1), (0.9, 0.2)])
def test_the_interval_of_ten_people_holds_the_truth_as_often_as_it_says(attack: float, control: float) -> None:
    """Every pair of counts with its probability: 92 to 98 %, where the paper's interval holds it in up to 99.9 %."""
    n, true = 10, (attack - control) / (1 - control)
    held = of_paper = possible = 0.0
    for hits, others in itertools.product(range(n + 1), range(n)):
        weight = binom.pmf(hits, n, attack) * binom.pmf(others, n, control)
        risk = attack_risk(hits, n, control_successes=others, control_attempts=n, baseline=0.1).risk
        paper = risk_over_control(wilson(hits, n), wilson(others, n))
        assert 0 <= risk.low <= risk.value <= risk.high <= 1 and risk.value == paper.value
        possible += weight
        held += weight * (risk.low - 1e-9 <= true <= risk.high + 1e-9)
        of_paper += weight * (paper.low - 1e-9 <= true <= paper.high + 1e-9)
    assert 0.92 <= held / possible <= 0.98
    assert attack < 0.8 or control < 0.5 or of_paper / possible > 0.985


def test_the_interval_of_a_ratio_is_that_of_its_only_uncertain_part() -> None:
    """With a control of many people the ratio of failures is the attack's failure rate, divided by a number."""
    found = attack_risk(6, 10, control_successes=2e8, control_attempts=10**9, baseline=0.1).risk
    rate = wilson(6, 10)
    assert (found.low, found.high) == pytest.approx(((rate.low - 0.2) / 0.8, (rate.high - 0.2) / 0.8), abs=1e-3)


def test_the_ends_of_both_intervals_add_up_at_right_angles() -> None:
    """Value 3/8; a step of the attack counts 1 / 0.8, one of the control 0.5 / 0.8^2; each end has its own steps."""
    found = risk_over_control(Estimate(0.5, 0.3, 0.6, 70), Estimate(0.2, 0.1, 0.25, 90))
    assert found.value == pytest.approx(0.375) and found.n == 70
    assert found.low == pytest.approx(0.375 - math.hypot(0.2 / 0.8, 0.05 * 0.5 / 0.64))
    assert found.high == pytest.approx(0.375 + math.hypot(0.1 / 0.8, 0.1 * 0.5 / 0.64))
    sure = risk_over_control(Estimate(1.0, 1.0, 1.0, 5), Estimate(0.0, 0.0, 0.0, 5))
    assert (sure.value, sure.low, sure.high) == (1.0, 1.0, 1.0)
    worse = risk_over_control(Estimate(0.1, 0.05, 0.2, 5), Estimate(0.5, 0.4, 0.6, 5))
    assert (worse.value, worse.low, worse.high) == (0.0, 0.0, 0.0), "less than the control is no risk"


@pytest.mark.parametrize("rate", [(0.5, -0.1, 0.6), (0.5, 0.6, 0.7), (0.5, 0.3, 0.4), (0.5, 0.3, 1.1)])
def test_a_rate_outside_its_interval_is_refused_on_either_side(rate: tuple[float, float, float]) -> None:
    good, bad = Estimate(0.5, 0.4, 0.6, 9), Estimate(*rate, 9)
    with pytest.raises(MetricError, match="the attack's success rate"):
        risk_over_control(bad, good)
    with pytest.raises(MetricError, match="the control's success rate"):
        risk_over_control(good, bad)
