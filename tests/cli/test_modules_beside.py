"""``module:Class`` names a file of the working folder in every command and option, and only where it was typed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from personare.core.catalog import allow_modules
from pipeline.tiny import write_corpus, write_study

CODE = '''
from dataclasses import dataclass
import numpy as np
import beside_this_one  # another file of the same folder

@dataclass(frozen=True)
class Loudness:
    """How loud it is."""

    @property
    def fingerprint(self):
        return "loudness-1"

    def __call__(self, batch):
        return np.array([[np.abs(a.samples).mean(), a.samples.std(), 1.0] for a in batch], np.float32)

@dataclass(frozen=True)
class Quieter:
    """Half as loud."""

    def __call__(self, audio, *, rng):
        return type(audio)(audio.samples / 2, audio.rate_hz)
'''


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("beside")
    (folder / "my_parts.py").write_text(CODE)
    (folder / "beside_this_one.py").write_text("")
    write_corpus(folder / "corpus")
    return folder


def run(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command as its script does, which has no working folder on its path (here by -P)."""
    given = {**os.environ, "PYTHONSAFEPATH": "1", "PERSONARE_HOME": str(place / "cache")}
    command = [sys.executable, "-P", "-m", "personare", *words]
    return subprocess.run(command, cwd=place, env=given, capture_output=True, text=True, check=False)


MINE, QUIETER = "my_parts:Loudness", "my_parts:Quieter"


@pytest.mark.parametrize(
    "words",
    [
        ("embed", "corpus", "vectors.npz", "--embedder", MINE, "--jobs", "2"),
        ("embed", "corpus", "fused.npz", f"--embedder={MINE}+energy"),
        ("anonymize", "corpus/s00/s00-0.wav", "quiet.wav", "--method", QUIETER),
        ("methods", QUIETER),
    ],
    ids=lambda words: f"{words[0]} {words[-1]}",
)
def test_a_typed_name_is_found_in_the_working_folder(place: Path, words: tuple[str, ...]) -> None:
    done = run(place, *words)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_attackers_of_evaluate_and_attack_embed_by_a_class_of_the_working_folder(place: Path) -> None:
    made = run(place, "anonymize", "corpus", "hidden", "--strength", "fast")
    assert made.returncode == 0, made.stderr
    for name in ("evaluate", "attack"):
        done = run(place, name, "corpus", "hidden", "--embedder", MINE, "--lengths", "1", "--out", f"run-{name}")
        assert done.returncode == 0, done.stderr


def test_a_study_finds_embedders_beside_it_wherever_it_is_run(place: Path, tmp_path: Path) -> None:
    attackers = {"mine": {"knowledge": "ignorant", "embedder": MINE}}
    study = write_study(place, attackers=attackers, metrics=["eer"], listeners=None, clips=0)
    done = run(tmp_path, "study", "check", str(study))
    assert done.returncode == 0, done.stderr


def test_only_words_that_name_a_module_of_the_folder_open_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "mine.py").write_text("")
    before = list(sys.path)
    for word in ("trained:net.onnx", "mine", "mine:", ":Mine", "other:Mine", "C:/mine", "mine:../Mine", "mine:2"):
        allow_modules([word], tmp_path)
        assert sys.path == before, word
    allow_modules(["--embedder=ecapa+mine:Mine"], tmp_path)
    assert sys.path == [*before, str(tmp_path.resolve())]
