"""Relinking: closed forms, laws, degenerate input, coverage of the interval."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.core.errors import MetricError
from personare.metrics.privacy.relink import (
    ENVELOPE_POINTS,
    duration_likeness,
    envelope_of,
    relink_estimate,
    text_likeness,
    waveform_likeness,
)


def rate(likeness: object, right: object, speakers: object) -> float:
    return relink_estimate(likeness, right, speakers=speakers).value  # type: ignore[arg-type]


def test_closed_forms() -> None:
    everybody = np.arange(4)
    assert rate(np.eye(4), everybody, everybody) == 1.0
    assert rate(np.ones((4, 4)), everybody, everybody) == 0.25, "who cannot tell them apart guesses: 1/N"
    assert rate(-np.eye(4), everybody, everybody) == 0.0
    assert rate([[1, 1, 0]], [0], ["a"]) == 0.5
    assert rate(duration_likeness([1.0, 2.0], [1.0, 2.0]), [0, 1], ["a", "b"]) == 1.0
    assert rate(text_likeness(["x", "x"], ["x", "x", "y"]), [0, 1], ["a", "b"]) == 0.5
    assert rate(text_likeness([None], ["x", "y"]), [0], ["a"]) == 0.5


@given(st.integers(2, 6), st.integers(0, 2**16))
def test_the_order_of_originals_and_any_growing_scale_change_nothing(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table, right = rng.normal(size=(n, n)), rng.permutation(n)
    order = rng.permutation(n)
    place = np.argsort(order)
    before = rate(table, right, np.arange(n))
    assert rate(table[:, order], place[right], np.arange(n)) == pytest.approx(before)
    assert rate(np.exp(2 * table), right, np.arange(n)) == pytest.approx(before)
    assert 0 <= before <= 1


def test_degenerate_input_is_one_line() -> None:
    for wrong in (([], [], []), ([[1.0]], [0, 1], ["a"]), ([[np.nan]], [0], ["a"])):
        with pytest.raises(MetricError, match="relinking needs"):
            rate(*wrong)
    assert np.isfinite(envelope_of(np.zeros(1, np.float32), 16_000)).all()
    assert not waveform_likeness(np.zeros((1, 8)), np.zeros((2, 8))).any()


def test_the_interval_covers_the_truth() -> None:
    """Speakers are found with a rate of their own, 0.3 on average: 95 of 100 intervals hold it, at least 88 here."""
    rng, held = np.random.default_rng(7), 0
    for _ in range(100):
        own = rng.beta(3, 7, size=40)
        hit = rng.random((40, 10)) < own[:, None]
        table = np.where(hit.reshape(-1, 1), [[1.0, 0.0]], [[0.0, 1.0]])
        who = np.repeat(np.arange(40), 10)
        found = relink_estimate(table, np.zeros(400, int), speakers=who)
        held += found.low <= 0.3 <= found.high
    assert held >= 88


def test_a_copy_a_gain_a_delay_and_a_sign_are_found_in_the_waveform() -> None:
    rng = np.random.default_rng(3)
    originals = rng.normal(size=(5, 4000))
    changed = np.stack(
        [originals[0], 0.1 * originals[1], np.roll(originals[2], 40), -originals[3], rng.normal(size=4000)]
    )
    likeness = waveform_likeness(changed, originals)
    assert (likeness.argmax(axis=1)[:4] == [0, 1, 2, 3]).all()
    assert (likeness.max(axis=1)[:4] > 0.95).all() and likeness[4].max() < 0.2


def test_the_envelope_is_the_same_at_any_level_and_rate() -> None:
    t = np.arange(16_000) / 16_000
    sound = (np.sin(2 * np.pi * 3 * t**2) ** 2 * np.random.default_rng(1).normal(size=16_000)).astype(np.float32)
    base = envelope_of(sound, 16_000)
    assert base @ envelope_of(0.1 * sound, 16_000) > 0.999
    assert base @ envelope_of(np.repeat(sound, 2), 32_000) > 0.999
    assert base @ envelope_of(sound[::-1].copy(), 16_000) < 0.9


def test_recordings_of_any_length_have_envelopes_of_256_points_of_length_1_without_a_mean() -> None:
    for samples in (1, 100, 160, 319, 320, 48_000):
        envelope = envelope_of(np.random.default_rng(samples).normal(size=samples).astype(np.float32), 16_000)
        assert envelope.shape == (256,) and abs(envelope.mean()) < 1e-12
        assert np.linalg.norm(envelope) == pytest.approx(1.0 if samples >= 320 else 0.0), "one frame has no shape"
    assert not envelope_of(np.full(48_000, 0.3, dtype=np.float32), 16_000).any(), "nor has a steady sound"


def test_sound_below_a_millionth_of_full_scale_is_silence_and_above_it_is_not() -> None:
    frames = np.repeat(np.arange(40) % 2, 160)
    for quiet, loud, heard in ((0.5e-6, 0.95e-6, False), (1.05e-6, 1.35e-6, True)):
        sound = np.where(frames, loud, quiet).astype(np.float32)
        assert envelope_of(sound, 16_000).any() == heard


def test_originals_that_are_alike_to_a_thousand_millionth_share_the_credit() -> None:
    for step, credit in ((0.6e-9, 0.5), (1.6e-9, 0.0)):
        assert relink_estimate([[1.0, 1.0 + step]], [0], speakers=["a"]).value == credit


def test_the_envelope_goes_from_the_first_frame_to_the_last() -> None:
    """As many frames as points: each point is a frame, and a frame of less than two samples is one sample."""
    loudness = np.random.default_rng(3).uniform(-2.0, 0.0, ENVELOPE_POINTS)
    sound = np.sqrt(10**loudness).astype(np.float32)
    expected = loudness - loudness.mean()
    assert envelope_of(sound, 100) == pytest.approx(expected / np.linalg.norm(expected), abs=1e-6)
    assert envelope_of(np.repeat(sound, 160), 16_000) == pytest.approx(envelope_of(sound, 100), abs=1e-6)
