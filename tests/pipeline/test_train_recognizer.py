"""A recognizer's training: interrupted or not it ends alike, held-out speakers are others, its error rate is right."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from personare.core.audio import Audio, write
from personare.core.errors import ConfigError
from personare.core.seeding import Key
from personare.core.tables import Corpus
from personare.listeners.ctc import Ctc
from personare.pipeline.jobs.train_recognizer import open_data, train_recognizer
from personare.training.loop import TrainingStep
from personare.training.plan import TrainingPlan
from personare.training.recognizer import run
from personare.training.recognizer.examples import RecognizerData, RecognizerExample
from personare.training.recognizer.network import RecognizerShape
from personare.training.recognizer.settings import RecognizerHeldOut, RecognizerMask, RecognizerSettings

torch = pytest.importorskip("torch", reason="needs torch: pip install '.[neural]'")
PITCH_HZ = {"a": 300.0, "b": 900.0, "c": 2500.0}
SETTINGS = RecognizerSettings(
    shape=RecognizerShape(width=24, blocks=1, kernel=5),
    plan=TrainingPlan(steps=120, validate_every=30, patience=0, rate=5e-3, warm_up=10),
    batch=8,
    held_out=RecognizerHeldOut(speakers=3, utterances=4),
)


def _beeps(text: str, rng: np.random.Generator) -> Audio:
    """Each letter is a tone of 0.12 s after a pause of 0.08 s: an alphabet anything that learns can learn."""
    t, pause = np.arange(1920) / 16_000, np.zeros(1280)
    parts = [part for letter in text for part in (pause, 0.3 * np.sin(2 * np.pi * PITCH_HZ[letter] * t))]
    sound = np.concatenate([*parts, pause])
    return Audio((sound + 0.01 * rng.standard_normal(len(sound))).astype(np.float32), 16_000)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Ten speakers with six utterances each, and one in another part."""
    folder, rng, rows = tmp_path_factory.mktemp("beeps"), np.random.default_rng(1), []
    for s in range(11):
        for u in range(6):
            text = "".join(rng.choice(list("abc"), size=rng.integers(3, 7)))
            path = folder / f"s{s:02}-{u}.wav"
            write(path, _beeps(text, rng))
            rows.append((path.stem, f"s{s:02}", str(path), text, "train" if s < 10 else "eval"))
    return Corpus(pl.DataFrame(rows, schema=["utterance", "speaker", "audio", "text", "part"], orient="row"))


@pytest.fixture(scope="module")
def data(corpus: Corpus) -> RecognizerData:
    return open_data(corpus, SETTINGS, part="train")


def test_held_out_speakers_are_others_of_the_part(data: RecognizerData) -> None:
    train, held_out = set(data.train.speakers), set(data.held_out.speakers)
    assert len(train) == 7 and len(held_out) == 3 and not train & held_out and "s10" not in train | held_out
    assert len(data.train.examples) == 7 * 6 and len(data.held_out.examples) == 3 * 4
    assert not data.failures and not data.too_long


def test_letters_are_learnt_and_the_rate_agrees_with_the_listener(
    corpus: Corpus, data: RecognizerData, tmp_path: Path
) -> None:
    seen: list[TrainingStep] = []
    done = train_recognizer(data, SETTINGS, tmp_path / "asr", sources=["beeps"], watch=seen.append)
    assert [step.step for step in seen] == list(range(121)) and done.best_at in (90, 120)
    assert done.cer.value < 0.2 and done.cer.low <= done.cer.value <= done.cer.high and done.cer.n == 3
    assert "Sources: beeps" in (tmp_path / "asr" / "card.md").read_text(encoding="utf-8")
    frame = corpus.frame.filter(pl.col("speaker").is_in(list(data.held_out.speakers))).sort("utterance")
    frame = frame.group_by("speaker", maintain_order=True).head(4)
    from personare.core.audio import read_mono
    from personare.metrics.utility.wer import character_errors, wer

    heard = Ctc(tmp_path / "asr")([read_mono(Path(path)) for path in frame["audio"]])
    assert wer(character_errors(frame["text"].to_list(), list(heard))) == pytest.approx(done.cer.value)


