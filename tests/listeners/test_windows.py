"""Cutting long speech: nothing is lost, no window is too long, cuts fall into pauses."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from personare.core.audio import Audio
from personare.listeners.windows import is_silent, windows_at_quiet_points


@given(st.integers(0, 40_000), st.floats(0.05, 3.0), st.sampled_from([1_000, 8_000, 11_025]))
@settings(max_examples=40)
def test_windows_put_together_are_the_whole(frames: int, longest_s: float, rate_hz: int) -> None:
    samples = np.random.default_rng(frames).standard_normal(frames).astype(np.float32)
    windows = list(windows_at_quiet_points(Audio(samples, rate_hz), longest_s=longest_s))
    assert np.array_equal(np.concatenate([w.samples for w in windows]), samples)
    assert all(w.duration_s <= longest_s + 1 / rate_hz for w in windows)


def test_a_cut_falls_into_the_pause() -> None:
    samples = np.random.default_rng(0).standard_normal(8_000 * 3).astype(np.float32)
    samples[8_000 * 3 // 2 : 8_000 * 3 // 2 + 2_400] = 0.0
    first, _ = windows_at_quiet_points(Audio(samples, 8_000), longest_s=2.0)
    assert 1.5 < first.duration_s < 1.8


def test_silence_is_below_66_db() -> None:
    tone = np.sin(np.arange(8_000) / 5).astype(np.float32)
    assert is_silent(Audio(np.float32(6e-4) * tone, 8_000))
    assert not is_silent(Audio(np.float32(8e-4) * tone, 8_000))
    assert is_silent(Audio(np.zeros(0, np.float32), 8_000))
