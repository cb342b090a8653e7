"""personare forget: vectors and words of recordings are gone, models stay."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from conftest import hum
from listener_plugins import Spelling
from personare.attackers import cache
from personare.cli import app
from personare.core.observations import Stimulus
from personare.listeners.cache import observe


class _Ear:
    fingerprint = "embedder-1"

    def __call__(self, batch: object) -> object:
        return np.ones((1, 3), np.float32)


def test_vectors_and_words_are_gone_and_models_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path))
    monkeypatch.setattr(cache, "make_embedder", lambda name, **parameters: _Ear())
    cache._model.cache_clear()
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "some.onnx").write_bytes(b"weights")
    for seed in (1, 2):
        cache.embed_audio(hum(seed), "embedder")
    observe(Spelling(), [Stimulus(hum(1))], remember=True)
    done = CliRunner().invoke(app, ["forget"])
    assert done.exit_code == 0 and "forgot 2 speaker vectors and 1 observations" in done.output.replace("\n", " ")
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == ["some.onnx"]
    assert "forgot 0 speaker vectors" in CliRunner().invoke(app, ["forget"]).output
    cache._model.cache_clear()
