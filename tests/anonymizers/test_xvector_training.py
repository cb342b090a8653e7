"""Training the neural voice, in the small: it learns, goes on after a stop, is exported, and refuses what is broken."""

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
from personare.anonymizers.neural.xvector.weights import open_weights
from personare.anonymizers.xvector.training import lessons, masking, people
from personare.anonymizers.xvector.training.course import Course, LessonWork, Utterance, place_of, set_aside
from personare.anonymizers.xvector.training.settings import Settings
from personare.core.audio import Audio, write
from personare.core.errors import AudioError, ConfigError, TrainingError, WeightsError
from personare.core.tables import Corpus
from personare.nn import loop
from personare.nn.plan import Plan
from personare.nn.voice import Shape
from personare.pipeline.jobs.train_synthesizer import train_synthesizer

pytest.importorskip("torch", reason="needs torch: pip install 'personare[neural]'")
pytestmark = pytest.mark.models

PEOPLE = 24
TINY = Settings(
    shape=Shape(width=16, blocks=1, voice_width=8),
    plan=Plan(steps=6, judge_every=3, patience=0, rate=3e-3, warm_up=1, weight_decay=0.0),
    batch=4,
    frames=48,
    contest_from=0.5,
    contest_pieces=2,
    contest_frames=32,
    processes=1,
    held_out=2,
)


def embed(audio: Audio) -> NDArray[np.float32]:
    """A vector that depends on the sound, as the real one does; cheap."""
    seed = int(np.abs(audio.samples[:400]).sum() * 1e4)
    vector = np.abs(np.random.default_rng(seed).normal(size=256))
    scaled: NDArray[np.float32] = (vector / np.linalg.norm(vector)).astype(np.float32)
    return scaled


