"""A recognizer's training: interrupted or not it ends alike, its judges are other people, its error rate is right."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from personare.core.audio import Audio, write
from personare.core.tables import Corpus
from personare.listeners import ctc_training
from personare.listeners.ctc import Ctc
from personare.listeners.ctc_settings import HeldOut, Settings
from personare.listeners.ctc_speech import Speech
from personare.nn.ctc import Shape
from personare.nn.loop import Learnt
from personare.nn.plan import Plan
from personare.pipeline.jobs.train_recognizer import open_speech, train_recognizer

torch = pytest.importorskip("torch", reason="needs torch: pip install 'personare[neural]'")
pytest.importorskip("jiwer", reason="needs jiwer: pip install 'personare[asr]'")
PITCH_HZ = {"a": 300.0, "b": 900.0, "c": 2500.0}
SETTINGS = Settings(
    shape=Shape(width=24, blocks=1, kernel=5),
    plan=Plan(steps=120, judge_every=30, patience=0, rate=5e-3, warm_up=10),
    batch=8,
    held_out=HeldOut(speakers=3, utterances=4),
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
def speech(corpus: Corpus) -> Speech:
    return open_speech(corpus, SETTINGS, part="train")


def test_judges_are_other_speakers_of_the_part(speech: Speech) -> None:
    learn, judge = set(speech.learn.speakers), set(speech.judge.speakers)
    assert len(learn) == 7 and len(judge) == 3 and not learn & judge and "s10" not in learn | judge
    assert len(speech.learn.examples) == 7 * 6 and len(speech.judge.examples) == 3 * 4
    assert not speech.failures and not speech.too_long


def test_letters_are_learnt_and_the_rate_agrees_with_the_listener(
    corpus: Corpus, speech: Speech, tmp_path: Path
) -> None:
    seen: list[Learnt] = []
    done = train_recognizer(speech, SETTINGS, tmp_path / "asr", sources=["beeps"], watch=seen.append)
    assert [learnt.step for learnt in seen] == list(range(121)) and done.best_at in (90, 120)
    assert done.cer.value < 0.2 and done.cer.low <= done.cer.value <= done.cer.high and done.cer.n == 3
    assert "Sources: beeps" in (tmp_path / "asr" / "card.md").read_text(encoding="utf-8")
    frame = corpus.frame.filter(pl.col("speaker").is_in(list(speech.judge.speakers))).sort("utterance")
    frame = frame.group_by("speaker", maintain_order=True).head(4)
    from personare.core.audio import read_mono
    from personare.metrics.utility.wer import character_errors, wer

    heard = Ctc(tmp_path / "asr")([read_mono(Path(path)) for path in frame["audio"]])
    assert wer(character_errors(frame["text"].to_list(), list(heard))) == pytest.approx(done.cer.value)


def test_an_interrupted_training_ends_as_one_that_was_not(speech: Speech, tmp_path: Path) -> None:
    settings = dataclasses.replace(SETTINGS, plan=Plan(steps=10, judge_every=4, patience=0, warm_up=2))
    whole = train_recognizer(speech, settings, tmp_path / "whole")
    steps = ctc_training.train_recognizer(
        speech.learn.examples,
        speech.judge.examples,
        tmp_path / "parts",
        plan=settings.plan,
        shape=settings.shape,
        batch_size=settings.batch,
        seed=settings.seed,
    )
    for learnt in steps:
        if learnt.step == 6:
            break
    del steps
    assert not (tmp_path / "parts" / "card.md").exists()
    parts = train_recognizer(speech, settings, tmp_path / "parts", resume=True)
    assert (np.array(parts.rows)[1:] == np.array(whole.rows)[1:]).all() and parts.cer == whole.cer
    for name in ("best.pt", "last.pt"):
        one, two = (torch.load(tmp_path / f / name, weights_only=True)["tensors"] for f in ("whole", "parts"))
        assert all(torch.equal(one[tensor], two[tensor]) for tensor in one)


def test_too_long_utterances_are_counted(corpus: Corpus) -> None:
    found = open_speech(corpus, dataclasses.replace(SETTINGS, longest_s=1.0), part="train")
    assert 0 < found.too_long < 60 and not found.failures
    assert len(found.learn.examples) + found.too_long <= 60
