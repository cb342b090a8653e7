"""Prosody of xvector: kept, predicted, flat or retimed; nothing of the source's energy passes where it must not."""

from __future__ import annotations

import json
import shutil
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import hum
from personare.anonymizers import anonymizer
from personare.anonymizers.neural.xvector import from_sounds, synthesis
from personare.anonymizers.neural.xvector.prosody_choice import (
    ProsodyChoice,
    chosen_prosody,
    retime_rows,
    retime_track,
    retimed_places,
    sample_places,
)
from personare.anonymizers.neural.xvector.weights import CARD, PROSODY_NETWORK, open_weights, shipped_folder
from personare.core.audio import Audio
from personare.core.errors import ConfigError, WeightsError
from personare.core.loudness import integrated_lufs
from personare.encoders.prosody import F0Statistics, PredictedProsody, ProsodyTrack

RATE_HZ = 16_000
TARGET, SOURCE = F0Statistics(np.log2(200.0), 0.2), F0Statistics(np.log2(100.0), 0.2)
TRACK = ProsodyTrack(
    np.array([100, 120, 90, 100], np.float32), np.array([1, 1, 0, 1], bool), np.array([-3, -9, -40, -5], np.float32)
)
PREDICTED = PredictedProsody(
    np.array([0, 1, -1, 0], np.float32), np.array([0, 1, 1, 1], bool), np.array([-1, -2, -30, -4], np.float32)
)
ALL_PREDICTED: dict[str, object] = {
    **{"generator": "o1", "pitch": "move", "f0": "predicted", "energy": "predicted", "timing": "even"},
}


def test_each_knob_replaces_its_own_channel() -> None:
    """Closed form for every value of the two knobs."""
    kept = chosen_prosody(ProsodyChoice(), TRACK, None, source=SOURCE, target=TARGET)
    np.testing.assert_allclose(kept.f0_hz, [200, 240, 180, 200], rtol=1e-5)
    flat = chosen_prosody(ProsodyChoice(f0="flat"), TRACK, PREDICTED, source=SOURCE, target=TARGET)
    np.testing.assert_allclose(flat.f0_hz, [200] * 4, rtol=1e-5)
    assert flat.voiced.tolist() == PREDICTED.voiced.tolist()
    np.testing.assert_array_equal(flat.energy_db, TRACK.energy_db)
    made = chosen_prosody(ProsodyChoice(f0="predicted"), TRACK, PREDICTED, source=SOURCE, target=TARGET)
    np.testing.assert_allclose(made.f0_hz, 200 * np.exp2(0.2 * PREDICTED.contour), rtol=1e-5)
    both = chosen_prosody(ProsodyChoice(f0="blend", blend=0.5), TRACK, PREDICTED, source=SOURCE, target=TARGET)
    np.testing.assert_allclose(both.f0_hz, np.sqrt(kept.f0_hz * made.f0_hz), rtol=1e-5)
    assert both.voiced.tolist() == TRACK.voiced.tolist()
    quiet = chosen_prosody(ProsodyChoice(energy="predicted"), TRACK, PREDICTED, source=SOURCE, target=TARGET)
    np.testing.assert_array_equal(quiet.energy_db, PREDICTED.energy_db)
    np.testing.assert_array_equal(quiet.f0_hz, kept.f0_hz)
    all_new = ProsodyChoice(f0="predicted", energy="predicted")
    assert not all_new.needs_track
    from_content = chosen_prosody(all_new, None, PREDICTED, source=None, target=TARGET)
    np.testing.assert_array_equal(from_content.f0_hz, made.f0_hz)
    np.testing.assert_array_equal(from_content.energy_db, PREDICTED.energy_db)


@given(st.integers(1, 400), st.floats(0.0, 0.5), st.floats(0.8, 1.25), st.integers(0, 99))
def test_retiming_is_monotone_keeps_the_ends_and_stays_in_bounds(
    count: int, reach: float, tempo: float, seed: int
) -> None:
    places = retimed_places(count, reach=reach, tempo=tempo, rng=np.random.default_rng(seed))
    assert len(places) == max(1, round(count * tempo))
    assert places[0] == 0
    if len(places) == 1:
        return
    assert places[-1] == pytest.approx(count - 1, abs=1e-6)
    speeds = np.diff(places) * (len(places) - 1) / max(count - 1, 1)
    if count == 1:
        return
    assert (speeds <= (1 + reach) * (1 + 1e-9)).all()
    assert (speeds >= (1 - 1e-9) / (1 + reach)).all()


