"""Training the neural synthesizer, in the small: it learns, resumes, is exported, and refuses what is broken."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Generator
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from conftest import hum
from personare.anonymizers.neural.xvector import voice_pool
from personare.anonymizers.neural.xvector.weights import open_weights
from personare.core.audio import Audio, write
from personare.core.errors import AudioError, ConfigError, TrainingError, WeightsError
from personare.core.seeding import Key
from personare.core.tables import Corpus
from personare.pipeline.jobs.train_synthesizer import move_resonances, train_synthesizer
from personare.training import loop
from personare.training.plan import TrainingPlan
from personare.training.synthesizer import adversary, features
from personare.training.synthesizer.export import export
from personare.training.synthesizer.features import FeatureSources
from personare.training.synthesizer.network import SynthesizerShape, new_tensors
from personare.training.synthesizer.run import (
    ExtractFeatures,
    SynthesizerTrainingRun,
    SynthesizerUtterance,
    features_path,
    hold_out,
)
from personare.training.synthesizer.settings import SynthesizerSettings

pytest.importorskip("torch", reason="needs torch: pip install '.[neural]'")
pytestmark = pytest.mark.models

PEOPLE = 24
TINY = SynthesizerSettings(
    shape=SynthesizerShape(width=16, blocks=1, voice_width=8),
    plan=TrainingPlan(steps=6, validate_every=3, patience=0, rate=3e-3, warm_up=1, weight_decay=0.0),
    batch=4,
    frames=48,
    discriminator_from=0.5,
    discriminator_crops=2,
    discriminator_frames=32,
    processes=1,
    held_out=2,
)


def embed(audio: Audio) -> NDArray[np.float32]:
    """A vector that depends on the sound, as the real one does; cheap."""
    seed = int(np.abs(audio.samples[:400]).sum() * 1e4)
    vector = np.abs(np.random.default_rng(seed).normal(size=256))
    scaled: NDArray[np.float32] = (vector / np.linalg.norm(vector)).astype(np.float32)
    return scaled


SOURCES = FeatureSources(embed, move_resonances)


@pytest.fixture(autouse=True)
def short_head(monkeypatch: pytest.MonkeyPatch) -> None:
    """The head of a network that is trained for a few steps is trained for a few steps too."""
    monkeypatch.setattr(adversary, "PLAN", dataclasses.replace(adversary.PLAN, steps=4, validate_every=2))


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> list[SynthesizerUtterance]:
    folder = tmp_path_factory.mktemp("speech")
    made = []
    for person in range(PEOPLE):
        audio = folder / f"{person}.wav"
        write(audio, hum(person, duration_s=0.7, f0_hz=110 + 5 * person))
        made.append(
            SynthesizerUtterance(f"u{person}", f"p{person:02}", audio, features_path(folder / "features", audio))
        )
    work = ExtractFeatures(SOURCES, TINY.seed)
    assert [work(item) for item in made] == [item.name for item in made]
    return made


@pytest.fixture(scope="module")
def run(items: list[SynthesizerUtterance]) -> SynthesizerTrainingRun:
    return hold_out(items, TINY)


def _corpus(items: list[SynthesizerUtterance]) -> Corpus:
    import polars as pl

    rows = [(i.name, i.speaker, str(i.audio), "fm"[n % 2], "one two") for n, i in enumerate(items)]
    return Corpus(pl.DataFrame(rows, schema=["utterance", "speaker", "audio", "gender", "text"], orient="row"))


def test_features_hold_three_copies_in_other_voices_and_one_in_another_room(
    items: list[SynthesizerUtterance],
) -> None:
    utterance = items[0].load()
    assert len(utterance.audio) == 11_200
    assert utterance.speeds[0] == 1.0
    assert 0.78 <= utterance.speeds[1] <= 0.93
    assert 1.07 <= utterance.speeds[2] <= 1.28
    assert [content.shape[1] for content in utterance.contents] == [288] * 5
    assert utterance.speeds[4] == utterance.speeds[3]
    assert not np.array_equal(utterance.contents[4], utterance.contents[0][: len(utterance.contents[4])])
    assert np.sqrt(np.square(utterance.samples).mean()) == pytest.approx(0.05, rel=1e-3)


def test_held_out_speakers_are_not_trained_on(run: SynthesizerTrainingRun) -> None:
    held_out = {item.speaker for item in run.held_out}
    assert len(held_out) == 2
    assert held_out.isdisjoint(item.speaker for item in run.utterances)
    assert len(run.utterances) + len(run.held_out) == PEOPLE


def test_it_learns_ends_in_a_folder_that_speaks_and_resumes_to_the_same_bits(
    items: list[SynthesizerUtterance], run: SynthesizerTrainingRun, tmp_path: Path
) -> None:
    done = train_synthesizer(run, _corpus(items), tmp_path / "whole", sources=["hums"])
    assert done.validations[-1].step == TINY.plan.steps
    assert done.difference < 1e-2
    weights = open_weights(str(tmp_path / "whole"))
    assert weights.card["data"]["sources"] == ["hums"]
    assert weights.bank.vectors.shape == (1000, 256)
    assert weights.card["voices"]["nearest_cosine_to_a_training_speaker"] < 1.0
    assert (tmp_path / "whole" / "learning.svg").stat().st_size > 1000
    with contextlib.closing(cast(Generator[loop.TrainingStep], run.train(run.task(), tmp_path / "parts"))) as stopped:
        assert next(step.step for step in stopped if step.step == 4)
    again = train_synthesizer(run, _corpus(items), tmp_path / "parts", resume=True)
    assert (tmp_path / "parts" / "voice.onnx").read_bytes() == (tmp_path / "whole" / "voice.onnx").read_bytes()
    assert again.validations[1:] == done.validations[1:]


def test_the_voice_comes_nearer_to_true_speech(run: SynthesizerTrainingRun, tmp_path: Path) -> None:
    plan = dataclasses.replace(TINY.plan, steps=40, validate_every=40, rate=1e-2)
    longer = hold_out([*run.utterances, *run.held_out], dataclasses.replace(TINY, plan=plan, discriminator_from=1.0))
    losses = [step.loss for step in longer.train(longer.task(), tmp_path)][1:-1]
    assert np.mean(losses[-8:]) < 0.8 * np.mean(losses[:4])
    second = dataclasses.replace(longer, start=tmp_path)
    assert second.fingerprint != longer.fingerprint
    assert second.task().validate() == pytest.approx(
        min(
            v.held_out
            for v in loop.best_of_training(longer.task(), tmp_path, fingerprint=longer.fingerprint).validations
        )
    )


def test_a_voice_without_its_checkpoints_and_a_prosody_network_can_be_begun_with(
    items: list[SynthesizerUtterance], run: SynthesizerTrainingRun, tmp_path: Path
) -> None:
    whole = run.task()
    graph, _ = export(whole.tensors, TINY.shape)
    (tmp_path / "voice.onnx").write_bytes(graph)
    second = dataclasses.replace(run, start=tmp_path)
    assert second.fingerprint != run.fingerprint
    weight = second.task().tensors["head.weight"].detach().numpy()
    np.testing.assert_allclose(weight, whole.tensors["head.weight"].detach().numpy(), atol=1e-3)
    shape = SynthesizerShape(prosody=0, bands=6, width=8, blocks=1, voice_width=4)
    (tmp_path / "prosody.onnx").write_bytes(export(new_tensors(shape, key=Key.from_seed(2)), shape)[0])
    settings = dataclasses.replace(TINY, predicted_energy=1.0)
    with_prosody = hold_out(items, settings, prosody=tmp_path / "prosody.onnx")
    batch, plain = with_prosody.task().batch(0), hold_out(items, settings).task().batch(0)
    assert batch["prosody"].shape == plain["prosody"].shape
    assert not np.allclose(batch["prosody"][..., 2::3], plain["prosody"][..., 2::3])  # energy
    np.testing.assert_allclose(batch["natural"][0], plain["natural"][0])  # the speech to come near to is the same


def test_a_changed_file_is_refused(
    items: list[SynthesizerUtterance], run: SynthesizerTrainingRun, tmp_path: Path
) -> None:
    train_synthesizer(run, _corpus(items), tmp_path)
    card = json.loads((tmp_path / "voice.json").read_text())
    card["sha256"]["voice.onnx"] = "0" * 64
    (tmp_path / "voice.json").write_text(json.dumps(card))
    with pytest.raises(WeightsError, match="do not fit their card"):
        open_weights(str(tmp_path))
    with pytest.raises(WeightsError, match=r"has no voice\.json"):
        open_weights(str(tmp_path / "nowhere"))


def test_the_head_is_trained_against_a_classifier(items: list[SynthesizerUtterance], tmp_path: Path) -> None:
    task = adversary.new_task([item.load() for item in items], seed=1)
    given, _, speakers = task.batch(0)
    task.loss((given, given, speakers)).backward()
    gradient = task.tensors["mask.out.weight"].grad.clone()
    assert (
        float(gradient.abs().max()) > 0
    )  # with the content kept exactly, only the classifier has a gradient for the head
    plan = TrainingPlan(steps=3, validate_every=3, patience=0)
    list(loop.train(task, plan, tmp_path, fingerprint="m"))
    assert len(adversary.encode(task.tensors)) < 400_000


def test_too_little_speech_is_one_clear_line(items: list[SynthesizerUtterance], tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="5 speakers can be read; a voice needs at least 6"):
        hold_out(items[:5], TINY)
    with pytest.raises(AudioError, match=r"0\.2 s of speech; training takes 0\.5 to 40 s"):
        features.extract(hum(1, duration_s=0.2), SOURCES, rng=np.random.default_rng(0))
    (tmp_path / "x.npz").write_bytes(b"nothing")
    with pytest.raises(TrainingError, match="no features"):
        features.load(tmp_path / "x.npz", "anna")
    with pytest.raises(ConfigError, match="patience must be 0"):
        SynthesizerSettings(plan=TrainingPlan(patience=3))


def test_voices_need_speakers_of_both_genders(items: list[SynthesizerUtterance]) -> None:
    speakers = voice_pool.training_speakers([item.load() for item in items], {i.speaker: "f" for i in items})
    with pytest.raises(TrainingError, match="0 training speakers of gender 'm'"):
        voice_pool.draw_voices(speakers, count=10, rng=np.random.default_rng(0))
