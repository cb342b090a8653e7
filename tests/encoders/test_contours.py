"""Statistics besides the voice: each number moves with what it is named after, and with nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from conftest import hum
from personare.attackers import EMBEDDERS
from personare.encoders import contours
from personare.encoders.statistics import Statistics, scales

NAMES = ("energy", "rhythm", "f0", "spectrum")
RATE = 16_000


def speech_and_pauses(pause_s: float, floor: float, *, gain: float = 1.0) -> NDArray[np.float32]:
    """Three half seconds of a voice with pauses between them, over a noise floor."""
    noise = np.random.default_rng(5).standard_normal(round(RATE * (1.5 + 3 * pause_s))).astype(np.float32)
    sound = noise * np.float32(floor)
    for i in range(3):
        first = round(RATE * i * (0.5 + pause_s))
        sound[first : first + RATE // 2] += hum(i, duration_s=0.5).samples
    return sound * np.float32(gain)


def test_scales_have_as_many_numbers_as_the_statistics() -> None:
    sound = hum(1, duration_s=1.0).samples
    for name in ("energy", "rhythm", "spectrum"):
        cls = EMBEDDERS.load(name)
        assert issubclass(cls, Statistics)
        mean, spread = scales(name)
        assert cls.numbers(sound).shape == mean.shape == spread.shape == (cls.DIMENSIONS - 1,)
        assert (spread > 0).all()


def test_a_higher_noise_floor_raises_the_low_quantiles_and_the_floor_only() -> None:
    quiet, noisy = (contours.energy_numbers(speech_and_pauses(0.4, floor)) for floor in (1e-4, 1e-2))
    low, high = contours.SHARES.index(0.1), contours.SHARES.index(0.99)
    assert noisy[low] > quiet[low] + 15
    assert noisy[high] == pytest.approx(quiet[high], abs=1.0)
    assert noisy[-1] > quiet[-1] + 15  # the floor in dB of full scale
    assert noisy[-2] == pytest.approx(quiet[-2], abs=1.0)  # the loudness


def test_gain_changes_loudness_and_floor_and_nothing_else() -> None:
    soft, loud = (contours.energy_numbers(speech_and_pauses(0.4, 1e-3, gain=gain)) for gain in (0.1, 1.0))
    np.testing.assert_allclose(loud[:-2], soft[:-2], atol=1e-3)
    np.testing.assert_allclose(loud[-2:] - soft[-2:], 20.0, atol=1e-2)


def test_longer_pauses_are_longer_pauses() -> None:
    short, long = (contours.rhythm_numbers(speech_and_pauses(pause, 1e-4)) for pause in (0.1, 0.5))
    share, runs, _, _, pause, _ = range(6)  # of the first gate
    assert long[share] < short[share] - 0.2
    assert long[runs] < short[runs]
    assert long[pause] > short[pause] + 0.2


def test_runs_are_counted_from_both_ends() -> None:
    flags = np.array([1, 1, 0, 1, 0, 0, 0], bool)
    speech, pauses = contours._run_lengths(flags)
    assert speech.tolist() == [2, 1] and pauses.tolist() == [1, 3]
    pauses, speech = contours._run_lengths(~flags)
    assert speech.tolist() == [2, 1] and pauses.tolist() == [1, 3]


def test_a_slow_modulation_lies_in_its_own_band() -> None:
    t = np.arange(4 * RATE) / RATE
    carrier = np.random.default_rng(1).standard_normal(len(t))
    for hz in (1.4, 5.0, 10.0):
        sound = (carrier * (1 + 0.9 * np.sin(2 * np.pi * hz * t)) * 0.05).astype(np.float32)
        modulation = contours.energy_numbers(sound)[-12:-2]
        edges = np.array(contours.MODULATION_HZ)
        assert edges[np.argmax(modulation)] <= hz < edges[np.argmax(modulation) + 1]


def test_the_channel_shows_in_the_spectrum_of_speech_and_pauses() -> None:
    sound = speech_and_pauses(0.3, 1e-3)
    darker = np.convolve(sound, [0.5, 0.5], mode="same").astype(np.float32)
    plain, filtered = contours.spectrum_numbers(sound), contours.spectrum_numbers(darker)
    top, bottom = contours.N_BANDS - 1, 5
    for part in (0, contours.N_BANDS):  # speech, pauses
        before, after = (numbers[part + top] - numbers[part + bottom] for numbers in (plain, filtered))
        assert after < before - 3


@pytest.mark.models
def test_f0_height_and_voicing() -> None:
    low, high = (contours.f0_numbers(hum(1, duration_s=1.5, f0_hz=hz).samples) for hz in (110.0, 220.0))
    assert high[0] - low[0] == pytest.approx(1.0, abs=0.05)  # octaves
    assert contours.f0_numbers(np.zeros(RATE, np.float32)).tolist() == [0.0] * 22
