"""The exact models of a method are part of what its hidden speech is named by."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import polars as pl
import pytest

from personare.anonymizers import ANONYMIZERS
from personare.core.seeding import Key
from personare.pipeline.models import file_marks, models_of
from personare.pipeline.recipe import Recipe
from personare.pipeline.stages.anonymize import AnonymizeJob

CODE = """
from dataclasses import dataclass

@dataclass(frozen=True)
class Toy:
    strength: float = 1.0
    weights: str = "shipped"
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A method with shipped weights; gives the file of the weights."""
    package = tmp_path / "toymethod"
    (package / "shipped").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "anonymizer.py").write_text(CODE)
    weights = package / "shipped" / "voice.onnx"
    weights.write_bytes(b"first")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(ANONYMIZERS.builtin, "toy", "toymethod.anonymizer:Toy")
    for name in ("toymethod", "toymethod.anonymizer"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return weights


def key(recipe: Recipe) -> str:
    frame = pl.DataFrame({"utterance": ["u"], "speaker": ["s"], "audio": ["u.wav"], "digest": ["m"]})
    return AnonymizeJob("anonymize", frame, recipe, Key.from_seed(1)).stage.key


@pytest.mark.parametrize("recipe", [Recipe("toy"), Recipe("chain", {"steps": [{"name": "toy"}]})])
def test_other_shipped_weights_are_another_stage(toy: Path, recipe: Recipe) -> None:
    before, plain = key(recipe), key(Recipe("mcadams"))
    assert models_of(recipe.method, recipe.parameters) == {"toy/voice.onnx": hashlib.sha256(b"first").hexdigest()}
    toy.write_bytes(b"retrained")
    assert key(recipe) != before and key(Recipe("mcadams")) == plain
    toy.write_bytes(b"first")
    assert key(recipe) == before


def test_the_neural_voice_brings_its_network_and_voices() -> None:
    assert {"xvector/voice.onnx", "xvector/voices.npz"} <= set(models_of("xvector", {}))
    assert models_of("mcadams", {"alpha": 0.8}) == {}


def test_a_file_or_folder_of_ones_own_counts_by_content(tmp_path: Path, toy: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "voice.onnx").write_bytes(b"a")
    mine = Recipe("toy", {"weights": str(folder)})
    before = key(mine)
    (folder / "voice.onnx").write_bytes(b"b")
    assert key(mine) != before
    moved = tmp_path / "moved"
    folder.rename(moved)
    assert file_marks({"weights": str(moved)}) != {"weights": str(moved)}
    assert key(Recipe("toy", {"weights": str(moved)})) != before
    (moved / "voice.onnx").write_bytes(b"a")
    assert key(Recipe("toy", {"weights": str(moved)})) == before
