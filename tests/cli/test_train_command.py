"""personare train embedder: a model, a log, a picture and a card; every mistake is one line."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from conftest import hum
from personare.attackers import embedder
from personare.cli import main
from personare.core.errors import MissingExtraError

TINY = """
arch: xvector
network: {channels: 8, frame_channels: 12, dimensions: 10}
sounds: {batch: 4, crop_s: 0.4}
held_out: {speakers: 2, utterances: 3, longest_s: 0.6}
plan: {steps: 4, validate_every: 2}
"""


def _run(monkeypatch: pytest.MonkeyPatch, *words: str | Path) -> int:
    monkeypatch.setattr(sys, "argv", ["personare", "train", "embedder", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.yaml"
    path.write_text(TINY, encoding="utf-8")
    return path


def test_it_trains_and_tells(
    small_corpus: Path,
    config: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install '.[neural]'")
    out = tmp_path / "embedder"
    assert _run(monkeypatch, "--corpus", small_corpus, "--out", out, "--config", config) == 0
    printed = capsys.readouterr().out
    assert "trained on 2 speakers, 8 utterances (0 failed)" in printed
    assert f"trained:{out / 'model.onnx'}" in printed.replace("\n", "")
    log = pl.read_csv(out / "log.tsv", separator="\t")
    assert log.columns == ["step", "loss", "held_out_eer", "rate"]
    assert log["step"].to_list() == [0, 2, 4]
    assert "<svg" in (out / "learning.svg").read_text(encoding="utf-8")
    card = (out / "card.md").read_text(encoding="utf-8")
    assert "2 held-out speakers" in card and "write them here with their licences" in card
    assert not any(name in card for name in ("anna", "bela", "cora", "dirk"))
    vectors = embedder(f"trained:{out / 'model.onnx'}")([hum(1)])
    assert vectors.shape == (1, 10) and np.isfinite(vectors).all()
    assert _run(monkeypatch, "--corpus", small_corpus, "--out", out, "--config", config) == 2
    assert "go on with --resume" in capsys.readouterr().err
    settings = out / "settings.yaml"
    assert _run(monkeypatch, "--corpus", small_corpus, "--out", out, "--config", settings, "--resume") == 0


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--arch", "ekapa"], "--arch: 'ekapa' is not allowed; did you mean 'ecapa'"),
        (["--arch", "ecapa"], "arch is 'xvector', not 'ecapa'; change one of them"),
        (["--part", "train"], "the corpus has no part 'train'"),
        (["--attacked", "CORPUS"], "4 trial speakers are also in the attacker's training (first: 'anna')"),
    ],
)
def test_mistakes_are_one_line(
    small_corpus: Path,
    config: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    line: str,
) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install '.[neural]'")
    given = [str(small_corpus) if word == "CORPUS" else word for word in words]
    assert _run(monkeypatch, "--corpus", small_corpus, "--out", tmp_path / "embedder", "--config", config, *given) == 2
    told = capsys.readouterr().err
    assert line in told
    assert told.count("\n") == 1


def test_without_torch_it_says_what_to_install(
    small_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert _run(monkeypatch, "--corpus", small_corpus, "--out", tmp_path / "embedder") == 2
    wanted = f"personare: {MissingExtraError('neural', 'personare train')}\n"
    assert capsys.readouterr().err == wanted