def test_a_track_moves_with_its_content() -> None:
    """Closed form: a rising line read at other places is those places, for frames, fine frames and samples."""
    places = retimed_places(50, reach=0.4, tempo=1.2, rng=np.random.default_rng(1))
    assert len(places) == 60
    np.testing.assert_allclose(retime_rows(np.arange(50, dtype=np.float32), places), places, rtol=1e-5)
    fine = np.arange(100, dtype=np.float32)
    moved = retime_track(ProsodyTrack(np.exp2(fine / 100), fine > 50, fine), places)
    middles = (moved.energy_db[::2] + moved.energy_db[1::2]) / 2
    np.testing.assert_allclose(middles[1:-1], places[1:-1] * 2 + 0.5, atol=0.5)
    np.testing.assert_allclose(np.log2(moved.f0_hz) * 100, moved.energy_db, atol=1e-2)
    assert len(moved.f0_hz) == 120
    samples = sample_places(places, 50 * 192, length=60 * 192)
    np.testing.assert_allclose(samples[96::192], (places + 0.5) * 192, atol=1.0)


def test_the_level_can_be_the_same_for_every_recording() -> None:
    rng = np.random.default_rng(0)
    sound = rng.standard_normal(32_000).astype(np.float32)
    levels = [
        integrated_lufs(synthesis.fixed_level(gain * sound).astype(np.float64), 16_000) for gain in (1e-2, 1e-1, 1.0)
    ]
    np.testing.assert_allclose(levels, synthesis.LOUDNESS_LUFS, atol=1e-3)
    silence = np.zeros(16_000, np.float32)
    np.testing.assert_array_equal(synthesis.fixed_level(silence), silence)
    assert integrated_lufs(np.zeros(0), 16_000) == float("-inf")


def test_integrated_loudness_is_that_of_the_standard() -> None:
    """Reference: the standard's own text as written in bs1770.py; and its 997 Hz tone of 0 dBFS at -3.01 LKFS."""
    from anonymizers.bs1770 import loudness

    time = np.arange(48_000 * 3) / 48_000
    assert integrated_lufs(np.sin(2 * np.pi * 997 * time), 48_000) == pytest.approx(-3.01, abs=0.02)
    speech = hum(1, duration_s=3.0, rate_hz=16_000).samples
    speech = np.concatenate([speech, speech * 0.01]).astype(np.float32)
    assert integrated_lufs(speech.astype(np.float64), 16_000) == pytest.approx(loudness(speech, 16_000), abs=0.2)


def test_wrong_knobs_are_one_line() -> None:
    with pytest.raises(ConfigError, match=r"retime is 0 \(no stretch\) to 0.5, not 0.7"):
        anonymizer("xvector", retime=0.7)
    with pytest.raises(ConfigError, match=r"blend is a share, 0 to 1, not 1\.5"):
        anonymizer("xvector", blend=1.5)
    with pytest.raises(ConfigError):
        anonymizer("xvector", f0="none")


