"""Risk beyond a control attack: anonymeter's formula, its limits, and what the attacker may say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.core.errors import MetricError
from personare.core.findings import Estimate, Finding
from personare.metrics.intervals import wilson
from personare.metrics.privacy.control import CARD, attack_risk, risk_over_control


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
