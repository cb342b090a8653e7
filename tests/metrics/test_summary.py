"""The shared pass gives the numbers of the single metrics, and findings that know their chance level."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.metrics.privacy.cllr import (
    calibration_loss,
    calibration_loss_estimate,
    cllr,
    cllr_estimate,
    min_cllr,
    min_cllr_estimate,
)
from personare.metrics.privacy.detection import min_dcf, min_dcf_estimate
from personare.metrics.privacy.dsys import dsys, dsys_reference, dsys_reference_estimate
from personare.metrics.privacy.eer import kaldi_eer, kaldi_eer_estimate, rocch_eer, rocch_eer_estimate
from personare.metrics.privacy.summary import score_summary, score_values
from personare.metrics.privacy.zebra import d_ece, d_ece_estimate, log10_l, log10_l_estimate, log10_l_maximum

from .conftest import GoldenTrials

SCORES = st.lists(st.integers(-20, 20), min_size=1, max_size=40)
SINGLE = {
    "eer": rocch_eer,
    "cllr": cllr,
    "min_cllr": min_cllr,
    "calibration_loss": calibration_loss,
    "d_ece": d_ece,
    "log10_l": log10_l,
}


@given(SCORES, SCORES)
def test_one_pass_gives_the_single_metrics(targets: list[int], nontargets: list[int]) -> None:
    found = score_values(targets, nontargets)
    assert set(found) == set(SINGLE)
    for name, metric in SINGLE.items():
        assert found[name] == pytest.approx(metric(targets, nontargets), abs=1e-12), name


@pytest.mark.shared
def test_summary_of_golden_scores(golden_scores: Callable[[str], GoldenTrials]) -> None:
    trials = golden_scores("f_aa")
    t, n = trials.targets, trials.nontargets
    how: dict[str, Any] = {"target_speakers": trials.target_speakers, "nontarget_speakers": trials.nontarget_speakers}
    found = score_summary(t, n, rng=np.random.default_rng(1), dcf_prior=0.1, **how)
    values = {finding.metric.name: finding.estimate for finding in found.findings}
    assert values["min_dcf"].value == pytest.approx(min_dcf(t, n, prior=0.1))
    for name, metric in {**SINGLE, "eer_kaldi": kaldi_eer, "dsys_reference": dsys_reference}.items():
        assert values[name].value == pytest.approx(metric(t, n))
        assert name == "log10_l" or values[name].low <= values[name].value <= values[name].high
        assert values[name].n == 16
    assert values["dsys"].value == pytest.approx(dsys(t, n, rng=np.random.default_rng(2)), abs=0.005)
    assert (found.tag, found.log10_l_maximum) == ("C", log10_l_maximum(len(t), len(n)))
    separate = cllr_estimate(t, n, **how)
    assert values["cllr"].high == pytest.approx(separate.high)
    differs = {f.metric.name: f.differs_from_chance for f in found.findings}
    assert differs["eer"]
    assert differs["cllr"] is None


def test_the_summary_gives_the_intervals_of_the_single_metrics() -> None:
    """Same trials, same speakers: every interval is that of its own file."""
    rng = np.random.default_rng(2)
    t, n = rng.normal(1.0, 1.0, 60), rng.normal(0.0, 1.0, 300)
    who: dict[str, Any] = {"target_speakers": np.arange(60) % 6, "nontarget_speakers": np.arange(300) % 6}
    found = score_summary(t, n, rng=np.random.default_rng(3), level=0.8, dcf_prior=0.1, **who)
    estimates = {f.metric.name: f.estimate for f in found.findings}

    single = {
        "eer": rocch_eer_estimate,
        "min_cllr": min_cllr_estimate,
        "cllr": cllr_estimate,
        "calibration_loss": calibration_loss_estimate,
        "d_ece": d_ece_estimate,
        "log10_l": log10_l_estimate,
        "eer_kaldi": kaldi_eer_estimate,
        "dsys_reference": dsys_reference_estimate,
    }
    for name, estimate in single.items():
        alone, ours = estimate(t, n, level=0.8, **who), estimates[name]
        expected = pytest.approx((alone.value, alone.low, alone.high), abs=1e-12, nan_ok=True)
        assert (ours.value, ours.low, ours.high) == expected, name
    dcf = min_dcf_estimate(t, n, prior=0.1, level=0.8, **who)
    assert (estimates["min_dcf"].low, estimates["min_dcf"].high) == pytest.approx((dcf.low, dcf.high), abs=1e-12)
    conditions = {f.metric.name: f.conditions for f in found.findings}
    assert conditions["eer"] == {"targets": 60, "nontargets": 300}
    assert conditions["min_dcf"] == {
        "targets": 60,
        "nontargets": 300,
        "prior": 0.1,
        "cost_miss": 1,
        "cost_false_alarm": 1,
    }
    assert (found.targets, found.nontargets) == (60, 300)


def test_noise_is_not_called_a_finding_and_few_targets_are_no_reason_to_fail() -> None:
    rng = np.random.default_rng(3)
    t, n = rng.normal(size=15), rng.normal(size=300)
    who: dict[str, Any] = {"target_speakers": np.arange(15) % 5, "nontarget_speakers": np.arange(300) % 5}
    found = score_summary(t, n, rng=rng, dcf_prior=0.1, **who)
    names = [f.metric.name for f in found.findings]
    assert "dsys_reference" not in names  # its histograms need 20 targets
    more = who | {"target_speakers": np.arange(20) % 5}
    enough = score_summary(rng.normal(size=20), n, rng=rng, dcf_prior=0.1, **more)
    assert "dsys_reference" in [f.metric.name for f in enough.findings]
    alike = (
        ([1.0] * 20, [0.0, 1.0]),
        ([0.0] * 20, [0.0, 1.0]),
        ([0.0, 1.0] * 10, [0.0] * 2),
        ([0.0, 1.0] * 10, [1.0] * 2),
    )
    for above, below in alike:
        one_constant = score_summary(above, below * 150, rng=rng, deals=2, dcf_prior=0.1, **more)
        assert "dsys_reference" in [f.metric.name for f in one_constant.findings], "one class may be all alike"
    assert not any(f.differs_from_chance for f in found.findings if f.metric.name in ("eer", "min_cllr", "d_ece"))


def test_all_tied_is_zero_evidence_everywhere() -> None:
    who: dict[str, Any] = {"target_speakers": np.arange(30) % 5, "nontarget_speakers": np.arange(300) % 5}
    found = score_summary([1.0] * 30, [1.0] * 300, rng=np.random.default_rng(0), dcf_prior=0.1, **who)
    values = {f.metric.name: f.estimate.value for f in found.findings}
    assert found.tag == "0"
    assert (values["eer"], values["min_cllr"], values["d_ece"], values["log10_l"], values["dsys"]) == (0.5, 1, 0, 0, 0)


def test_uniform_scores_half_overlapping_have_closed_forms() -> None:
    # Three blocks: half of the nontargets alone, both halves together (no evidence), half of the targets alone.
    grid = (np.arange(1000) + 0.5) / 1000
    t, n = np.repeat([1.0, 2.0], 500), np.repeat([0.0, 1.0], 500)
    for targets, nontargets, tolerance in ((t, n, 1e-12), (grid + 0.5, grid, 5e-3)):
        found = score_values(targets, nontargets)
        assert found["eer"] == pytest.approx(0.25, abs=tolerance)
        assert found["min_cllr"] == pytest.approx(0.5, abs=tolerance)
        assert found["d_ece"] == pytest.approx(1 / (4 * np.log(2)), abs=tolerance)
    assert dsys(t, n, rng=np.random.default_rng(0)) == pytest.approx(0.5, abs=0.03)


@given(SCORES, SCORES)
def test_a_speaker_whose_trials_only_repeat_others_changes_nothing(t: list[int], n: list[int]) -> None:
    once, with_twin = score_values(t, n), score_values(t * 2, n * 2)
    for name in set(once) - {"log10_l"}:  # Laplace's added trials weigh less beside more real ones
        assert with_twin[name] == pytest.approx(once[name], abs=1e-9)


def test_an_attack_that_beats_every_deal_is_unlikely_in_every_metric_and_one_that_fails_is_not() -> None:
    rng = np.random.default_rng(5)
    who: dict[str, Any] = {"target_speakers": np.arange(60) % 12, "nontarget_speakers": np.arange(300) % 12}
    strong = score_summary(rng.normal(3, 1, 60), rng.normal(size=300), rng=rng, dcf_prior=0.1, **who)
    weak = score_summary(np.linspace(-1, 1, 60), np.linspace(-1, 1, 300), rng=rng, dcf_prior=0.1, **who)
    found = {f.metric.name: (f.p_better, f.p_worse) for f in strong.findings if f.p_better is not None}
    assert set(found) == {"eer", "eer_kaldi", "min_cllr", "min_dcf", "d_ece", "log10_l", "dsys"}
    assert all(better < 0.006 and worse == 1.0 for better, worse in found.values())
    assert all(f.p_better > 0.3 for f in weak.findings if f.p_better is not None)
