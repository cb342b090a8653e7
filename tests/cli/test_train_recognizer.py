"""personare train recognizer: a folder that hears, a log, a picture and a card; every mistake is one line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl
import pytest

from personare.cli import main
from personare.core.errors import MissingExtraError
from personare.core.tables import Corpus
from personare.training.recognizer.settings import recognizer_settings

TRAININGS = Path(__file__).resolve().parents[2] / "trainings"
TINY = """
shape: {width: 8, blocks: 1, kernel: 3}
plan: {steps: 4, validate_every: 2, patience: 0, warm_up: 2}
batch: 3
longest_s: 2.0
held_out: {speakers: 2, utterances: 2}
"""


def _run(monkeypatch: pytest.MonkeyPatch, *words: str | Path) -> int:
    monkeypatch.setattr(sys, "argv", ["personare", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def _train(monkeypatch: pytest.MonkeyPatch, *words: str | Path) -> int:
    pytest.importorskip("torch", reason="needs torch: pip install '.[neural]'")
    return _run(monkeypatch, "train", "recognizer", *words)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.yaml"
    path.write_text(TINY, encoding="utf-8")
    return path


def _rewrite(folder: Path, text: pl.Expr) -> None:
    place = folder / "manifest.parquet"
    Corpus(Corpus.load(place).frame.with_columns(text.alias("text"))).save(place)


@pytest.fixture
def written(small_corpus: Path) -> Path:
    """Four speakers who say words that fit into less than a second."""
    _rewrite(small_corpus, pl.lit("Oh, ") + pl.col("gender"))
    return small_corpus


def test_it_trains_tells_and_is_heard_with(
    written: Path, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "asr"
    assert _train(monkeypatch, "--corpus", written, "--out", out, "--config", config) == 0
    printed = capsys.readouterr().out
    assert "trained on 2 speakers, 8 utterances (0 failed, 0 too long)" in printed
    assert "held-out character error rate [95 %]" in printed and f"ctc:{out}" in printed.replace("\n", "")
    log = pl.read_csv(out / "log.tsv", separator="\t")
    assert log.columns == ["step", "loss", "held_out_loss", "rate"]
    assert log["step"].to_list() == [0, 2, 4]
    assert "<svg" in (out / "learning.svg").read_text(encoding="utf-8")
    card = (out / "card.md").read_text(encoding="utf-8")
    assert "2 held-out speakers (4 utterances)" in card and "write them here with their licences" in card
    assert not any(name in card for name in ("anna", "bela", "cora", "dirk"))
    assert recognizer_settings(out / "settings.yaml") == recognizer_settings(config)

    weights, mark = (out / "best.pt").read_bytes(), (out / "recognizer.json").read_bytes()
    assert _train(monkeypatch, "--corpus", written, "--out", out) == 2
    assert _train(monkeypatch, "--corpus", written, "--out", out, "--config", config) == 2
    assert "go on with --resume" in capsys.readouterr().err
    assert (out / "recognizer.json").read_bytes() == mark, "a refused training leaves the trained one usable"
    again = ("--config", out / "settings.yaml", "--resume")
    assert _train(monkeypatch, "--corpus", written, "--out", out, *again) == 0
    assert (out / "best.pt").read_bytes() == weights

    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path / "cache"))
    assert _run(monkeypatch, "anonymize", written, tmp_path / "hidden", "--method", "mcadams") == 0
    capsys.readouterr()
    words = ("--listeners", f"ctc:{out}", "--json")  # a table would break words, by the length of the path
    assert _run(monkeypatch, "listen", written, tmp_path / "hidden", *words) == 0
    heard = json.loads(capsys.readouterr().out)["findings"]
    assert [finding["metric"] for finding in heard] == ["cer", "cer"], "of letters, before and after; not of words"


def test_what_cannot_be_used_is_a_row(
    written: Path, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = pl.col("utterance")
    texts = pl.when(name == "anna-0").then(pl.lit("far too long a text for less than a second of sound"))
    _rewrite(
        written,
        texts.when(name == "bela-0").then(None).when(name == "cora-0").then(pl.lit("?!")).otherwise(pl.lit("ah")),
    )
    (written / "dirk" / "dirk-0.wav").write_bytes(b"no sound at all")
    assert _train(monkeypatch, "--corpus", written, "--out", tmp_path / "asr", "--config", config) == 0
    told = capsys.readouterr()
    assert "(4 failed, 0 too long)" in told.out
    assert "failed: anna-0: 51 letters do not fit 0.80 s of sound" in told.err
    assert "failed: bela-0: has no text; write down what is said" in told.err
    assert "failed: cora-0: 0 letters do not fit" in told.err
    assert "failed: dirk-0" in told.err and "libsndfile" in told.err


@pytest.mark.parametrize(
    ("text", "settings", "line"),
    [
        (pl.lit(None, pl.String), "", "the corpus has no text, and a recognizer is trained on text"),
        (pl.lit("oh"), "held_out: {speakers: 4}", "4 speakers to hold out and others to train on; here are 4"),
        (pl.lit("oh"), "held_out: {speakers: 2}\nlongest_s: 0.5", "16 are longer than 0.5 s, 0 failed"),
        (pl.lit("oh"), "shape: {widht: 8}", "did you mean 'width'"),
        (pl.lit("oh"), "shape: {bands: 80}", "shape needs bands: 40 and symbols: 29, not 80 and 29"),
        (pl.lit("oh"), "batch: 0", "batch must be at least 1"),
    ],
)
def test_mistakes_are_one_line(
    small_corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: pl.Expr,
    settings: str,
    line: str,
) -> None:
    _rewrite(small_corpus, text)
    config = tmp_path / "wrong.yaml"
    config.write_text(settings or TINY, encoding="utf-8")
    assert _train(monkeypatch, "--corpus", small_corpus, "--out", tmp_path / "asr", "--config", config) == 2
    told = capsys.readouterr().err
    assert line in told
    assert told.count("\n") == 1
    assert not (tmp_path / "asr").exists()


def test_an_unknown_part_and_an_untrained_folder_are_one_line(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _train(monkeypatch, "--corpus", written, "--part", "train", "--out", tmp_path / "asr") == 2
    assert "the corpus has no part 'train'" in capsys.readouterr().err
    words = ("--listeners", f"ctc:{tmp_path / 'absent'}")
    assert _run(monkeypatch, "listen", written, written, *words) == 2
    told = capsys.readouterr().err
    assert "holds no trained recognizer" in told and told.count("\n") == 1
    assert _run(monkeypatch, "listen", written, written, "--listeners", "ctc") == 2
    assert "listener 'ctc' needs a folder of your own; write ctc:FOLDER" in capsys.readouterr().err


def test_without_torch_it_says_what_to_install(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert _run(monkeypatch, "train", "recognizer", "--corpus", written, "--out", tmp_path / "asr") == 2
    wanted = f"personare: {MissingExtraError('neural', 'personare train')}\n"
    assert capsys.readouterr().err == wanted


def test_the_shipped_settings_are_for_a_processor_and_the_recipe_is_larger() -> None:
    small, paper = recognizer_settings(), recognizer_settings(TRAININGS / "recognizer-ctc-paper.yaml")
    assert (small.plan.device, paper.plan.device) == ("cpu", "cuda")
    assert paper.shape.width > small.shape.width and paper.plan.steps > small.plan.steps