def test_an_interrupted_training_ends_as_one_that_was_not(data: RecognizerData, tmp_path: Path) -> None:
    settings = dataclasses.replace(SETTINGS, plan=TrainingPlan(steps=10, validate_every=4, patience=0, warm_up=2))
    whole = train_recognizer(data, settings, tmp_path / "whole")
    steps = run.train_recognizer(
        data.train.examples,
        data.held_out.examples,
        tmp_path / "parts",
        plan=settings.plan,
        shape=settings.shape,
        batch_size=settings.batch,
        seed=settings.seed,
    )
    for step in steps:
        if step.step == 6:
            break
    del steps
    assert not (tmp_path / "parts" / "card.md").exists()
    parts = train_recognizer(data, settings, tmp_path / "parts", resume=True)
    assert (np.array(parts.validations)[1:] == np.array(whole.validations)[1:]).all() and parts.cer == whole.cer
    for name in ("best.pt", "last.pt"):
        one, two = (torch.load(tmp_path / f / name, weights_only=True)["tensors"] for f in ("whole", "parts"))
        assert all(torch.equal(one[tensor], two[tensor]) for tensor in one)


def test_too_long_utterances_are_counted(corpus: Corpus) -> None:
    found = open_data(corpus, dataclasses.replace(SETTINGS, longest_s=1.0), part="train")
    assert 0 < found.too_long < 60 and not found.failures
    assert len(found.train.examples) + found.too_long <= 60


def test_a_step_has_utterances_of_about_one_length_and_the_step_alone_says_which() -> None:
    """A step costs what its longest utterance costs; all of them are drawn sooner or later."""
    rng = np.random.default_rng(1)
    examples = [RecognizerExample(np.ones((int(n), 40), np.float32), (3,)) for n in rng.integers(100, 800, size=400)]
    task = run.RecognizerTask(torch.nn.Linear(1, 1), examples, examples[:2], 8, Key.from_seed(1))
    steps = [[len(e.bands) for e in task.batch(step)] for step in range(600)]
    assert steps[5] == [len(e.bands) for e in task.batch(5)]
    assert np.mean([max(lengths) / np.mean(lengths) for lengths in steps]) < 1.15
    assert {n for lengths in steps for n in lengths} == {len(e.bands) for e in examples}


def test_masks_blank_a_stripe_of_bands_and_of_frames_of_a_copy() -> None:
    whole = RecognizerExample(np.ones((50, 40), np.float32), (3, 4))
    assert run.masked(whole, RecognizerMask(), np.random.default_rng(1)) is whole
    widths = []
    for seed in range(200):
        bands = run.masked(whole, RecognizerMask(bands=8, frames=20), np.random.default_rng(seed)).bands
        blank_bands, blank_frames = (bands == 0).all(axis=0), (bands == 0).all(axis=1)
        assert ((bands == 0) == (blank_bands[None, :] | blank_frames[:, None])).all()
        for blank in (blank_bands, blank_frames):
            assert np.count_nonzero(np.diff(blank.astype(int))) <= 2
        widths.append((blank_bands.sum(), blank_frames.sum()))
    assert np.max(widths, axis=0).tolist() == [8, 20] and np.min(widths, axis=0).tolist() == [0, 0]
    assert (whole.bands == 1).all()
    with pytest.raises(ConfigError, match="mask takes 0 to 39 bands"):
        RecognizerMask(bands=40)


def test_another_mask_is_another_training(data: RecognizerData, tmp_path: Path) -> None:
    plan = TrainingPlan(steps=2, validate_every=1, patience=0, warm_up=1)
    marks = set()
    for name, mask in (("none", RecognizerMask()), ("some", RecognizerMask(bands=4, frames=3))):
        train_recognizer(data, dataclasses.replace(SETTINGS, plan=plan, mask=mask), tmp_path / name)
        marks.add((tmp_path / name / "recognizer.json").read_text(encoding="utf-8"))
    assert len(marks) == 2
