"""Leaving out speakers is exact, and what pure noise gives is called chance."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from personare.core.errors import MetricError
from personare.core.findings import Finding
from personare.metrics.privacy.chance import shuffled_levels
from personare.metrics.privacy.cllr import cllr, cllr_values, min_cllr, min_cllr_of_levels
from personare.metrics.privacy.detection import dcf_of_levels
from personare.metrics.privacy.dsys import dsys_of_levels
from personare.metrics.privacy.eer import (
    CARD,
    eer_of_levels,
    kaldi_eer,
    kaldi_eer_of_levels,
    rocch_eer,
    rocch_eer_estimate,
)
from personare.metrics.privacy.pav import pav_counts
from personare.metrics.privacy.redraws import left_out, level_values, row_values
from personare.metrics.privacy.zebra import d_ece, d_ece_of_levels, log10_l, log10_l_of_levels

SPEAKERS = 7


def some_trials(seed: int) -> tuple[Any, Any, Any, Any]:
    """Scores with ties, and speakers with different numbers of trials."""
    rng = np.random.default_rng(seed)
    t, n = rng.integers(-3, 12, size=40), rng.integers(-10, 6, size=150)
    return t, n, rng.integers(0, SPEAKERS, size=40), rng.integers(0, SPEAKERS, size=150)


@pytest.mark.parametrize("enrolled_too", [False, True])
def test_leaving_out_a_speaker_is_the_same_as_deleting_trials(enrolled_too: bool) -> None:
    t, n, t_who, n_who = some_trials(0)
    other = (n_who + 1 + np.random.default_rng(4).integers(0, SPEAKERS - 1, size=150)) % SPEAKERS
    who: Any = {"target_speakers": t_who, "nontarget_speakers": n_who}
    out = left_out(40, 150, **who, nontarget_enrolled=other if enrolled_too else None)
    assert (out.groups, out.speakers) == (SPEAKERS, SPEAKERS)
    metrics: list[Callable[..., float]] = [rocch_eer, min_cllr, d_ece, log10_l, kaldi_eer, cllr]
    of_levels = [eer_of_levels, min_cllr_of_levels, d_ece_of_levels, log10_l_of_levels]
    found = np.column_stack([level_values(t, n, of_levels, out, raw=[kaldi_eer_of_levels]), cllr_values(t, n, out)])
    for row in range(1 + SPEAKERS):
        keep_t, keep_n = t_who != row - 1, n_who != row - 1
        if enrolled_too:
            keep_n &= other != row - 1
        expected = [metric(t[keep_t], n[keep_n]) for metric in metrics]
        assert found[row].tolist() == pytest.approx(expected, abs=1e-12)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 12))
def test_every_row_of_a_table_has_the_value_it_has_alone(seed: int, rows: int, levels: int) -> None:
    """Small counts on purpose: equal shares, empty levels and rows that are one block occur all the time."""
    rng = np.random.default_rng(seed)
    t, n = rng.integers(0, 3, size=(rows, levels)).astype(float), rng.integers(0, 3, size=(rows, levels)).astype(float)
    t[:, 0] += 1
    n[:, -1] += 1
    every = [eer_of_levels, min_cllr_of_levels, d_ece_of_levels, log10_l_of_levels, dsys_of_levels, dcf_of_levels(0.1)]
    found = row_values(t, n, every, [kaldi_eer_of_levels])
    for row in range(rows):
        alone = [statistic(t[row], n[row]) for statistic in (*every, kaldi_eer_of_levels)]
        assert found[row].tolist() == pytest.approx(alone, abs=1e-12)


def test_blocks_of_many_rows_are_those_of_each_row() -> None:
    """A thousand rows of a hundred levels: lifting rows above each other must not blur the shares."""
    rng = np.random.default_rng(1)
    t, n = rng.integers(0, 40, size=(2, 1000, 100))
    tables = pav_counts(t, n)
    for row in range(0, 1000, 37):
        for table, alone in zip(tables, pav_counts(t[row], n[row]), strict=True):
            assert table[row, : len(alone)].tolist() == alone.tolist() and not table[row, len(alone) :].any()


def test_many_speakers_are_left_out_in_groups_and_no_trial_twice() -> None:
    """A trial between two people of one group is lost once without that group."""
    rng = np.random.default_rng(0)
    tested, enrolled = rng.integers(0, 150, size=(2, 4000))
    same = tested == enrolled
    scores = rng.normal(size=4000) + same
    out = left_out(
        int(same.sum()),
        int((~same).sum()),
        target_speakers=tested[same],
        nontarget_speakers=tested[~same],
        nontarget_enrolled=enrolled[~same],
    )
    found = cllr_values(scores[same], scores[~same], out)
    names = np.unique(np.concatenate([tested, enrolled]))
    group = np.searchsorted(names, np.arange(150)) % 100
    for g in (0, 7, 99):
        kept = (group[tested] != g) & (group[enrolled] != g)
        assert found[1 + g] == pytest.approx(cllr(scores[same & kept], scores[~same & kept]))


def test_a_row_that_loses_a_class_has_no_value() -> None:
    out = left_out(2, 2, target_speakers=["a", "a"], nontarget_speakers=["b", "b"])
    found = level_values([1, 2], [0, 1], [eer_of_levels], out)
    assert found[0, 0] == rocch_eer([1, 2], [0, 1]) and np.isnan(found[1:]).all()


def test_speakers_must_fit_the_scores() -> None:
    with pytest.raises(MetricError, match="each nontarget trial needs one speaker: 2 scores"):
        left_out(1, 2, target_speakers=["a"], nontarget_speakers=["b"])


def test_noise_seldom_differs_from_its_own_chance_level() -> None:
    wrong, rounds = 0, 40
    for seed in range(rounds):
        rng = np.random.default_rng(seed)
        t, n = rng.normal(size=300), rng.normal(size=3000)
        who: dict[str, Any] = {"target_speakers": np.arange(300) % 20, "nontarget_speakers": np.arange(3000) % 20}
        estimate = rocch_eer_estimate(t, n, **who)
        chance = shuffled_levels(t, n, [eer_of_levels], rng=rng, deals=20)[0].mean
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
        found = rocch_eer_estimate(t, n, **who)
        hits += found.low <= true_eer <= found.high
    assert 0.83 <= hits / rounds <= 1.0
