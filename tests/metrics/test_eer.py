"""EER: against the challenge's published values, two Gaussians, laws of ranking, and bad scores."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.core.errors import MetricError
from personare.metrics.privacy.eer import (
    kaldi_eer,
    kaldi_eer_estimate,
    kaldi_eer_of_levels,
    rocch_eer,
    rocch_eer_estimate,
)

from .conftest import CONDITIONS, GoldenTrials, printed

SCORES = st.lists(st.integers(-20, 20), min_size=1, max_size=40)
Load = Callable[[str], GoldenTrials]


def kaldi_walk(targets: list[float], nontargets: list[float]) -> float:
    """Kaldi's loop, written down step by step."""
    t, n = sorted(targets), sorted(nontargets)
    place = 0
    while place + 1 < len(t):
        mirror = max(0, len(n) - 1 - int(len(n) * place * 1.0 / len(t)))
        if n[mirror] < t[place]:
            break
        place += 1
    return place / len(t)


def hull_eer(targets: list[float], nontargets: list[float]) -> float:
    """Largest over priors of the smallest Bayes error: the ROC hull at the diagonal, by brute force over corners."""
    points = []
    for threshold in [*sorted({*targets, *nontargets}), math.inf]:
        miss = sum(s < threshold for s in targets) / len(targets)
        alarm = sum(s >= threshold for s in nontargets) / len(nontargets)
        points.append((miss, alarm))
    best = 1.0
    for m1, a1 in points:
        for m2, a2 in points:
            d1, d2 = m1 - a1, m2 - a2
            if d1 <= 0 <= d2:
                part = 0.0 if d1 == d2 else -d1 / (d2 - d1)
                best = min(best, m1 + part * (m2 - m1))
    return best


@pytest.mark.shared
@pytest.mark.parametrize("condition", CONDITIONS)
def test_golden_scores_of_voiceprivacy_2020(golden_scores: Load, condition: str) -> None:
    trials = golden_scores(condition)
    expected = trials.expected
    assert (len(trials.targets), len(trials.nontargets)) == (expected["targets"], expected["nontargets"])
    assert 100 * rocch_eer(trials.targets, trials.nontargets) == pytest.approx(expected["rocch_eer_pct"], rel=1e-6)
    kaldi = 100 * kaldi_eer(trials.targets, trials.nontargets)
    decimals = len(str(expected["eer_kaldi_pct"]).split(".")[1])
    assert kaldi == pytest.approx(expected["eer_kaldi_pct"], abs=printed(kaldi, decimals))


@pytest.mark.shared
@pytest.mark.parametrize("condition", CONDITIONS)
def test_golden_cosines_of_x_vectors(golden_cosines: Load, condition: str) -> None:
    trials = golden_cosines(condition)
    found = 100 * rocch_eer(trials.targets, trials.nontargets)
    assert found == pytest.approx(trials.expected["rocch_eer_pct"], abs=printed(found, 2))


@pytest.mark.parametrize("distance", [0.5, 1.0, 2.0, 3.0])
def test_two_gaussians_a_distance_apart(distance: float) -> None:
    grid = np.array([NormalDist().inv_cdf((i + 0.5) / 20_000) for i in range(20_000)])
    expected = NormalDist().cdf(-distance / 2)
    assert rocch_eer(grid + distance, grid) == pytest.approx(expected, abs=2e-4)
    assert kaldi_eer(grid + distance, grid) == pytest.approx(expected, abs=2e-4)


def test_uniform_scores_half_overlapping() -> None:
    grid = (np.arange(10_000) + 0.5) / 10_000
    assert rocch_eer(grid + 0.5, grid) == pytest.approx(0.25, abs=1e-4)


@given(SCORES, SCORES)
def test_hull_by_brute_force(targets: list[float], nontargets: list[float]) -> None:
    assert rocch_eer(targets, nontargets) == pytest.approx(hull_eer(targets, nontargets), abs=1e-12)


@given(SCORES, SCORES)
def test_kaldis_walk_by_its_own_loop(targets: list[float], nontargets: list[float]) -> None:
    assert kaldi_eer(targets, nontargets) == kaldi_walk(targets, nontargets)


