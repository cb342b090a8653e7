"""personare train prosody at the door: a voice that predicts its prosody, from two corpora; mistakes are one line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from conftest import hum
from personare.anonymizers import anonymizer
from personare.cli import main
from personare.core.audio import write

pytestmark = pytest.mark.models
TINY = """
shape: {prosody: 0, bands: 6, width: 8, blocks: 1, voice_width: 4}
plan: {steps: 4, validate_every: 2, patience: 0, warm_up: 1}
batch: 2
frames: 40
held_out: 2
"""


def _run(monkeypatch: pytest.MonkeyPatch, *words: str | Path) -> int:
    monkeypatch.setattr(sys, "argv", ["personare", "train", "prosody", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def _corpus(folder: Path, *, people: range) -> Path:
    folder.mkdir()
    rows = []
    for person in people:
        path = folder / f"{person}.wav"
        write(path, hum(person, duration_s=0.6, f0_hz=100.0 + 7 * person))
        rows.append((f"u{person}", f"p{person:02}", path.name, "fm"[person % 2], "two"[: person % 3], "train"))
    schema = ["utterance", "speaker", "audio", "gender", "text", "part"]
    pl.DataFrame(rows, schema=schema, orient="row").write_csv(folder / "manifest.tsv", separator="\t")
    return folder


def test_it_adds_a_prosody_network_and_voices_to_the_shipped_voice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install '.[neural]'")
    (tmp_path / "tiny.yaml").write_text(TINY, encoding="utf-8")
    first = _corpus(tmp_path / "first", people=range(12))
    second, out = _corpus(tmp_path / "second", people=range(12, 24)), tmp_path / "voice"
    speech: list[str | Path] = ["--corpus", first, "--corpus", second, "--part", "train"]
    words = [*speech, "--out", out, "--jobs", "1", "--config", tmp_path / "tiny.yaml"]
    assert _run(monkeypatch, *words) == 0
    assert "trained on 22 speakers, 22 utterances" in capsys.readouterr().out
    assert pl.read_csv(out / "log.tsv", separator="\t")["step"].to_list() == [0, 2, 4]
    card = json.loads((out / "voice.json").read_text(encoding="utf-8"))
    assert card["prosody"]["data"]["speakers"] == card["voices"]["drawn_from_speakers"] == 22
    assert card["data"]["speakers"] > 22  # the voice itself is the shipped one
    method = anonymizer("xvector", weights=str(out), f0="predicted", energy="predicted", timing="even")
    assert np.square(method(hum(5), rng=np.random.default_rng(1)).samples).mean() > 0
    assert _run(monkeypatch, *words) == 2
    assert "holds a training already; go on with --resume" in capsys.readouterr().err.replace("\n", " ")
    assert _run(monkeypatch, *words, "--voice", tmp_path, "--resume") == 2
    assert "has no voice.json" in " ".join(capsys.readouterr().err.split())
