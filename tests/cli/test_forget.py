"""personare forget: vectors and words of recordings are gone, models stay."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from conftest import hum
from listener_plugins import Spelling
from personare.attackers import cache
from personare.cli import app
from personare.core.errors import ConfigError
from personare.core.observations import Stimulus
from personare.listeners.cache import observe


class _Ear:
    fingerprint = "embedder-1"

    def __call__(self, batch: object) -> object:
        return np.ones((1, 3), np.float32)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache folder with a model, two vectors and an observation."""
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path))
    monkeypatch.setattr(cache, "make_embedder", lambda name, **parameters: _Ear())
    cache._model.cache_clear()
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "some.onnx").write_bytes(b"weights")
    for seed in (1, 2):
        cache.embed_audio(hum(seed), "embedder")
    observe(Spelling(), [Stimulus(hum(1))], remember=True)
    yield tmp_path
    cache._model.cache_clear()


def files(home: Path) -> list[str]:
    return sorted(path.name for path in home.rglob("*") if path.is_file())


def test_vectors_and_words_are_gone_and_models_stay(home: Path) -> None:
    done = CliRunner().invoke(app, ["forget", "--yes"])
    assert done.exit_code == 0 and "forgot 2 speaker vectors and 1 observations" in done.output.replace("\n", " ")
    assert files(home) == ["some.onnx"]
    again = CliRunner().invoke(app, ["forget"])
    assert again.exit_code == 0 and "forgot 0 speaker vectors" in again.output, "nothing to confirm"


def test_a_dry_run_names_everything_and_removes_nothing(home: Path) -> None:
    before = files(home)
    for words in (["forget", "--dry-run"], ["forget", "--dry-run", "--yes"]):
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0 and "would forget 2 speaker vectors and 1 observations" in done.output
        assert files(home) == before
    told = json.loads(CliRunner().invoke(app, ["forget", "--dry-run", "--json"]).stdout)
    assert told["dry_run"] is True and [row["count"] for row in told["removed"]] == [2, 1]


def test_nothing_is_removed_where_nobody_can_confirm(home: Path) -> None:
    before = files(home)
    done = CliRunner().invoke(app, ["forget"])
    assert isinstance(done.exception, ConfigError) and files(home) == before
    assert "confirm with --yes, or use --dry-run" in str(done.exception) and "\n" not in str(done.exception)


@pytest.mark.parametrize(("answer", "code", "left"), [("n\n", 1, 4), ("\n", 1, 4), ("y\n", 0, 1)])
def test_at_a_terminal_it_asks(home: Path, monkeypatch: pytest.MonkeyPatch, answer: str, code: int, left: int) -> None:
    monkeypatch.setattr("personare.cli.forget.sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True)))
    done = CliRunner().invoke(app, ["forget"], input=answer)
    assert done.exit_code == code and f"from {home}? [y/N]" in done.output.replace("\n", "")
    assert len(files(home)) == left
