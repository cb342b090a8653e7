"""The prosody network: it learns what content tells of F0, voicing and energy, resumes, and is exported."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Generator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

torch = pytest.importorskip("torch", reason="needs torch: pip install '.[neural]'")

from personare.core.errors import ConfigError, TrainingError  # noqa: E402 - after the skip
from personare.core.sessions import open_session  # noqa: E402
from personare.encoders.grid import CONTENT_STEP, WIDTH  # noqa: E402
from personare.encoders.prosody import (  # noqa: E402
    PROSODY,
    F0Statistics,
    ProsodyTrack,
    f0_statistics,
    normalize_f0,
    read_prediction,
    scale_energy,
)
from personare.training import loop  # noqa: E402
from personare.training.plan import TrainingPlan  # noqa: E402
from personare.training.prosody.run import ProsodyTrainingRun, export_prosody, hold_out  # noqa: E402
from personare.training.prosody.settings import ProsodySettings  # noqa: E402
from personare.training.prosody.task import held_out_measures, new_task  # noqa: E402
from personare.training.synthesizer import features  # noqa: E402
from personare.training.synthesizer.conditions import recorded_elsewhere  # noqa: E402
from personare.training.synthesizer.features import SynthesizerFeatures  # noqa: E402
from personare.training.synthesizer.network import SynthesizerShape  # noqa: E402
from personare.training.synthesizer.run import SynthesizerUtterance  # noqa: E402

TINY = ProsodySettings(
    shape=SynthesizerShape(prosody=0, bands=PROSODY, width=16, blocks=1, reach=2, voice_width=4),
    plan=TrainingPlan(steps=60, validate_every=30, patience=0, rate=2e-2, warm_up=2, weight_decay=0.0),
    batch=4,
    frames=40,
    held_out=2,
)
SECONDS = 2


def utterance(number: int, speaker: str) -> SynthesizerFeatures:
    """Content whose first three numbers are the speaker's normalized F0, voicing and energy; the rest is noise."""
    rng = np.random.default_rng(number)
    count = SECONDS * 16_000 // CONTENT_STEP
    wave = np.sin(np.arange(count) / 5 + rng.uniform(0, 6)).astype(np.float32)
    content = rng.standard_normal((count, WIDTH)).astype(np.float32) * 0.1
    content[:, 0], content[:, 1], content[:, 2] = wave, wave > 0, wave
    fine = np.interp(np.arange(SECONDS * 16_000 // 96 + 1) * 96, 448 + 384 * np.arange(count), wave)
    track = ProsodyTrack((150 * np.exp2(0.2 * fine)).astype(np.float32), fine > 0, (10 * fine - 25).astype(np.float32))
    vector = np.abs(rng.standard_normal(256)).astype(np.float32)
    contents = tuple(content.astype(np.float16) for _ in range(5))
    audio = np.zeros(SECONDS * 16_000, np.int16)
    return SynthesizerFeatures(speaker, audio, track, vector / np.linalg.norm(vector), contents, (1.0,) * 5)


@pytest.fixture
def run(tmp_path: Path) -> ProsodyTrainingRun:
    items = []
    for number in range(12):
        made, path = utterance(number, f"p{number // 2}"), tmp_path / "features" / f"{number}.npz"
        arrays: dict[str, NDArray[Any]] = {
            "audio": made.audio,
            "f0": made.track.f0_hz,
            "voiced": made.track.voiced,
            "vector": made.vector,
        }
        copies = {f"content{k or ''}": content for k, content in enumerate(made.contents)}
        features.save({**arrays, **copies, "energy": made.track.energy_db, "speeds": np.array(made.speeds[1:])}, path)
        items.append(SynthesizerUtterance(f"u{number}", made.speaker, path, path))
    return hold_out(items, TINY)


def test_held_out_speakers_are_not_trained_on(run: ProsodyTrainingRun) -> None:
    held_out = {item.speaker for item in run.held_out}
    assert len(held_out) == 2
    assert held_out.isdisjoint(item.speaker for item in run.utterances)


def test_it_learns_what_content_tells_and_its_graph_says_the_same(run: ProsodyTrainingRun, tmp_path: Path) -> None:
    task = run.task()
    before = task.validate()
    for _ in run.train(task, tmp_path / "training"):
        pass
    assert task.validate() < 0.6 * before
    measured = held_out_measures(task)
    assert measured["energy_correlation"] > 0.8
    assert measured["f0_correlation"] > 0.5
    assert measured["voicing_error"] < 0.2
    graph, difference, widening = export_prosody(task)
    assert difference < 1e-2
    assert 1.0 <= widening <= 1.8
    example = task.held_out[0]
    inputs = {"content": example.content(0)[None], "voice": example.vector[None]}
    predicted = read_prediction(open_session(graph).run(None, inputs)[0][0])
    expected = task.predict(example)
    np.testing.assert_allclose(predicted.contour, widening * expected[:, 0], atol=2e-2)
    assert (predicted.voiced == (expected[:, 1] > 0)).mean() > 0.98
    assert predicted.energy_db.min() >= -50


def test_stopped_and_resumed_it_ends_with_the_same_bits(run: ProsodyTrainingRun, tmp_path: Path) -> None:
    short = dataclasses.replace(
        run, settings=dataclasses.replace(TINY, plan=dataclasses.replace(TINY.plan, steps=6, validate_every=3))
    )
    for _ in short.train(whole := short.task(), tmp_path / "whole"):
        pass
    steps = cast(Generator[loop.TrainingStep], short.train(short.task(), tmp_path / "parts"))
    with contextlib.closing(steps) as stopped:
        assert next(step.step for step in stopped if step.step == 4)
    for _ in short.train(again := short.task(), tmp_path / "parts", resume=True):
        pass
    assert export_prosody(again)[0] == export_prosody(whole)[0]
    assert dataclasses.replace(short, settings=TINY).fingerprint != short.fingerprint


def test_a_speaker_without_voiced_speech_has_energy_to_learn_from() -> None:
    whispered = utterance(0, "w")
    silent = dataclasses.replace(
        whispered, track=dataclasses.replace(whispered.track, voiced=np.zeros_like(whispered.track.voiced))
    )
    task = new_task(TINY, [silent], [silent])
    assert not task.examples[0].targets[:, 1].any()
    assert np.isfinite(task.validate())


def test_f0_and_energy_are_normalized_as_they_are_read_back() -> None:
    """Closed form: what is normalized by a speaker's statistics and given them again is as it was."""
    f0_hz = np.array([120, 150, 180, 140, 160], np.float32)
    spoken = f0_statistics(f0_hz)
    assert spoken is not None
    rows = np.stack(
        [normalize_f0(f0_hz, spoken), np.array([1, -1, 1, -1, 1]), scale_energy((-f0_hz / 4).astype(np.float32))],
        axis=1,
    )
    read = read_prediction(rows.astype(np.float32))
    np.testing.assert_allclose(read.f0_hz(spoken), f0_hz, rtol=1e-4)
    np.testing.assert_allclose(read.energy_db, -f0_hz / 4, atol=1e-4)
    assert read.voiced.tolist() == [True, False, True, False, True]
    assert scale_energy(np.array([-90.0], np.float32)) == scale_energy(np.array([-50.0], np.float32))
    wide = read_prediction(np.array([[99, 1, 1]], np.float32)).f0_hz(F0Statistics(7.0, 0.5))
    assert np.log2(wide[0]) == pytest.approx(7.0 + 3.5 * 0.5)


def test_another_recording_of_the_same_speech() -> None:
    speech = np.random.default_rng(0).standard_normal(16_000).astype(np.float32) * 0.1
    speech[8_000:] = 0
    copies = [recorded_elsewhere(speech, rng=np.random.default_rng(seed)) for seed in range(4)]
    assert {len(copy) for copy in copies} == {16_000}
    for copy in copies:
        assert copy.dtype == np.float32
        assert np.isfinite(copy).all()
        assert copy[12_000:].std() > 0  # a noise floor where there was none
        assert copy.std() == pytest.approx(speech.std(), rel=0.2)
    assert not np.allclose(copies[0], copies[1])
    np.testing.assert_array_equal(copies[0], recorded_elsewhere(speech, rng=np.random.default_rng(0)))


def test_wrong_settings_and_too_few_speakers_are_one_line() -> None:
    with pytest.raises(ConfigError, match="takes no prosody and gives 6 numbers a frame"):
        ProsodySettings(shape=SynthesizerShape())
    with pytest.raises(ConfigError, match="true_content is a share, 0 to 1, not 2"):
        ProsodySettings(true_content=2)
    with pytest.raises(ConfigError, match="held_out must be at least 1"):
        ProsodySettings(held_out=0)
    items = [SynthesizerUtterance("u", "p", Path("a.wav"), Path("a.npz"))]
    with pytest.raises(TrainingError, match="1 speakers can be read; the prosody network needs at least 6"):
        hold_out(items, TINY)
