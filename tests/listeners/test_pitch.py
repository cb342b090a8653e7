"""Pitch trackers: right on sounds whose pitch is known, silent on silence, the same frames at any rate."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from conftest import hum
from personare.core.audio import Audio, read_mono, resample
from personare.core.errors import ConfigError, MissingExtraError, WeightsError
from personare.encoders import swift
from personare.listeners import listener, pitch
from personare.listeners.pitch import WorldPitch
from personare.listeners.swift_pitch import SwiftPitch
from personare.metrics.utility.pitch import f0_spearman, pitch_correlation
from personare.metrics.utility.voicing import voicing_error

pytest.importorskip("pyworld", reason="needs the extra 'pitch'")
TRACKERS = [WorldPitch(), WorldPitch(method="harvest"), SwiftPitch()]


def glide(rate_hz: int, *, duration_s: float = 1.5) -> tuple[Audio, Any]:
    """A voiced sound that rises from 100 to 200 Hz, and its pitch at each time."""
    t = np.arange(round(duration_s * rate_hz)) / rate_hz
    pitch = 100 + 100 * t / duration_s
    phase = 2 * np.pi * np.cumsum(pitch) / rate_hz
    harmonics = np.arange(1, 15)[:, None]
    sound = (np.sin(harmonics * phase) / harmonics).sum(axis=0)
    return Audio((0.2 * sound).astype(np.float32), rate_hz), lambda times: 100 + 100 * times / duration_s


@pytest.mark.parametrize("tested", TRACKERS, ids=lambda e: e.fingerprint.split(":")[0])
@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 44_100])
def test_a_rising_tone_is_followed(tested: Any, rate_hz: int) -> None:
    audio, truth = glide(rate_hz)
    (track,) = tested([audio])
    assert len(track) == 151
    inner = slice(15, 135)
    voiced = track[inner] > 0
    assert voiced.mean() > 0.95
    expected = truth(np.arange(151) * 0.01)[inner]
    assert np.median(np.abs(track[inner][voiced] / expected[voiced] - 1)) < 0.02


@pytest.mark.parametrize("tested", TRACKERS, ids=lambda e: e.fingerprint.split(":")[0])
@pytest.mark.parametrize("frames", [0, 1, 700, 16_000])
def test_silence_is_unvoiced(tested: Any, frames: int) -> None:
    (track,) = tested([Audio(np.zeros(frames, np.float32), 16_000)])
    assert len(track) == frames // 160 + 1
    assert not track.any()


@pytest.mark.parametrize("tested", TRACKERS, ids=lambda e: e.fingerprint.split(":")[0])
@pytest.mark.parametrize("frames", [1, 100, 801, 1_000, 9_600, pytest.param(30 * 16_000, id="30 s")])
def test_any_length_gives_a_finite_track(tested: Any, frames: int) -> None:
    samples = np.tile(hum(1).samples, frames // 16_000 + 1)[:frames]
    (track,) = tested([Audio(np.ascontiguousarray(samples), 16_000)])
    assert len(track) == frames // 160 + 1
    assert np.isfinite(track).all()
    assert (track >= 0).all()
    assert frames < 9_600 or (track > 0).mean() > 0.8  # 0.6 s, as long as a word, and 30 s are followed


@pytest.mark.parametrize("mains_hz", [50, 60])
def test_the_hum_of_the_mains_is_not_a_voice(mains_hz: int) -> None:
    voice = hum(3, f0_hz=190.0)
    mains = 0.01 * np.sin(2 * np.pi * mains_hz * np.arange(len(voice.samples)) / 16_000)
    (track,) = WorldPitch()([Audio((voice.samples + mains).astype(np.float32), 16_000)])
    assert np.median(track[track > 0]) == pytest.approx(190, rel=0.01)
    assert np.mean(track > 0) > 0.8


def test_the_wrapped_libraries_give_the_same_numbers() -> None:
    """Each adapter compared once with the library it wraps."""
    import pyworld

    audio = hum(3, f0_hz=140.0)
    x = pitch._without_hum(audio, below_hz=0.95 * 75)
    track, times = pyworld.dio(x, 16_000, f0_floor=75.0, f0_ceil=500.0, frame_period=10.0)
    assert np.array_equal(WorldPitch()([audio])[0], pyworld.stonemask(x, track, times, 16_000))
    track, _ = pyworld.harvest(x, 16_000, f0_floor=75.0, f0_ceil=500.0, frame_period=10.0)
    assert np.array_equal(WorldPitch(method="harvest")([audio])[0], track)


@pytest.mark.parametrize("duration_s", [0.06, 1.0, 65.0])
def test_swift_gives_the_numbers_of_its_own_package(duration_s: float) -> None:
    """Reference: the package that carries the model; 65 s are three of our pieces."""
    theirs = pytest.importorskip("swift_f0", reason="needs the package swift-f0, of the group dev").SwiftF0(threads=1)
    audio = hum(3, f0_hz=140.0, duration_s=duration_s)
    audio.samples[5000:8000] = 0
    wanted = theirs.detect(audio.samples, 16_000, fmin=75.0, fmax=500.0)
    pitch_hz, confidence = swift.swift_track(audio.samples, lowest_hz=75.0, highest_hz=500.0)
    assert np.array_equal(pitch_hz, wanted.pitch_hz)
    assert np.array_equal(confidence, wanted.confidence)


@pytest.mark.shared
@pytest.mark.parametrize("tested", TRACKERS, ids=lambda e: e.fingerprint.split(":")[0])
def test_noise_at_falling_snr_loses_pitch_and_identity_keeps_it(shared_folder: Path, tested: Any) -> None:
    """Four utterances; Harvest, which is slow, hears the first two seconds of two of them."""
    manifest = pl.read_csv(shared_folder / "corpus" / "manifest.tsv", separator="\t", quote_char=None)
    rows = manifest.filter((pl.col("corpus") == "librispeech-mini") & (pl.col("seconds") < 7)).head(4)
    batch = [read_mono(shared_folder / "corpus" / path) for path in rows["audio"]]
    if tested == WorldPitch(method="harvest"):
        batch = [Audio(audio.samples[:32_000], audio.rate_hz) for audio in batch[:2]]
    clean = tested(batch)
    assert all(f0_spearman(track, track) == pytest.approx(1) for track in clean)
    assert all(pitch_correlation(track, track, frames="voiced") == pytest.approx(1) for track in clean)
    assert all(voicing_error(track, track) == 0 for track in clean)
    errors = []
    for snr_db in (20, 5, -10):
        heard = tested([noisy(audio, snr_db) for audio in batch])
        errors.append(np.mean([voicing_error(a, b) for a, b in zip(clean, heard, strict=True)]))
    assert 0 < errors[0] < errors[1] < errors[2]


def noisy(audio: Audio, snr_db: float) -> Audio:
    noise = np.random.default_rng(5).standard_normal(len(audio.samples))
    scale = np.sqrt(np.mean(audio.samples.astype(np.float64) ** 2) / 10 ** (snr_db / 10))
    return Audio((audio.samples + scale * noise).astype(np.float32), audio.rate_hz)


@pytest.mark.parametrize("tested", TRACKERS, ids=lambda e: e.fingerprint.split(":")[0])
def test_the_same_speech_at_another_rate_has_the_same_pitch(tested: Any) -> None:
    audio = hum(2, f0_hz=150.0)
    low, high = tested([audio, resample(audio, 48_000)])
    both = (low > 0) & (high > 0)
    assert np.mean(np.abs(low[both] / high[both] - 1) < 0.01) > 0.95
    assert voicing_error(low, high) < 0.1


def test_settings_are_checked() -> None:
    assert listener("pitch", method="harvest") == WorldPitch(method="harvest")
    with pytest.raises(ConfigError, match="lowest_hz < highest_hz"):
        listener("pitch", lowest_hz=700.0)
    with pytest.raises(ConfigError, match="voiced_from"):
        listener("pitch-swift", voiced_from=1.5)


def test_a_missing_extra_or_model_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyworld", None)
    with pytest.raises(MissingExtraError, match=r"\.\[pitch\]"):
        WorldPitch()([hum(1)])
    swift._model.cache_clear()
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path))
    with pytest.raises(WeightsError, match="personare models fetch swift-f0"):
        SwiftPitch()([hum(1)])