@given(SCORES, SCORES, st.randoms(use_true_random=False))
def test_order_monotone_maps_and_copies_change_nothing(targets: list[int], nontargets: list[int], random: Any) -> None:
    before = rocch_eer(targets, nontargets)
    assert rocch_eer(random.sample(targets, len(targets)), nontargets) == before
    assert rocch_eer([math.exp(s / 4) for s in targets], [math.exp(s / 4) for s in nontargets]) == before
    assert rocch_eer(targets * 3, nontargets * 2) == pytest.approx(before, abs=1e-12)


@given(SCORES, SCORES)
def test_swapping_classes_and_turning_scores_around_is_the_same_question(t: list[int], n: list[int]) -> None:
    assert rocch_eer([-s for s in n], [-s for s in t]) == pytest.approx(rocch_eer(t, n), abs=1e-12)


@given(SCORES, SCORES)
def test_never_above_one_half_and_inverted_scores_neither(targets: list[int], nontargets: list[int]) -> None:
    eer, inverted = rocch_eer(targets, nontargets), rocch_eer(nontargets, targets)
    assert min(eer, inverted) >= 0
    assert max(eer, inverted) <= 0.5
    assert inverted == 0.5 or eer == 0.5 or eer + inverted > 0


def test_degenerate_scores_have_the_right_limit() -> None:
    assert rocch_eer([5] * 100, [5] * 100) == 0.5
    assert rocch_eer([1], [0]) == 0.0
    assert rocch_eer([0], [1]) == 0.5
    assert rocch_eer(np.array([0.1, 0.2], dtype=np.float32), [0, 0]) == 0.0
    assert kaldi_eer([0], [1]) == 0.0  # one target: Kaldi's walk cannot take a step


@pytest.mark.parametrize("metric", [rocch_eer, kaldi_eer])
@pytest.mark.parametrize(
    ("targets", "nontargets", "message"),
    [
        ([], [1.0], "no target scores"),
        ([1.0], [], "no nontarget scores"),
        ([math.nan], [1.0], "finite; number 1 is nan"),
        ([1.0], [0.0, math.inf], "finite; number 2 is inf"),
        ([[1.0]], [1.0], "one list"),
        (["a"], [1.0], "must be numbers"),
    ],
)
def test_bad_scores_are_one_line(metric: Any, targets: Any, nontargets: Any, message: str) -> None:
    with pytest.raises(MetricError, match=message):
        metric(targets, nontargets)


@pytest.mark.shared
def test_interval_holds_the_value_and_counts_speakers(golden_scores: Load) -> None:
    trials = golden_scores("f_aa")
    who: dict[str, Any] = {"target_speakers": trials.target_speakers, "nontarget_speakers": trials.nontarget_speakers}
    for estimate, metric in ((rocch_eer_estimate, rocch_eer), (kaldi_eer_estimate, kaldi_eer)):
        found = estimate(trials.targets, trials.nontargets, **who)
        assert found.value == metric(trials.targets, trials.nontargets)
        assert found.n == 16
        assert 0.2 < found.low < found.value < found.high < 0.4


def test_an_attacker_without_error_is_not_certain_to_make_none() -> None:
    """Without any of 20 error-free speakers there is no error; Wilson's bound for 0 of 20 knows better: 16 %."""
    who = np.repeat(np.arange(20), 3)
    found = rocch_eer_estimate(np.ones(60), np.zeros(60), target_speakers=who, nontarget_speakers=who)
    assert (found.value, found.low, found.n) == (0.0, 0.0, 20) and found.high == pytest.approx(0.1611, abs=1e-4)


def test_kaldis_rule_on_rows_is_the_rule_on_each_row() -> None:
    """Speakers are left out row by row; every row must be walked in its own levels."""
    rng = np.random.default_rng(3)
    targets, nontargets = (rng.integers(0, 3, size=(7, 40)) for _ in range(2))
    rows = kaldi_eer_of_levels(targets, nontargets)
    assert rows.tolist() == [kaldi_eer_of_levels(t, n) for t, n in zip(targets, nontargets, strict=True)]
    assert len(set(rows.tolist())) > 3


def test_kaldis_rule_on_rows_of_many_targets_and_few_nontargets_that_lose_unequal_numbers() -> None:
    rng = np.random.default_rng(4)
    for most, least in ((9, 2), (2, 9)):
        targets, nontargets = (rng.integers(0, high, size=(6, 30)) for high in (most, least))
        targets[:3, 8:] = nontargets[2:5, 12:] = 0
        rows = kaldi_eer_of_levels(targets, nontargets)
        assert rows.tolist() == [kaldi_eer_of_levels(t, n) for t, n in zip(targets, nontargets, strict=True)]
