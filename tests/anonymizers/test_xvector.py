"""The neural voice as it is used: time, pitch and level are kept, shipped files fit, wrong settings are refused."""

from __future__ import annotations

import itertools
import json
from importlib import resources
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import hum
from personare.anonymizers import anonymizer
from personare.anonymizers.neural.xvector import from_sounds, synthesis
from personare.anonymizers.neural.xvector.weights import open_weights
from personare.core.errors import ConfigError, UnknownNameError, WeightsError
from personare.encoders import grid, prosody
from personare.encoders.content import moonshine_content


@given(st.integers(1, 40_000))
@settings(max_examples=25)
def test_frames_cover_every_sample(n_samples: int) -> None:
    count = grid.frame_count(n_samples)
    assert (count - 1) * grid.STEP < n_samples <= count * grid.STEP


def test_content_is_laid_at_its_time() -> None:
    """Closed form: a ramp over encoder frames is the same ramp over the network's, at any speed of playing."""
    content = np.repeat(np.arange(100, dtype=np.float32)[:, None], grid.WIDTH, axis=1)
    for speed in (1.0, 0.8, 1.25):
        laid = grid.on_frames(content, 60, speed=speed)[:, 0]
        middle = np.arange(60) * grid.STEP + grid.STEP / 2
        wanted = (middle / speed - grid.CONTENT_CENTRE) / grid.CONTENT_STEP
        np.testing.assert_allclose(laid[5:], wanted[5:], atol=1e-3)


def test_pitch_is_moved_in_octaves() -> None:
    track = prosody.ProsodyTrack(np.array([100, 120, 200, 90], np.float32), np.ones(4, bool), np.zeros(4, np.float32))
    moved = prosody.transform_f0(
        track, prosody.F0Statistics(np.log2(100), 0.2), prosody.F0Statistics(np.log2(200), 0.2)
    )
    np.testing.assert_allclose(moved.f0_hz, [200, 240, 400, 180], rtol=1e-5)


def test_an_utterance_without_pitch_has_none() -> None:
    assert prosody.f0_statistics(np.zeros(0, np.float32)) is None


@pytest.mark.parametrize("n", [1, 100, 20_000])
def test_the_level_of_the_original_is_followed(n: int) -> None:
    rng = np.random.default_rng(0)
    original = (0.1 * rng.standard_normal(n)).astype(np.float32)
    levelled = synthesis.match_level(original, (0.01 * rng.standard_normal(n)).astype(np.float32))
    assert levelled.shape == (n,)
    if n > 1000:
        assert np.sqrt(np.square(levelled).mean()) == pytest.approx(0.1, rel=0.05)


