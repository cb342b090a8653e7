"""What an option is when it is not given: the same as its documented value, and not the same as another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from personare import metrics
from personare.core.findings import Estimate
from personare.core.vectors import run_means, speaker_means
from personare.metrics.privacy import conversations as talks
from personare.metrics.privacy import detection, dsys, legal
from personare.metrics.privacy.calibration import oracle_llrs
from personare.metrics.privacy.exceedance import BellCurve
from personare.metrics.privacy.isolation import fold_outcomes
from personare.metrics.privacy.levels import levels_of
from personare.metrics.privacy.nontargets_above import tests_against as compared
from personare.metrics.privacy.relink import envelope_of
from personare.metrics.privacy.speaker_rates import rates_over_speakers

RNG = np.random.default_rng
OWNER = np.repeat(np.arange(12), 4)
VOICES = RNG(0).normal(size=(12, 5)).repeat(4, axis=0)
LOUD = RNG(9).uniform(0.1, 9.0, (48, 1))  # vectors of unlike length: a raw mean is another one
TEST, ENROLL = (LOUD * (VOICES + 1.2 * RNG(seed).normal(size=VOICES.shape)) for seed in (1, 2))
SIDES = (TEST, OWNER, ENROLL, OWNER)
T, N = RNG(3).normal(1, 1, 40), RNG(4).normal(size=90)
WHO: dict[str, Any] = {"target_speakers": np.arange(40) % 8, "nontarget_speakers": np.arange(90) % 8}
LEVELS = (levels_of(T, N).targets, levels_of(T, N).nontargets)


def of_levels(make: Callable[..., Any], *given: float) -> Callable[..., float]:
    return lambda **how: float(make(*given, **how)(*LEVELS))


def linked(call: Callable[..., Any], *sides: Any, **fixed: Any) -> Callable[..., Any]:
    def rates(**how: Any) -> Any:
        found = call(*sides, **{"rng": RNG(0), **fixed, **how})
        result = getattr(found, "result", found)
        return [[e.value, e.low, e.high] for e in result.estimates]

    return rates


def vectors(call: Callable[..., Any], *sides: Any, **fixed: Any) -> Callable[..., Any]:
    return lambda **how: np.asarray(call(*sides, **fixed, **how).vectors[:])


def folds(**how: Any) -> Any:
    scores = np.array([[0.9, 0.5, 0.4, 0.1]])
    place, count = np.array([[0, 1, 1, 0]]), np.full((1, 4), 2)
    return fold_outcomes(scores, place, count, np.array([1]), folds=2, **how).isolated


def first_rows(**how: Any) -> Any:
    alike = np.eye(3)[[0, 0, 1]]
    return compared(alike, list("abc"), alike, list("abc")).above_in(alike[:2], **how)


OPTIONS: dict[str, tuple[Callable[..., Any], dict[str, Any], dict[str, Any]]] = {
    # a call, an option as it is when it is not given, and the same option otherwise
    "w of dsys": (lambda **how: dsys.dsys(T, N, rng=RNG(0), **how), {"w": 1.0}, {"w": 2.0}),
    "w of flat dsys": (lambda **how: metrics.dsys(T, N, **WHO, **how).value, {"w": 1.0}, {"w": 2.0}),
    "w of the estimate": (
        lambda **how: dsys.dsys_estimate(T, N, rng=RNG(0), **WHO, **how).value,
        {"w": 1.0},
        {"w": 2.0},
    ),
    "w of the reference": (lambda **how: dsys.dsys_reference(T, N, **how), {"w": 1.0}, {"w": 2.0}),
    "w of its estimate": (lambda **how: dsys.dsys_reference_estimate(T, N, **WHO, **how).value, {"w": 1.0}, {"w": 2.0}),
    "w of levels": (lambda **how: dsys.dsys_of_levels(*LEVELS, **how), {"w": 1.0}, {"w": 2.0}),
    "w of the correction": (of_levels(dsys.chance_corrected, 0.1), {"w": 1.0}, {"w": 2.0}),
    "miss": (of_levels(detection.dcf_of_levels, 0.3), {"cost_miss": 1.0}, {"cost_miss": 2.0}),
    "false alarm": (of_levels(detection.dcf_of_levels, 0.3), {"cost_false_alarm": 1.0}, {"cost_false_alarm": 2.0}),
    "miss of the estimate": (
        lambda **how: detection.min_dcf_estimate(T, N, prior=0.3, **WHO, **how).value,
        {"cost_miss": 1.0, "cost_false_alarm": 1.0},
        {"cost_miss": 2.0},
    ),
    "laplace": (lambda **how: oracle_llrs(T, N, **how)[0], {"laplace": False}, {"laplace": True}),
    "skew": (lambda **how: BellCurve(0.5, 1.0, **how).linkability(20), {"skew": 0.0}, {"skew": 1.0}),
    "frames": (
        lambda **how: envelope_of(RNG(5).normal(size=8000).astype(np.float32), 16_000, **how),
        {"frame_s": 0.01},
        {"frame_s": 0.02},
    ),
    "margin": (folds, {"margin": 0.0}, {"margin": 1.0}),
    "first row": (first_rows, {"first": 0}, {"first": 1}),
    "level": (
        lambda **how: [e.low for e in rates_over_speakers(np.eye(5), np.arange(5), **how)],
        {"level": 0.95},
        {"level": 0.9},
    ),
    "unit vectors of conversations": (
        lambda **how: vectors(talks.conversations, TEST, OWNER, length=2)(rng=RNG(0), **how),
        {"unit_first": True},
        {"unit_first": False},
    ),
    "unit vectors of enrolment": (
        vectors(talks.enrolment_means, TEST, OWNER),
        {"unit_first": True},
        {"unit_first": False},
    ),
    "unit vectors of speakers": (vectors(speaker_means, TEST, OWNER), {"unit_first": True}, {"unit_first": False}),
    "unit vectors of runs": (
        lambda **how: run_means(TEST, np.arange(48), np.full(12, 4), **how),
        {"unit_first": True},
        {"unit_first": False},
    ),
    "fewest conversations": (
        lambda **how: talks.conversations(TEST[:5], OWNER[:5], length=1, rng=RNG(0), **how).left_out == (),
        {"fewest": 1},
        {"fewest": 2},
    ),
    "fewest utterances": (
        lambda **how: talks.single_utterances(TEST[:5], OWNER[:5], rng=RNG(0), **how).left_out == (),
        {"fewest": 1},
        {"fewest": 2},
    ),
    "links by the paper": (linked(metrics.linkability, *SIDES, N=(5,)), {"paper": False}, {"paper": True}),
    "links by unit vectors": (linked(metrics.linkability, *SIDES, L=2), {"unit_first": True}, {"unit_first": False}),
    "runs by the paper": (
        linked(legal.link_conversations, *SIDES, length=1, sizes=(5,)),
        {"paper": False},
        {"paper": True},
    ),
    "runs by unit vectors": (
        linked(legal.link_conversations, *SIDES, length=2),
        {"unit_first": True},
        {"unit_first": False},
    ),
    "singled out by unit vectors": (
        linked(metrics.singling_out, *SIDES, L=2, N=(4, 12)),
        {"unit_first": True},
        {"unit_first": False},
    ),
    "predicates by unit vectors": (
        linked(legal.single_out_conversations, *SIDES, length=2, sizes=(4, 12)),
        {"unit_first": True},
        {"unit_first": False},
    ),
    "the control": (
        linked(metrics.singling_out, *SIDES, N=(4,), predicates=3),
        {"control": False, "draws": 5, "folds": 10},
        {"control": True},
    ),
    "the control of predicates": (
        linked(legal.single_out_conversations, *SIDES, length=1, sizes=(4,), predicates=3),
        {"control": False, "draws": 5, "folds": 10},
        {"control": True},
    ),
}


def plain(result: Any) -> Any:
    return np.asarray(result if not isinstance(result, Estimate) else [result.value, result.low, result.high]).tolist()


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_that_is_not_given_has_its_documented_value(name: str) -> None:
    call, silent, other = OPTIONS[name]
    assert plain(call()) == plain(call(**silent)), "as it is when it is not given"
    assert plain(call()) != plain(call(**{**silent, **other})), "it matters"