@pytest.fixture(autouse=True)
def short_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mask of a network that learns for a few steps learns for a few steps too."""
    monkeypatch.setattr(masking, "PLAN", dataclasses.replace(masking.PLAN, steps=4, judge_every=2))


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> list[Utterance]:
    folder = tmp_path_factory.mktemp("speech")
    made = []
    for person in range(PEOPLE):
        audio = folder / f"{person}.wav"
        write(audio, hum(person, duration_s=0.7, f0_hz=110 + 5 * person))
        made.append(Utterance(f"u{person}", f"p{person:02}", audio, place_of(folder / "lessons", audio)))
    work = LessonWork(embed, TINY.seed)
    assert [work(item) for item in made] == [item.name for item in made]
    return made


@pytest.fixture(scope="module")
def course(items: list[Utterance]) -> Course:
    return set_aside(items, TINY)


def _corpus(items: list[Utterance]) -> Corpus:
    import polars as pl

    rows = [(i.name, i.speaker, str(i.audio), "fm"[n % 2], "one two") for n, i in enumerate(items)]
    return Corpus(pl.DataFrame(rows, schema=["utterance", "speaker", "audio", "gender", "text"], orient="row"))


def test_a_lesson_holds_the_utterance_and_three_copies_in_other_voices(items: list[Utterance]) -> None:
    lesson = lessons.load(items[0].lesson, items[0].speaker)
    assert len(lesson.audio) == 11_200
    assert lesson.speeds[0] == 1.0
    assert 0.78 <= lesson.speeds[1] <= 0.93
    assert 1.07 <= lesson.speeds[2] <= 1.28
    assert [content.shape[1] for content in lesson.contents] == [288] * 4
    assert np.sqrt(np.square(lesson.samples).mean()) == pytest.approx(0.05, rel=1e-3)


def test_speakers_set_aside_are_not_learnt_from(course: Course) -> None:
    aside = {item.speaker for item in course.judge}
    assert len(aside) == 2
    assert aside.isdisjoint(item.speaker for item in course.learn)
    assert len(course.learn) + len(course.judge) == PEOPLE


def test_it_learns_ends_in_a_folder_that_speaks_and_resumes_to_the_same_bits(
    items: list[Utterance], course: Course, tmp_path: Path
) -> None:
    done = train_synthesizer(course, _corpus(items), tmp_path / "whole", sources=["hums"])
    assert done.rows[-1][0] == TINY.plan.steps
    assert done.difference < 1e-2
    weights = open_weights(str(tmp_path / "whole"))
    assert weights.card["data"]["sources"] == ["hums"]
    assert weights.bank.vectors.shape == (1000, 256)
    assert weights.card["voices"]["nearest_cosine_to_a_training_speaker"] < 1.0
    assert (tmp_path / "whole" / "learning.png").stat().st_size > 1000
    with contextlib.closing(cast(Generator[loop.Learnt], course.train(course.task(), tmp_path / "parts"))) as stopped:
        assert next(learnt.step for learnt in stopped if learnt.step == 4)
    again = train_synthesizer(course, _corpus(items), tmp_path / "parts", resume=True)
    assert (tmp_path / "parts" / "voice.onnx").read_bytes() == (tmp_path / "whole" / "voice.onnx").read_bytes()
    assert again.rows[1:] == done.rows[1:]


def test_the_voice_comes_nearer_to_true_speech(course: Course, tmp_path: Path) -> None:
    plan = dataclasses.replace(TINY.plan, steps=40, judge_every=40, rate=1e-2)
    longer = set_aside([*course.learn, *course.judge], dataclasses.replace(TINY, plan=plan, contest_from=1.0))
    losses = [learnt.loss for learnt in longer.train(longer.task(), tmp_path)][1:-1]
    assert np.mean(losses[-8:]) < 0.8 * np.mean(losses[:4])
    second = dataclasses.replace(longer, start=tmp_path)
    assert second.mark != longer.mark
    assert second.task().judge() == pytest.approx(
        min(row[2] for row in loop.result(longer.task(), tmp_path, mark=longer.mark).rows)
    )


def test_a_changed_file_is_refused(items: list[Utterance], course: Course, tmp_path: Path) -> None:
    train_synthesizer(course, _corpus(items), tmp_path)
    card = json.loads((tmp_path / "voice.json").read_text())
    card["sha256"]["voice.onnx"] = "0" * 64
    (tmp_path / "voice.json").write_text(json.dumps(card))
    with pytest.raises(WeightsError, match="do not fit their card"):
        open_weights(str(tmp_path))
    with pytest.raises(WeightsError, match=r"has no voice\.json"):
        open_weights(str(tmp_path / "nowhere"))


def test_the_mask_is_taught_against_a_guesser(items: list[Utterance], tmp_path: Path) -> None:
    task = masking.new_task([lessons.load(item.lesson, item.speaker) for item in items], seed=1)
    given, _, speakers = task.batch(0)
    task.loss((given, given, speakers)).backward()
    turned = task.tensors["mask.out.weight"].grad.clone()
    assert float(turned.abs().max()) > 0  # with the content kept exactly, only the guesser teaches the head
    plan = Plan(steps=3, judge_every=3, patience=0)
    list(loop.train(task, plan, tmp_path, mark="m"))
    assert len(masking.encoded(task.tensors)) < 400_000


def test_too_little_speech_is_one_clear_line(items: list[Utterance], tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="5 speakers can be read; a voice needs at least 6"):
        set_aside(items[:5], TINY)
    with pytest.raises(AudioError, match=r"0\.2 s of speech; a lesson takes 0\.5 to 40 s"):
        lessons.make(hum(1, duration_s=0.2), embed, rng=np.random.default_rng(0))
    (tmp_path / "x.npz").write_bytes(b"nothing")
    with pytest.raises(TrainingError, match="not a lesson"):
        lessons.load(tmp_path / "x.npz", "anna")
    with pytest.raises(ConfigError, match="patience must be 0"):
        Settings(plan=Plan(patience=3))


def test_no_invented_voice_is_a_person(items: list[Utterance]) -> None:
    crowd = people.people_of(
        [lessons.load(item.lesson, item.speaker) for item in items], {i.speaker: "f" for i in items}
    )
    with pytest.raises(TrainingError, match="0 training speakers of gender 'm'"):
        people.voices_of(crowd, count=10, rng=np.random.default_rng(0))