@pytest.mark.models
def test_content_has_mean_0_and_spread_1() -> None:
    content = moonshine_content(hum(1, duration_s=2.0).samples)
    np.testing.assert_allclose(content.mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(content.std(axis=0), 1, atol=1e-3)


def test_the_shipped_voice_fits_its_card_and_its_limit() -> None:
    folder = resources.files("personare.anonymizers.neural.xvector") / "shipped"
    sizes = {part.name: len(part.read_bytes()) for part in folder.iterdir() if part.name != "__pycache__"}
    assert sum(size for name, size in sizes.items() if not name.startswith("languages_")) <= 25_000_000
    assert sum(sizes.values()) <= 35_000_000, "with four more languages"
    weights = open_weights("shipped")
    card = json.loads((folder / "voice.json").read_text(encoding="utf-8"))
    assert {"speechocean762", "librispeech-mini"} <= set(card["data"]["sources"])
    assert "CC BY 4.0" in card["licence"]
    assert (
        card["voices"]["nearest_cosine_to_a_training_speaker"]
        < card["voices"]["median_cosine_of_a_recording_to_its_speaker"]
    )
    np.testing.assert_allclose(np.linalg.norm(weights.bank.vectors, axis=1), 1, atol=1e-5)
    assert weights.bank.genders.count("f") == weights.bank.genders.count("m") == 500


@pytest.mark.models
def test_other_generators_and_options_speak() -> None:
    audio = hum(3, duration_s=1.0)
    heard = {}
    cases: dict[str, dict[str, Any]] = {
        "b1": {},
        "rp_gmm": {"generator": "rp_gmm"},
        "own source": {"own": "source"},
        "moved pitch": {"pitch": "move"},
        "cross": {"gender": "cross"},
        "masked": {"mask": True},
    }
    for name, setting in cases.items():
        sound = anonymizer("xvector", **setting)(audio, rng=np.random.default_rng(1)).samples
        assert sound.shape == audio.samples.shape
        assert np.square(sound).mean() > 0
        heard[name] = sound
    assert not np.allclose(heard["b1"], heard["rp_gmm"])
    assert not np.allclose(heard["cross"], heard["b1"])


def test_wrong_settings_are_one_line() -> None:
    with pytest.raises(UnknownNameError, match="no pseudospeaker 'o2'; Known: a1"):
        anonymizer("xvector", generator="o2")
    with pytest.raises(UnknownNameError, match="no content encoder 'moonshin'; did you mean 'moonshine'"):
        anonymizer("xvector", content="moonshin")
    for setting in ({"pool": "pool.npz"}, {"gender": "cross"}, {"parameters": {"mix": 3}}):
        with pytest.raises(ConfigError, match="brings its own parameters, pool and gender"):
            anonymizer("xvector", generator="mine.npz", **setting)
    with pytest.raises(WeightsError, match=r"nowhere: has no voice\.json"):
        anonymizer("xvector", weights="nowhere")(hum(1), rng=np.random.default_rng(1))


@pytest.mark.parametrize("length", [10_000, 4_100, 4_001])
def test_phrases_fade_into_each_other(length: int) -> None:
    """Closed form: two phrases that say 0 and 1 join in a rising line, and 1 and 1 stay 1, however short the second."""
    cut, reach = 4_000, synthesis.CROSSFADE
    spans = [(0, min(cut + reach, length)), (cut - reach, length)]
    choices: list[tuple[int, int]] = [(0, 1), (1, 1)]
    for values in choices:
        pieces = [(a, np.full(b - a, value, np.float32)) for (a, b), value in zip(spans, values, strict=True)]
        sound = synthesis.crossfade(pieces, length)
        assert sound[0] == values[0]
        assert np.abs(np.diff(sound)).max() <= (values[0] != values[1]) / reach + 1e-6


def test_a_long_sound_is_cut_with_overlap() -> None:
    audio = hum(2, duration_s=42.0, rate_hz=grid.RATE_HZ)
    pieces = from_sounds.overlapping(audio)
    assert len(pieces) > 2
    assert (pieces[0][0], pieces[-1][1]) == (0, len(audio.samples))
    assert {ends - begins for (_, ends), (begins, _) in itertools.pairwise(pieces)} == {2 * synthesis.CROSSFADE}


@pytest.mark.parametrize("f0_hz", [90.0, 160.0, 320.0])
def test_pitch_is_found_where_it_is(f0_hz: float) -> None:
    """Closed form: pulses of a known height are heard at that height, in noise too."""
    audio = hum(1, duration_s=1.0, f0_hz=f0_hz, rate_hz=grid.RATE_HZ)
    noise = np.random.default_rng(0).standard_normal(len(audio.samples))
    level = float(np.sqrt(np.square(audio.samples).mean()))
    noisy = (audio.samples + 0.3 * level * noise).astype(np.float32)
    track = prosody.track_prosody(noisy)
    assert len(track.f0_hz) == grid.frame_count(len(noisy)) * grid.PAIR
    assert track.voiced.mean() > 0.8
    np.testing.assert_allclose(np.median(track.f0_hz[track.voiced]), f0_hz, rtol=0.02)
