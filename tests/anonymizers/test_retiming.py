"""Retiming changes lengths, pauses and rate by keyed chance; what is said, and how loud, stays."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import hum
from personare.anonymizers.signal.retiming import PAUSE_FACTORS, SPEECH_FACTORS, Timing, stretch
from personare.core.audio import Audio
from personare.core.errors import ConfigError


def phrases(rate_hz: int = 16_000) -> Audio:
    """Three stretches of speech with pauses between and around them."""
    quiet = 1e-4 * np.random.default_rng(0).standard_normal(round(0.4 * rate_hz)).astype(np.float32)
    spoken = [hum(n, duration_s=0.6, rate_hz=rate_hz).samples for n in range(3)]
    return Audio(np.concatenate([quiet, spoken[0], quiet, spoken[1], quiet, spoken[2], quiet]), rate_hz)


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_every_draw_gives_another_length_within_the_bounds() -> None:
    sound = phrases()
    lengths = {len(Timing(retime=True)([sound], rng=rng(seed))[0].samples) for seed in range(12)}
    assert len(lengths) == 12
    low = SPEECH_FACTORS[0] * 1.8 + PAUSE_FACTORS[0] * 1.6
    high = SPEECH_FACTORS[1] * 1.8 + PAUSE_FACTORS[1] * 1.6
    assert all(0.95 * low <= n / 16_000 <= 1.05 * high for n in lengths)


def test_the_same_draw_gives_the_same_samples_and_channels_stay_together() -> None:
    sound = phrases()
    both = Timing(retime=True, trim=True, coarse_s=0.5)([sound, sound], rng=rng())
    again = Timing(retime=True, trim=True, coarse_s=0.5)([sound, sound], rng=rng())
    np.testing.assert_array_equal(both[0].samples, again[0].samples)
    stretched = Timing(retime=True)([sound, sound], rng=rng())
    np.testing.assert_array_equal(stretched[0].samples, stretched[1].samples)


def strongest_hz(audio: Audio) -> float:
    spectrum = np.abs(np.fft.rfft(audio.samples * np.hanning(len(audio.samples)), 1 << 18))
    return float(np.argmax(spectrum) * audio.rate_hz / (1 << 18))


@pytest.mark.parametrize("factor", [0.89, 1.0, 1.12])
def test_stretched_speech_has_the_length_that_is_asked_and_its_pitch(factor: float) -> None:
    sound = hum(1, duration_s=1.5, rate_hz=16_000, f0_hz=125.0)
    made = stretch(sound, factor)
    assert len(made.samples) == round(factor * len(sound.samples))
    assert strongest_hz(made) == pytest.approx(strongest_hz(sound), rel=0.01)
    assert len(stretch(Audio(np.zeros(0, np.float32), 16_000), factor).samples) == 0


@pytest.mark.parametrize("rate_hz", [8_000, 44_100])
def test_pitch_and_level_stay(rate_hz: int) -> None:
    sound = hum(1, duration_s=1.5, rate_hz=rate_hz, f0_hz=125.0)
    (made,) = Timing(retime=True)([sound], rng=rng(4))
    assert strongest_hz(made) == pytest.approx(strongest_hz(sound), rel=0.01)
    assert np.std(made.samples) == pytest.approx(np.std(sound.samples), rel=0.1)
    assert len(made.samples) != len(sound.samples) and np.abs(made.samples).max() <= np.abs(sound.samples).max() + 1e-6


def test_trimming_cuts_silence_and_no_speech() -> None:
    sound = phrases()
    (made,) = Timing(trim=True)([sound], rng=rng())
    assert 1.8 + 0.8 + 0.1 <= made.duration_s <= 1.8 + 0.8 + 0.5
    assert float(np.square(made.samples).sum()) == pytest.approx(float(np.square(sound.samples).sum()), rel=1e-3)


def test_coarse_lengths_are_multiples_and_nothing_is_cut() -> None:
    for duration_s in (0.31, 1.0, 2.77):
        sound = hum(1, duration_s=duration_s)
        (made,) = Timing(coarse_s=0.5)([sound], rng=rng())
        assert len(made.samples) % 8_000 == 0 and 0 <= len(made.samples) - len(sound.samples) < 8_000
        np.testing.assert_array_equal(made.samples[: len(sound.samples)], sound.samples)


@pytest.mark.parametrize("samples", [1, 10, 700, 2_000])
@pytest.mark.parametrize("level", [0.0, 0.3])
def test_very_short_and_silent_sounds_come_through(samples: int, level: float) -> None:
    sound = Audio((level * rng().standard_normal(samples)).astype(np.float32), 16_000)
    (made,) = Timing(True, True, 0.25)([sound], rng=rng())
    assert len(made.samples) and np.isfinite(made.samples).all()


def test_nothing_is_done_where_nothing_is_asked_and_wrong_units_are_refused() -> None:
    assert not Timing() and Timing(trim=True)
    with pytest.raises(ConfigError, match=r"0.01 to 60 seconds, not 0"):
        Timing(coarse_s=0.0)