def test_every_knob_is_part_of_the_fingerprint() -> None:
    settings: list[dict[str, object]] = [
        {},
        {"f0": "keep"},
        {"f0": "blend"},
        {"f0": "predicted"},
        {"f0": "flat"},
        {"energy": "keep"},
    ]
    settings += [{"energy": "predicted"}, {"retime": 0.2}, {"f0": "blend", "blend": 0.7}]
    prints = [anonymizer("xvector", **setting).fingerprint for setting in settings]
    assert len(set(prints[1:5])) == 4
    assert prints[5] != prints[6]
    assert len({prints[0], prints[2], prints[7], prints[8]}) == 4
    assert prints[0] == prints[1] == prints[5], "B1 keeps F0 and energy"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped voice with a prosody network drawn by chance: nothing learnt, everything wired."""
    pytest.importorskip("torch", reason="needs torch: pip install '.[neural]'")
    from personare.core.seeding import Key
    from personare.training.prosody.settings import ProsodySettings
    from personare.training.synthesizer import network
    from personare.training.synthesizer.export import export

    place = tmp_path_factory.mktemp("voice") / "voice"
    shutil.copytree(shipped_folder(), place)
    shape = ProsodySettings().shape
    graph, _ = export(network.new_tensors(shape, key=Key.from_seed(1), start_log=0.0), shape)
    (place / PROSODY_NETWORK).write_bytes(graph)
    card = json.loads((place / CARD).read_text(encoding="utf-8"))
    card["sha256"][PROSODY_NETWORK] = sha256(graph).hexdigest()
    (place / CARD).write_text(json.dumps(card), encoding="utf-8")
    return place


def _speak(folder: Path, audio: Audio, **setting: object) -> np.ndarray:
    method = anonymizer("xvector", weights=str(folder), **{**ALL_PREDICTED, **setting})
    sound: np.ndarray = method(audio, rng=np.random.default_rng(3)).samples
    return sound


@pytest.mark.models
def test_every_setting_speaks_and_each_sounds_different(folder: Path) -> None:
    audio = hum(3, duration_s=1.5)
    sounds = {
        str(setting): _speak(folder, audio, timing="keep", **setting)
        for setting in (
            {"f0": "keep", "energy": "keep"},
            {"f0": "blend", "energy": "keep"},
            {"f0": "predicted", "energy": "keep"},
            {"f0": "flat", "energy": "keep"},
            {"f0": "keep", "energy": "predicted"},
            {"f0": "predicted", "energy": "predicted"},
            {"f0": "keep", "energy": "keep", "retime": 0.3},
        )
    }
    moved = [_speak(folder, audio, f0=f0, energy=energy) for f0 in ("keep", "flat") for energy in ("keep", "predicted")]
    assert all(len(sound) != len(audio.samples) and np.isfinite(sound).all() for sound in moved)
    assert {len(sound) for sound in sounds.values()} == {len(audio.samples)}
    assert len({sound.tobytes() for sound in sounds.values()}) == len(sounds)
    assert all(np.isfinite(sound).all() and sound.any() for sound in sounds.values())


@pytest.mark.models
@pytest.mark.parametrize(("timing", "least", "most"), [("moved", 0.6, 1.6), ("even", 0.3, 2.7)])
def test_length_and_ends_say_nothing_of_the_source(folder: Path, timing: str, least: float, most: float) -> None:
    """The same words with other silence around them, at a drawn tempo; a speaker keeps theirs, others get others."""
    audio, silence = hum(3, duration_s=2.0), np.zeros(RATE_HZ, np.float32)
    padded = Audio(np.concatenate([silence, audio.samples, silence, silence]), RATE_HZ)
    method = anonymizer("xvector", weights=str(folder), **{**ALL_PREDICTED, "timing": timing})
    ratios = []
    for seed in range(6):
        short, long = (method(one, rng=np.random.default_rng(seed)).duration_s for one in (audio, padded))
        assert long - short < 0.6, "three seconds of silence around it do not pass"
        ratios.append(short / audio.duration_s)
    assert len(set(ratios)) == 6
    assert least < min(ratios) < max(ratios) < most


@pytest.mark.models
def test_nothing_is_measured_on_the_source_when_all_is_predicted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: object) -> ProsodyTrack:
        raise AssertionError("the source was tracked")

    monkeypatch.setattr(from_sounds, "track_prosody", refused)
    monkeypatch.setattr(from_sounds, "match_level", refused)
    audio = hum(4, duration_s=1.5)
    loud, soft = (
        _speak(folder, Audio(gain * audio.samples, audio.rate_hz), f0="predicted", energy="predicted")
        for gain in (np.float32(1.0), np.float32(0.05))
    )
    levels = [integrated_lufs(sound.astype(np.float64), audio.rate_hz) for sound in (loud, soft)]
    assert levels[0] == pytest.approx(levels[1], abs=0.5)
    with pytest.raises(AssertionError, match="tracked"):
        _speak(folder, audio, f0="predicted", energy="keep")


@pytest.mark.models
def test_a_voice_without_a_prosody_network_says_so(folder: Path, tmp_path: Path) -> None:
    old = tmp_path / "old"
    shutil.copytree(folder, old)
    (old / PROSODY_NETWORK).unlink()
    with pytest.raises(WeightsError, match="do not fit their card"):
        open_weights(str(old))
    card = json.loads((old / CARD).read_text(encoding="utf-8"))
    del card["sha256"][PROSODY_NETWORK]
    (old / CARD).write_text(json.dumps(card), encoding="utf-8")
    assert _speak(old, hum(1), f0="keep", energy="keep", timing="moved").any()
    for one in ({"energy": "predicted"}, {"f0": "flat"}, {"timing": "even"}):
        with pytest.raises(WeightsError, match=r"has no prosody\.onnx to predict F0, energy or pauses with"):
            _speak(old, hum(1), **{"f0": "keep", "energy": "keep", "timing": "keep", **one})
