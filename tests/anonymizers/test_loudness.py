"""Loudness after BS.1770 is kept within 1 dB, by a meter of our own that agrees with the standard's figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.signal import freqz

from anonymizers.bs1770 import HIGH_PASS, SHELF, loudness
from anonymizers.contract import hide, level_db, voice
from personare.anonymizers import anonymizer
from personare.anonymizers.signal.loudness import k_weighting
from personare.anonymizers.signal.mcadams import McAdams
from personare.core.audio import Audio, read_mono

METHODS: dict[str, tuple[str, dict[str, object]]] = {
    "B2": ("mcadams", {"alpha": 0.8}),
    "D1": ("mcadams", {"alpha": 0.8, "radius": 0.975}),
    "alpha 0.9": ("mcadams", {"alpha": 0.9}),
    "alpha 0.7": ("mcadams", {"alpha": 0.7}),
    "alpha 0.6": ("mcadams", {"alpha": 0.6}),
    "alpha 0.5": ("mcadams", {"alpha": 0.5}),
    "I1": ("formants", {}),
    "world": ("world", {}),
    "chain": ("chain", {"steps": [{"name": "world"}, {"name": "mcadams", "parameters": {"alpha": 0.9}}]}),
}
QUICK = 6


def tone(seconds: float, level: float, rate_hz: int = 48_000) -> Audio:
    wave = level * np.sin(2 * np.pi * 997 * np.arange(round(seconds * rate_hz)) / rate_hz)
    return Audio(wave.astype(np.float32), rate_hz)


def utterances(shared_folder: Path, count: int) -> list[Audio]:
    paths = sorted((shared_folder / "corpus" / "audio").glob("*/*"))
    return [read_mono(path) for path in paths[:: len(paths) // count][:count]]


def change_db(audio: Audio, result: np.ndarray[tuple[int], np.dtype[np.float32]]) -> float:
    return loudness(result, audio.rate_hz) - loudness(audio.samples, audio.rate_hz)


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 44_100, 48_000])
def test_the_judge_reads_the_standards_full_scale_tone(rate_hz: int) -> None:
    assert abs(loudness(tone(2.0, 1.0, rate_hz).samples, rate_hz) - -3.01) < 0.02


def test_the_judge_does_not_count_silence() -> None:
    spoken = tone(3.0, 0.1).samples
    half = np.concatenate([spoken, np.zeros(3 * 48_000, dtype=np.float32)])
    assert abs(loudness(half, 48_000) - loudness(spoken, 48_000)) < 0.3


def test_the_librarys_filter_is_the_standards_at_48_khz() -> None:
    b, a = k_weighting(48_000)
    assert np.abs(b - np.convolve(SHELF[0], HIGH_PASS[0])).max() < 1e-9
    assert np.abs(a - np.convolve(SHELF[1], HIGH_PASS[1])).max() < 1e-9


@pytest.mark.parametrize("rate_hz", [8_000, 11_025, 16_000, 44_100])
def test_the_librarys_filter_weighs_alike_at_any_rate(rate_hz: int) -> None:
    places = np.array([30.0, 100.0, 500.0, 1000.0, 1700.0, 2500.0])
    here = np.abs(freqz(*k_weighting(rate_hz), worN=places, fs=rate_hz)[1])
    there = np.abs(freqz(*k_weighting(48_000), worN=places, fs=48_000)[1])
    assert np.abs(20 * np.log10(here / there)).max() < 0.5


@pytest.mark.shared
@pytest.mark.parametrize("name", METHODS)
def test_loudness_is_kept_on_real_speech(shared_folder: Path, name: str) -> None:
    method, parameters = METHODS[name]
    for seed, audio in enumerate(utterances(shared_folder, QUICK)):
        some = Audio(audio.samples[:64_000], audio.rate_hz)
        result = hide(anonymizer(method, **parameters), some, seed)
        assert abs(change_db(some, result)) < 1.0, seed
        assert np.abs(result).max() <= 1.0


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("name", METHODS)
def test_loudness_is_kept_on_much_real_speech(shared_folder: Path, name: str) -> None:
    method, parameters = METHODS[name]
    for seed, audio in enumerate(utterances(shared_folder, 120)):
        assert abs(change_db(audio, hide(anonymizer(method, **parameters), audio, seed))) < 1.0, seed


@pytest.mark.shared
def test_the_energy_of_b2_and_d1_stays_near_too(shared_folder: Path) -> None:
    for method in (McAdams(alpha=0.8), McAdams(alpha=0.8, radius=0.975)):
        moved = [level_db(hide(method, a)) - level_db(a.samples) for a in utterances(shared_folder, 12)]
        assert abs(np.mean(moved)) < 1.0
        assert np.abs(moved).max() < 2.0


@pytest.mark.parametrize("alpha", [0.5, 0.6, 0.7, 0.8, 0.9])
@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 44_100])
def test_loudness_is_kept_at_any_alpha_and_rate(alpha: float, rate_hz: int) -> None:
    audio = voice(2.0, rate_hz=rate_hz)
    assert abs(change_db(audio, hide(McAdams(alpha=alpha), audio))) < 1.0


def test_a_full_scale_sound_is_neither_clipped_nor_much_quieter() -> None:
    audio = voice(2.0, peak=1.0)
    result = hide(McAdams(alpha=0.8), audio)
    assert np.abs(result).max() <= 1.0
    assert np.mean(np.abs(result) >= 0.9999) < 1e-3
    assert abs(change_db(audio, result)) < 1.0
