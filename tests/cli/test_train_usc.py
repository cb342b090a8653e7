"""personare train usc at the door: a codec, a log, a page and a card; every mistake is one line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import personare as pn
from conftest import hum
from personare.cli import main
from personare.codecs.codec import codec_named
from personare.core.audio import write

pytest.importorskip("torch", reason="needs torch: pip install '.[neural]'")
pytestmark = pytest.mark.models
SMALL = """
config: small
shape: {width: 16, hidden: 24, content_blocks: 1, mel_blocks: 1, decoder_width: 16, decoder_hidden: 24,
        decoder_blocks: 1, sound_width: 16, sound_blocks: 1, semantic_codes: 64, acoustic_codes: 16, dims: 4,
        condition: 8}
plan: {steps: 4, validate_every: 2, warm_up: 1}
crops: 2
frames: 10
start_levels_at: 1
held_out: 2
"""
PAPER = """
config: tiny
plan: {steps: 2, validate_every: 1, warm_up: 1}
crops: 5
frames: 8
held_out: 2
"""
SECOND = """
stage: 2
shape: {rate_hz: 24000, decoder_strides: [10, 8, 6, 2]}
"""


def _run(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["personare", "train", "usc", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def _corpus(folder: Path, *, people: int, first: int = 0, rate_hz: int = 16_000) -> Path:
    folder.mkdir()
    rows = []
    for person in range(first, first + people):
        write(folder / f"{person}.wav", hum(person, duration_s=3.2, f0_hz=100.0 + 7 * person, rate_hz=rate_hz))
        rows.append((f"u{person}", f"p{person:02}", f"{person}.wav", "one two"))
    frame = pl.DataFrame(rows, schema=["utterance", "speaker", "audio", "text"], orient="row")
    frame.write_csv(folder / "manifest.tsv", separator="\t")
    return folder


def test_it_trains_a_small_codec_that_can_be_used_and_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "small.yaml").write_text(SMALL, encoding="utf-8")
    one, two = _corpus(tmp_path / "one", people=5), _corpus(tmp_path / "two", people=5, first=5)
    write(two / "5.wav", hum(1, duration_s=0.2))  # too short to train on
    out = tmp_path / "run"
    words = ("--corpus", one, "--corpus", two, "--config", tmp_path / "small.yaml", "--jobs", 1)
    assert _run(monkeypatch, *words, "--out", out) == 0
    shown = capsys.readouterr()
    assert "trained on 9 speakers, 9 utterances (1 failed)" in shown.out and "failed: 2-two/u5" in shown.err
    page = (out / "log.html").read_text(encoding="utf-8")
    assert page.count("<audio") == 2 * 4 and "<svg" in page
    card = json.loads((out / "codec" / "card.json").read_text(encoding="utf-8"))
    assert card["data"]["speakers"] == 9 and card["steps"] == 4
    tokens = pn.encode(hum(3), codec=f"usc:{out / 'codec'}", levels=6)
    assert np.isfinite(pn.decode(tokens, codec=f"usc:{out / 'codec'}").samples).all()
    assert pn.anonymize(hum(3), method="usc", key="k", weights=str(out / "codec")).duration_s == 1.0

    weights = (out / "last.pt").read_bytes()
    assert _run(monkeypatch, *words, "--out", out) == 2
    assert "holds a training already; go on with --resume" in " ".join(capsys.readouterr().err.split())
    assert _run(monkeypatch, *words, "--out", out, "--resume") == 0
    assert (out / "last.pt").read_bytes() == weights
    assert _run(monkeypatch, *words[:2], *words[4:], "--out", out, "--resume") == 2
    assert "holds other speech than is given now" in " ".join(capsys.readouterr().err.split())
    again = tmp_path / "again"
    assert _run(monkeypatch, *words, "--out", again, "--start", out) == 0
    assert json.loads((again / "codec" / "card.json").read_text(encoding="utf-8"))["started_from"]


@pytest.mark.slow
def test_it_trains_the_papers_layout_on_labelled_and_unlabelled_speech(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "paper.yaml").write_text(PAPER, encoding="utf-8")
    (tmp_path / "second.yaml").write_text(PAPER + SECOND, encoding="utf-8")
    known = _corpus(tmp_path / "known", people=5, rate_hz=24_000)
    unknown = _corpus(tmp_path / "unknown", people=3, first=5, rate_hz=24_000)
    out = tmp_path / "run"
    words = ("--corpus", known, "--unlabelled", unknown, "--config", tmp_path / "paper.yaml", "--jobs", 1)
    assert _run(monkeypatch, *words, "--out", out) == 0
    assert "trained on 5 speakers, 8 utterances (0 failed)" in capsys.readouterr().out
    card = json.loads((out / "codec" / "card.json").read_text(encoding="utf-8"))
    assert card["data"]["unlabelled_utterances"] == 3 and card["config"] == "paper"
    tokens = pn.encode(hum(3), codec=f"usc-paper:{out / 'codec'}")
    assert tokens.code_counts == (64,)

    second = tmp_path / "second"  # the paper's second stage: the same tokens, a new decoder at 24 kHz
    again = ("--corpus", known, "--config", tmp_path / "second.yaml", "--jobs", 1, "--start", out)
    assert _run(monkeypatch, *again, "--out", second) == 0
    codec = codec_named(f"usc-paper:{second / 'codec'}")
    assert codec.rate_hz == 24_000
    assert np.array_equal(codec.encode(hum(3)).codes[:, :1], tokens.codes)


def test_every_mistake_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus, out = _corpus(tmp_path / "speech", people=1), tmp_path / "out"
    mistakes = {
        "did you mean 'paper'": ("--corpus", corpus, "--config", "papr"),
        "no training to start from (last.pt is missing)": ("--corpus", corpus, "--start", tmp_path),
        "must know who speaks": ("--corpus", corpus, "--unlabelled", corpus),
        "no such file or folder": ("--corpus", tmp_path / "absent"),
    }
    for message, words in mistakes.items():
        assert _run(monkeypatch, *words, "--out", out, "--jobs", 1) == 2, message
        lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("personare: ")]
        assert len(lines) == 1 and message in lines[0], lines
