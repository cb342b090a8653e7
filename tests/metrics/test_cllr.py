"""Cllr and min Cllr: golden values, Gaussians whose scores are true likelihood ratios, laws, extremes."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from personare.core.errors import MetricError
from personare.metrics.privacy.cllr import (
    calibration_loss,
    calibration_loss_estimate,
    cllr,
    cllr_estimate,
    min_cllr,
    min_cllr_estimate,
)

from .conftest import CONDITIONS, GoldenTrials
from .test_calibration import plain_pav

SCORES = st.lists(st.integers(-20, 20), min_size=1, max_size=40)
Load = Callable[[str], GoldenTrials]


@pytest.mark.shared
@pytest.mark.parametrize("condition", CONDITIONS)
def test_golden_scores_of_voiceprivacy_2020(golden_scores: Load, condition: str) -> None:
    trials = golden_scores(condition)
    assert cllr(trials.targets, trials.nontargets) == pytest.approx(trials.expected["cllr"], rel=1e-5)
    assert min_cllr(trials.targets, trials.nontargets) == pytest.approx(trials.expected["min_cllr"], rel=1e-5)


@pytest.mark.shared
@pytest.mark.parametrize("condition", CONDITIONS)
def test_golden_cosines_of_x_vectors(golden_cosines: Load, condition: str) -> None:
    trials = golden_cosines(condition)
    assert cllr(trials.targets, trials.nontargets) == pytest.approx(trials.expected["cllr"], rel=1e-5)
    assert min_cllr(trials.targets, trials.nontargets) == pytest.approx(trials.expected["min_cllr"], rel=1e-5)


def test_gaussian_scores_that_are_their_own_likelihood_ratio() -> None:
    # LLRs of two Gaussians d apart are N(+-d^2/2, d^2): well calibrated, so Cllr is its own minimum.
    d, rng = 1.5, np.random.default_rng(0)
    t, n = rng.normal(d * d / 2, d, 200_000), rng.normal(-d * d / 2, d, 200_000)
    target_density = NormalDist(d * d / 2, d).pdf
    expected = quad(lambda s: target_density(s) * math.log2(1 + math.exp(-s)), -20, 20)[0]
    assert cllr(t, n) == pytest.approx(expected, abs=3e-3)
    assert min_cllr(t, n) == pytest.approx(expected, abs=3e-3)


@given(SCORES, SCORES)
def test_min_cllr_is_cllr_of_a_plain_pav(targets: list[int], nontargets: list[int]) -> None:
    llr = plain_pav([*targets], [*nontargets])
    bits = np.mean([np.logaddexp(0, -llr[s]) for s in targets]) + np.mean([np.logaddexp(0, llr[s]) for s in nontargets])
    assert min_cllr(targets, nontargets) == pytest.approx(bits / 2 / math.log(2), abs=1e-12)


@given(SCORES, SCORES)
def test_laws_of_min_cllr(targets: list[int], nontargets: list[int]) -> None:
    least = min_cllr(targets, nontargets)
    assert 0 <= least <= 1
    assert least <= cllr(targets, nontargets) + 1e-12
    assert least == pytest.approx(min_cllr([3 * s + 7 for s in targets], [3 * s + 7 for s in nontargets]))
    assert least == pytest.approx(min_cllr(targets * 2, nontargets * 5))
    assert least == pytest.approx(min_cllr([-s for s in nontargets], [-s for s in targets]))
    assert cllr(targets, nontargets) == pytest.approx(cllr([-s for s in nontargets], [-s for s in targets]))


def test_extremes_never_overflow() -> None:
    assert cllr([1e308], [-1e308]) == 0.0
    assert cllr([-1e5], [0.0]) == pytest.approx((1e5 / math.log(2) + 1) / 2)
    assert cllr([0.0], [0.0]) == 1.0
    assert min_cllr([1], [0]) == 0.0
    assert min_cllr([0] * 3, [0] * 50) == 1.0
    assert min_cllr([0], [1]) == 1.0
    assert calibration_loss([0.0, 1.0], [0.0]) == pytest.approx(cllr([0.0, 1.0], [0.0]) - min_cllr([0.0, 1.0], [0.0]))


@pytest.mark.parametrize("metric", [cllr, min_cllr, calibration_loss])
def test_one_class_only_is_refused(metric: Callable[..., float]) -> None:
    with pytest.raises(MetricError, match="no nontarget scores"):
        metric([1.0], [])


def test_intervals_hold_their_values() -> None:
    rng = np.random.default_rng(0)
    t, n = rng.normal(1, 2, size=200), rng.normal(-1, 2, size=900)
    how: dict[str, Any] = {"target_speakers": np.arange(200) % 10, "nontarget_speakers": np.arange(900) % 10}
    pairs = ((cllr, cllr_estimate), (min_cllr, min_cllr_estimate), (calibration_loss, calibration_loss_estimate))
    for metric, estimate in pairs:
        found = estimate(t, n, **how)
        assert found.value == pytest.approx(metric(t, n))
        assert found.low < found.value < found.high
        assert found.n == 10
