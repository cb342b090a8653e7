"""personare train synthesizer at the door: a voice, a log, a picture and a card; every mistake is one line."""

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
from personare.core.errors import WeightsError

pytestmark = pytest.mark.models
TINY = """
shape: {width: 16, blocks: 1, voice_width: 8}
plan: {steps: 4, validate_every: 2, patience: 0, warm_up: 1}
batch: 2
frames: 40
discriminator_crops: 2
discriminator_frames: 32
processes: 2
held_out: 2
"""


def _run(monkeypatch: pytest.MonkeyPatch, *words: str | Path) -> int:
    monkeypatch.setattr(sys, "argv", ["personare", "train", "synthesizer", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def _corpus(folder: Path, *, people: int) -> Path:
    rows = []
    for person in range(people):
        path = folder / f"{person}.wav"
        write(path, hum(person, duration_s=0.6, f0_hz=100.0 + 7 * person))
        rows.append((f"u{person}", f"p{person:02}", path.name, "fm"[person % 2], "one two"))
    frame = pl.DataFrame(rows, schema=["utterance", "speaker", "audio", "gender", "text"], orient="row")
    frame.write_csv(folder / "manifest.tsv", separator="\t")
    return folder


@pytest.mark.slow
def test_it_trains_a_voice_that_speaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install '.[neural]'")
    (tmp_path / "speech").mkdir()
    (tmp_path / "tiny.yaml").write_text(TINY, encoding="utf-8")
    corpus, out = _corpus(tmp_path / "speech", people=24), tmp_path / "voice"
    words = ("--corpus", corpus, "--out", out, "--config", tmp_path / "tiny.yaml", "--jobs", "1")
    monkeypatch.setattr("personare.training.synthesizer.adversary.PLAN", _short())
    assert _run(monkeypatch, *words) == 0
    assert "trained on 22 speakers, 22 utterances" in capsys.readouterr().out
    assert pl.read_csv(out / "log.tsv", separator="\t")["step"].to_list() == [0, 2, 4]
    assert json.loads((out / "voice.json").read_text(encoding="utf-8"))["settings"]["processes"] == 2
    with pytest.raises(WeightsError, match="personare train prosody, or use f0=keep, energy=keep and timing=moved"):
        anonymizer("xvector", weights=str(out), f0="predicted")(hum(5), rng=np.random.default_rng(1))
    keeping = anonymizer("xvector", weights=str(out), timing="moved")
    sound = keeping(hum(5), rng=np.random.default_rng(1))
    assert np.square(sound.samples).mean() > 0
    assert _run(monkeypatch, *words) == 2
    assert "holds a training already; go on with --resume" in capsys.readouterr().err.replace("\n", " ")
    nowhere = ("--out", tmp_path / "third", "--start", tmp_path)
    assert _run(monkeypatch, "--corpus", corpus, *nowhere) == 2
    assert "no training to start from (best.pt is missing)" in " ".join(capsys.readouterr().err.split())


def _short() -> object:
    from personare.training.plan import TrainingPlan

    return TrainingPlan(steps=2, validate_every=2, patience=0)


def test_too_few_speakers_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install '.[neural]'")
    (tmp_path / "speech").mkdir()
    assert _run(monkeypatch, "--corpus", _corpus(tmp_path / "speech", people=3), "--out", tmp_path / "voice") == 2
    printed = " ".join(capsys.readouterr().err.split())
    assert "3 speakers can be read; a voice needs at least 12 to be trained" in printed
