"""Redraws of speakers are exact, and what pure noise gives is called chance."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from personare.core.errors import MetricError
from personare.core.findings import Finding
from personare.metrics.privacy.chance import shuffled_levels
from personare.metrics.privacy.cllr import cllr, cllr_values, min_cllr, min_cllr_of_levels
from personare.metrics.privacy.eer import (
    CARD,
    eer_of_levels,
    kaldi_eer,
    kaldi_eer_estimate,
    rocch_eer,
    rocch_eer_estimate,
)
from personare.metrics.privacy.redraws import level_values, speaker_levels
from personare.metrics.privacy.zebra import d_ece, d_ece_of_levels, log10_l, log10_l_of_levels

SPEAKERS = 7


def some_trials(seed: int) -> tuple[Any, Any, Any, Any]:
    """Scores with ties, and speakers with different numbers of trials."""
    rng = np.random.default_rng(seed)
    t, n = rng.integers(-3, 12, size=40), rng.integers(-10, 6, size=150)
    return t, n, rng.integers(0, SPEAKERS, size=40), rng.integers(0, SPEAKERS, size=150)


@pytest.mark.parametrize(
    ("metric", "of_levels"),
    [
        (rocch_eer, eer_of_levels),
        (min_cllr, min_cllr_of_levels),
        (d_ece, d_ece_of_levels),
        (log10_l, log10_l_of_levels),
    ],
)
def test_a_redraw_is_the_same_as_copying_trials(metric: Callable[..., float], of_levels: Callable[..., float]) -> None:
    t, n, t_who, n_who = some_trials(0)
    counts = speaker_levels(t, n, target_speakers=t_who, nontarget_speakers=n_who)
    drawn = np.random.default_rng(1).multinomial(SPEAKERS, [1 / SPEAKERS] * SPEAKERS, size=30)
    found = level_values(counts, [of_levels])(drawn.astype(float))[:, 0]
    for row, value in zip(drawn, found, strict=True):
        assert value == pytest.approx(metric(np.repeat(t, row[t_who]), np.repeat(n, row[n_who])), abs=1e-12)


def test_cllr_and_kaldi_redraws_are_the_same_as_copying_trials() -> None:
    t, n, t_who, n_who = some_trials(2)
    values, speakers = cllr_values(t, n, t_who, n_who)
    drawn = np.random.default_rng(1).multinomial(speakers, [1 / speakers] * speakers, size=20)
    for row, value in zip(drawn, values(drawn.astype(float)), strict=True):
        assert value == pytest.approx(cllr(np.repeat(t, row[t_who]), np.repeat(n, row[n_who])))
    found = kaldi_eer_estimate(
        t, n, target_speakers=t_who, nontarget_speakers=n_who, rng=np.random.default_rng(5), resamples=50
    )
    drawn = np.random.default_rng(5).multinomial(speakers, [1 / speakers] * speakers, size=50)
    copied = [kaldi_eer(np.repeat(t, row[t_who]), np.repeat(n, row[n_who])) for row in drawn]
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(copied, [0.025, 0.975])))


def test_a_redraw_that_loses_a_class_has_no_value() -> None:
    counts = speaker_levels([1, 2], [0, 1], target_speakers=["a", "a"], nontarget_speakers=["b", "b"])
    found = level_values(counts, [eer_of_levels])(np.array([[2.0, 0.0], [1.0, 1.0]]))
    assert math.isnan(found[0, 0])
    assert found[1, 0] == rocch_eer([1, 2], [0, 1])


def test_speakers_must_fit_the_scores() -> None:
    with pytest.raises(MetricError, match="each nontarget trial needs one speaker: 2 scores"):
        speaker_levels([1], [0, 1], target_speakers=["a"], nontarget_speakers=["b"])


def test_noise_seldom_differs_from_its_own_chance_level() -> None:
    wrong, rounds = 0, 40
    for seed in range(rounds):
        rng = np.random.default_rng(seed)
        t, n = rng.normal(size=300), rng.normal(size=3000)
        who: dict[str, Any] = {"target_speakers": np.arange(300) % 20, "nontarget_speakers": np.arange(3000) % 20}
        estimate = rocch_eer_estimate(t, n, rng=rng, resamples=200, **who)
        chance = shuffled_levels(t, n, [eer_of_levels], rng=rng, deals=20)[0]
        wrong += bool(Finding(CARD, estimate, chance=chance).differs_from_chance)
    assert wrong <= 8


def test_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    hits, rounds, true_eer = 0, 60, NormalDist().cdf(-1 / math.sqrt(1.25))
    for seed in range(rounds):
        rng = np.random.default_rng(seed)
        shift = 0.5 * rng.normal(size=(2, 30))
        t = 2 + np.repeat(shift[0], 20) + rng.normal(size=600)
        n = np.repeat(shift[1], 60) + rng.normal(size=1800)
        who: dict[str, Any] = {
            "target_speakers": np.repeat(np.arange(30), 20),
            "nontarget_speakers": np.repeat(np.arange(30), 60),
        }
        found = rocch_eer_estimate(t, n, rng=rng, resamples=200, **who)
        hits += found.low <= true_eer <= found.high
    assert 0.83 <= hits / rounds <= 1.0
