"""The source and filter of the neural voice: pulses of power 1, filters that say what was asked for, nothing lost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.core import bands


@given(st.floats(70.0, 400.0))
def test_pulses_have_power_one_and_the_right_pitch(f0_hz: float) -> None:
    train = bands.pulses(np.full(400, f0_hz, np.float32))
    assert len(train) == 400 * bands.HOP
    assert np.square(train).mean() == pytest.approx(1.0, abs=0.08)
    spectrum = np.abs(np.fft.rfft(train * np.hanning(len(train))))
    hz = np.fft.rfftfreq(len(train), 1 / bands.RATE_HZ)
    near = (hz > 0.5 * f0_hz) & (hz < 1.5 * f0_hz)
    assert hz[near][np.argmax(spectrum[near])] == pytest.approx(f0_hz, rel=0.02)


def test_a_flat_description_gives_the_source_back() -> None:
    rng = np.random.default_rng(0)
    frames = 60
    noise = rng.standard_normal(frames * bands.HOP).astype(np.float32)
    logs = np.zeros((frames, bands.BANDS), np.float32)
    logs[:, : bands.HARMONIC_BANDS] = -30.0
    sound = bands.synthesize(np.zeros_like(noise), noise, logs)
    inside = slice(bands.WINDOW, -bands.WINDOW)
    np.testing.assert_allclose(sound[inside], noise[inside], atol=1e-4)


def test_each_band_is_as_strong_as_described() -> None:
    rng = np.random.default_rng(1)
    frames = 400
    noise = rng.standard_normal(frames * bands.HOP).astype(np.float32)
    logs = np.full((frames, bands.BANDS), -30.0, np.float32)
    logs[:, bands.HARMONIC_BANDS :] = np.linspace(0.0, -4.0, bands.NOISE_BANDS)
    sound = bands.synthesize(np.zeros_like(noise), noise, logs)
    views = np.lib.stride_tricks.sliding_window_view(sound, bands.TRANSFORM)[::96]
    window = np.hanning(bands.TRANSFORM)
    power = np.square(np.abs(np.fft.rfft(views * window, axis=1))).mean(axis=0) / np.square(window).sum()
    wanted = 2 * logs[0, bands.HARMONIC_BANDS :] @ bands.mel_interpolation(bands.NOISE_BANDS)
    assert np.abs(np.log(power[10:-10]) - wanted[10:-10]).mean() < 0.15


def test_the_phase_is_that_of_the_minimum_phase_filter() -> None:
    """Closed form: the cepstrum of a minimum-phase filter is 0 before time 0."""
    rng = np.random.default_rng(2)
    logs = rng.normal(size=bands.HARMONIC_BANDS).astype(np.float64)
    spectrum = logs @ bands.mel_interpolation(bands.HARMONIC_BANDS) + 1j * (
        logs @ bands.minimum_phase(bands.HARMONIC_BANDS)
    )
    cepstrum = np.fft.irfft(spectrum, bands.TRANSFORM)
    late = cepstrum[1 : bands.TRANSFORM // 2]
    early = cepstrum[bands.TRANSFORM // 2 + 1 :]
    assert np.abs(early).max() < 1e-5 * np.abs(late).max()


@pytest.mark.parametrize("frames", [1, 2, 7])
def test_short_sounds_keep_their_length(frames: int) -> None:
    source = np.ones(frames * bands.HOP, np.float32)
    sound = bands.synthesize(source, source, np.zeros((frames, bands.BANDS), np.float32))
    assert sound.shape == source.shape
    assert np.isfinite(sound).all()
