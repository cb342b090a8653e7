"""Long sound: the same as in one pass, joints that cannot be heard, and memory that does not grow, for every method."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from anonymizers.contract import hide, voice
from personare.anonymizers import anonymizer
from personare.anonymizers.signal import frames, mcadams, phrases
from personare.anonymizers.signal.vocoder import resynthesize, track_f0
from personare.core.audio import Audio, read_mono
from personare.core.protocols import Anonymizer

CHAIN: dict[str, object] = {"steps": [{"name": "world"}, {"name": "mcadams", "parameters": {"alpha": 0.9}}]}
FRAME_CHAIN: dict[str, object] = {"steps": [{"name": "mcadams", "parameters": {"alpha": 0.9}}, {"name": "mcadams"}]}
ALL: dict[str, dict[str, object]] = {"mcadams": {}, "formants": {}, "world": {}, "chain": CHAIN}


def long_phrases(monkeypatch: pytest.MonkeyPatch, seconds: int) -> None:
    monkeypatch.setattr(phrases, "LONGEST_S", seconds)
    monkeypatch.setattr(phrases, "SEARCH_S", max(1, seconds // 4))


def short_batches(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    for module in (frames, mcadams):
        monkeypatch.setattr(module, "BATCH_FRAMES", count)


def bands_db(samples: NDArray[np.float32], width: int = 8) -> NDArray[np.float64]:
    """Give the level of bands of 250 Hz in 32 ms, in dB against the loudest, floored at -50: [frames, bands]."""
    rows = samples[: len(samples) // 512 * 512].reshape(-1, 512) * np.hanning(512)
    power = np.abs(np.fft.rfft(rows, axis=1)[:, :256]) ** 2
    power = power.reshape(len(rows), -1, width).sum(axis=2)
    levels: NDArray[np.float64] = 10 * np.log10(np.maximum(power / power.max(), 1e-5))
    return levels


@pytest.mark.parametrize("batch", [8, 50, 333])
@pytest.mark.parametrize(("name", "setting"), [("mcadams", {"alpha": (0.5, 0.9)}), ("chain", FRAME_CHAIN)])
def test_frame_based_methods_give_the_result_of_one_pass(
    monkeypatch: pytest.MonkeyPatch, name: str, setting: dict[str, object], batch: int
) -> None:
    audio = voice(3.0, peak=0.9)
    short_batches(monkeypatch, 10**5)
    whole = hide(anonymizer(name, **setting), audio)
    short_batches(monkeypatch, batch)
    assert np.abs(hide(anonymizer(name, **setting), audio) - whole).max() < 1e-6


@pytest.mark.parametrize(("rate_hz", "same"), [(8_000, 0.99), (11_025, 0.95), (16_000, 0.99)])
def test_speech_in_phrases_is_analysed_as_in_one_pass(
    monkeypatch: pytest.MonkeyPatch, rate_hz: int, same: float
) -> None:
    """The pitch tracker takes the mean off the whole, and at 11.025 kHz every 8th frame lies between two samples."""
    audio = voice(9.0, rate_hz=rate_hz)
    long_phrases(monkeypatch, 1000)
    whole = track_f0(audio)
    for seconds in (2, 4):
        long_phrases(monkeypatch, seconds)
        assert len(list(phrases.phrases(audio))) > 2
        found = track_f0(audio)
        voiced = (found > 0) & (whole > 0)
        assert np.mean(np.abs(found - whole) < 1e-6) > same
        assert np.mean((found > 0) == (whole > 0)) > 0.998
        assert np.mean(np.abs(found[voiced] / whole[voiced] - 1) < 0.02) > 0.998


@pytest.mark.shared
def test_joints_of_phrases_cannot_be_told_from_one_pass(monkeypatch: pytest.MonkeyPatch, shared_folder: Path) -> None:
    path = sorted((shared_folder / "corpus" / "audio").glob("ls-*/*"))[0]
    audio = read_mono(path)
    audio = Audio(audio.samples[: 10 * audio.rate_hz], audio.rate_hz)
    long_phrases(monkeypatch, 1000)
    track, whole = track_f0(audio), bands_db(resynthesize(audio, lambda speech: speech).samples)
    long_phrases(monkeypatch, 4)
    joints = [last for _, last in phrases.phrases(audio)][:-1]
    assert len(joints) >= 2
    assert np.abs(track_f0(audio) - track).max() < 1e-6
    again = bands_db(resynthesize(audio, lambda speech: speech).samples)
    off = np.sqrt(np.square(again - whole).mean(axis=1))
    near = np.unique([joint * audio.rate_hz // (200 * 512) + i for joint in joints for i in (-1, 0, 1)])
    assert off.mean() < 1.5  # the noise in the voice is drawn anew after a joint; nothing else differs
    assert off[near].max() < 3.0


@pytest.mark.parametrize("name", ALL)
def test_memory_does_not_grow_with_length(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    long_phrases(monkeypatch, 2)
    monkeypatch.setattr(phrases, "_EXCERPT_S", 1)
    monkeypatch.setattr(phrases, "_EXCERPTS", 2)
    short_batches(monkeypatch, 64)
    method = anonymizer(name, **ALL[name])
    short, long = voice(4.0, rate_hz=8_000), voice(16.0, rate_hz=8_000)
    hide(method, voice(2.0, rate_hz=8_000))  # what is imported late is not counted
    peaks = [_peak_beyond_result(method, audio) for audio in (short, long)]
    steps = 2 if name == "chain" else 1  # a chain holds what one step has made while the next one works
    assert peaks[1] - peaks[0] < (steps - 1) * (long.samples.nbytes - short.samples.nbytes) + 150_000


def _peak_beyond_result(method: Anonymizer, audio: Audio) -> int:
    tracemalloc.start()
    try:
        hide(method, audio)
        return tracemalloc.get_traced_memory()[1] - audio.samples.nbytes
    finally:
        tracemalloc.stop()
