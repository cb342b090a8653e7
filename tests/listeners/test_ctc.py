"""The trainable recognizer: learns letters from sound, the same way twice, and hears nothing in silence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from personare.core.audio import Audio, resample
from personare.core.errors import ConfigError, WeightsError
from personare.listeners.ctc import Ctc
from personare.listeners.normalize import Letters
from personare.metrics.utility.wer import character_errors, wer
from personare.training.plan import TrainingPlan
from personare.training.recognizer.examples import RecognizerExample, examples
from personare.training.recognizer.features import SYMBOLS
from personare.training.recognizer.network import RecognizerShape
from personare.training.recognizer.run import train_recognizer

pytest.importorskip("torch", reason="needs the extra 'neural'")
PITCH = {"a": 300.0, "b": 900.0, "c": 2500.0}


def beeps(text: str, seed: int) -> Audio:
    """Each letter is a tone of 0.12 s after a pause of 0.08 s: an alphabet anything that learns can learn."""
    rng = np.random.default_rng(seed)
    t = np.arange(1920) / 16_000
    pause = np.zeros(1280)
    parts = [part for letter in text for part in (pause, 0.3 * np.sin(2 * np.pi * PITCH[letter] * t))]
    sound = np.concatenate([*parts, pause])
    return Audio((sound + 0.01 * rng.standard_normal(len(sound))).astype(np.float32), 16_000)


def spoken(count: int, seed: int) -> tuple[list[Audio], list[str]]:
    rng = np.random.default_rng(seed)
    texts = ["".join(rng.choice(list("abc"), size=rng.integers(3, 7))) for _ in range(count)]
    return [beeps(text, seed + i) for i, text in enumerate(texts)], texts


def prepared(sounds: list[Audio], texts: list[str]) -> list[RecognizerExample]:
    return examples(sounds, texts, normalize=Letters())


SMALL = RecognizerShape(width=32, blocks=1, kernel=5, symbols=SYMBOLS)


def test_letters_are_learnt_and_heard(tmp_path: Path) -> None:
    plan = TrainingPlan(steps=150, validate_every=50, patience=0, rate=5e-3, warm_up=10)
    learnt = list(
        train_recognizer(
            prepared(*spoken(60, 1)), prepared(*spoken(8, 500)), tmp_path, plan=plan, shape=SMALL, batch_size=8
        )
    )
    judged = [step.held_out for step in learnt if step.held_out is not None]
    assert judged[-1] < 0.3 * judged[0]
    sounds, texts = spoken(10, 900)
    heard = Ctc(tmp_path)(sounds)
    assert sum(h == t for h, t in zip(heard, texts, strict=True)) >= 8
    assert Ctc(tmp_path)([beeps("b", 7)]) == ["b"]
    assert Ctc(tmp_path)([resample(sounds[0], 44_100)]) == heard[:1]
    wrong = []
    for level in (0.01, 0.2, 1.0):
        noise = [level * np.random.default_rng(i).standard_normal(len(a.samples)) for i, a in enumerate(sounds)]
        loud = [Audio((a.samples + n).astype(np.float32), 16_000) for a, n in zip(sounds, noise, strict=True)]
        wrong.append(wer(character_errors(texts, Ctc(tmp_path)(loud))))
    assert wrong[0] < wrong[1] < wrong[2]
    assert len(Ctc(tmp_path)([Audio(np.tile(sounds[0].samples, 40)[: 30 * 16_000], 16_000)])[0]) > 30
    assert Ctc(tmp_path).fingerprint != Ctc(tmp_path, window_s=5.0).fingerprint
    assert Ctc(tmp_path)([Audio(np.zeros(16_000, np.float32), 16_000), Audio(np.zeros(1, np.float32), 8_000)]) == [
        "",
        "",
    ]


def test_the_same_seed_learns_the_same(tmp_path: Path) -> None:
    plan = TrainingPlan(steps=6, validate_every=3, patience=0, rate=1e-3, warm_up=2)
    runs = []
    for name in ("one", "two"):
        steps = train_recognizer(
            prepared(*spoken(10, 1)), prepared(*spoken(4, 50)), tmp_path / name, plan=plan, shape=SMALL, batch_size=4
        )
        runs.append([step.loss for step in steps][1:])
    assert runs[0] == runs[1]


def test_wrong_examples_and_folders_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="letters do not fit"):
        prepared([beeps("a", 1)], ["a text that is much too long for so short a sound"])
    with pytest.raises(ConfigError, match="do not fit 2 texts"):
        prepared([beeps("a", 1)], ["a", "b"])
    with pytest.raises(ConfigError, match="others to validate on"):
        next(train_recognizer(prepared([beeps("a", 1)], ["a"]), [], tmp_path, plan=TrainingPlan()))
    with pytest.raises(WeightsError, match="no trained recognizer"):
        Ctc(tmp_path / "absent")([beeps("abc", 1)])
