"""Pitch correlation: scipy's Spearman, the VoicePrivacy 2022 steps one by one, lags, unvoiced and constant tracks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr

from personare.core.errors import MetricError
from personare.metrics.utility import pitch
from personare.metrics.utility.pitch import correlation_estimate, f0_spearman, lag_of, pitch_correlation
from personare.metrics.utility.voicing import voicing_error

TRACK = st.lists(st.sampled_from([0, 90, 100, 110, 150, 200, 210]), min_size=5, max_size=30)


def contour(seed: int, frames: int = 200) -> Any:
    """A pitch track with pauses."""
    rng = np.random.default_rng(seed)
    hz = 150 + 40 * np.sin(np.arange(frames) / 9) + np.cumsum(rng.normal(size=frames))
    return np.where(np.arange(frames) % 50 < 35, np.clip(hz, 80, 400), 0.0)


@given(TRACK, TRACK)
def test_spearman_is_scipys_on_frames_voiced_in_both(a: list[int], b: list[int]) -> None:
    n = min(len(a), len(b))
    x, y = np.array(a[:n]), np.array(b[:n])
    both = (x > 0) & (y > 0)
    found = f0_spearman(x, y)
    if both.sum() < 2 or np.ptp(x[both]) == 0 or np.ptp(y[both]) == 0:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(spearmanr(x[both], y[both]).statistic, abs=1e-12)


def test_spearman_ignores_any_rising_map_of_pitch() -> None:
    a, b = contour(0), contour(1)
    assert f0_spearman(a, 2 * a) == 1
    assert f0_spearman(a, np.where(a > 0, 1000 - a, 0)) == -1
    assert f0_spearman(a, np.where(b > 0, np.exp(b / 100), 0)) == pytest.approx(f0_spearman(a, b))


def test_voiceprivacy_2022_steps_one_by_one() -> None:
    a, b = contour(2, 200), contour(3, 190)
    stretched = np.interp(np.linspace(1, 190, 200), np.linspace(1, 190, 190), b)
    a = np.where((a < 75) | (a > 500), 0, a)
    stretched = np.where((stretched < 75) | (stretched > 500), 0, stretched)
    lag = int(np.argmax(np.correlate(a, stretched, "full"))) - 199
    moved = np.roll(stretched, lag)
    assert pitch_correlation(a, b, frames="all") == pytest.approx(pearsonr(a, moved).statistic)
    both = (a > 0) & (moved > 0)
    assert pitch_correlation(a, b, frames="voiced") == pytest.approx(pearsonr(a[both], moved[both]).statistic)


@pytest.mark.parametrize("lag", [-7, 0, 3])
def test_a_delay_is_found_and_taken_out(lag: int) -> None:
    a = np.pad(contour(4, 120), 20)
    assert lag_of(a, np.roll(a, -lag)) == lag
    for frames in ("voiced", "all"):
        assert pitch_correlation(a, np.roll(a, -lag), frames=frames) == pytest.approx(1)


def test_tracks_with_nothing_to_correlate_have_no_number() -> None:
    silent, flat = np.zeros(10), np.full(10, 100.0)
    assert math.isnan(f0_spearman(silent, flat))
    assert math.isnan(f0_spearman(flat, flat))
    assert math.isnan(pitch_correlation(silent, silent, frames="all"))
    assert math.isnan(pitch_correlation([600.0, 700.0], [600.0, 700.0], frames="voiced"))


def test_bad_tracks_are_one_line() -> None:
    with pytest.raises(MetricError, match="do not belong together"):
        f0_spearman(np.ones(100), np.ones(80))
    with pytest.raises(MetricError, match="one number per frame"):
        f0_spearman([], [1.0])
    with pytest.raises(MetricError, match="negative, NaN"):
        pitch_correlation([1.0, math.nan], [1.0, 2.0], frames="all")
    with pytest.raises(MetricError, match="use 'voiced' or 'all'"):
        pitch_correlation([1.0], [1.0], frames="some")  # type: ignore[arg-type]


def test_tracks_may_differ_by_a_tenth_of_the_longer_and_the_longer_is_cut_at_its_end() -> None:
    a = contour(5, 100)
    assert f0_spearman(a, a[:90]) == f0_spearman(a[:90], a) == 1.0
    with pytest.raises(MetricError, match="100 and 89 frames do not belong together"):
        f0_spearman(a, a[:89])
    with pytest.raises(MetricError, match="89 and 100 frames"):
        f0_spearman(a[:89], a)
    assert f0_spearman([0.5, 0.75, 0.25, 0.0], [1.0, 3.0, 0.5, 9.0]) == 1.0, "anything above 0 is voiced"


def test_interval_leaves_out_undefined_utterances() -> None:
    found = correlation_estimate([0.5, math.nan, 0.7, 0.9], speakers=["a", "a", "b", "c"])
    assert found.value == pytest.approx(0.7)
    assert found.n == 3
    assert found.low <= 0.7 <= found.high
    with pytest.raises(MetricError, match="none of the 1 utterances"):
        correlation_estimate([math.nan], speakers=["a"])
    with pytest.raises(MetricError, match="one speaker"):
        correlation_estimate([0.1], speakers=["a", "b"])


def test_the_ends_of_the_range_belong_to_it() -> None:
    track = np.array([74.9, 75.0, 200.0, 500.0, 500.1])
    np.testing.assert_array_equal(pitch._in_range(track), [0.0, 75.0, 200.0, 500.0, 0.0])


def test_of_equal_peaks_the_first_wins_whatever_rounding_says() -> None:
    """One phrase against the same phrase said twice: two lags fit equally well, and the smaller is taken."""
    for seed in range(12):
        phrase = contour(seed, 60)
        once, twice = np.zeros(300), np.zeros(300)
        once[200:260] = phrase
        for first in (3 + seed, 150 + seed):
            twice[first : first + 60] = phrase
        assert lag_of(twice, once) == 3 + seed - 200


def test_a_lag_may_reach_from_end_to_end() -> None:
    for frames in (1, 2, 3, 8, 9):
        head, tail = np.eye(frames)[0], np.eye(frames)[-1]
        assert (lag_of(head, tail), lag_of(tail, head)) == (1 - frames, frames - 1)


def test_tracks_may_differ_by_a_tenth_of_their_length() -> None:
    a = contour(6, 100)
    assert f0_spearman(a, a[:90]) == f0_spearman(a[:90], a) == 1.0
    with pytest.raises(MetricError, match="100 and 89 frames"):
        f0_spearman(a, a[:89])


def test_two_frames_can_be_correlated_and_one_cannot() -> None:
    assert f0_spearman([100, 120], [200, 210]) == 1.0 and f0_spearman([100, 120], [210, 200]) == -1.0
    assert math.isnan(f0_spearman([100, 0], [200, 210]))


def test_a_frame_is_voiced_however_low_its_pitch() -> None:
    assert voicing_error([0.5, 0.5, 0.5], [0.5, 0.5, 200.0]) == 0.0
    assert voicing_error([0.5, 0.0, 0.0, 0.0], [0.0, 0.5, 0.0, 0.0]) == 0.5


def test_rounding_never_makes_more_than_a_full_correlation() -> None:
    for seed in range(200):
        hz = np.random.default_rng(seed).uniform(80, 120, 7)
        assert 1 - 1e-12 < pitch._pearson(hz, 3 * hz) <= 1.0
        assert -1.0 <= pitch._pearson(hz, 500 - 3 * hz) < -1 + 1e-12


@pytest.mark.parametrize("side", [0, 1])
def test_one_frame_that_is_no_number_is_refused_on_either_side(side: int) -> None:
    tracks = [[100.0, 0.0, 110.0], [90.0, 0.0, 0.0]]
    tracks[side][2] = math.nan
    with pytest.raises(MetricError, match="a track holds NaN"):
        voicing_error(*tracks)
