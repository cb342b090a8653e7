"""fit-targets: a table without names from any corpus, failures as rows, one clear line for what cannot work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

from anonymizers.contract import voice
from personare.anonymizers.signal.formants import Formants
from personare.anonymizers.signal.targets import load_targets
from personare.core.audio import Audio, write


def fit(*words: str) -> subprocess.CompletedProcess[str]:
    call = [sys.executable, "-c", "from personare.cli import main; main()", "fit-targets", *words]
    return subprocess.run(call, capture_output=True, text=True, check=False)


def two_speakers(folder: Path) -> Path:
    for speaker, pitch_hz in (("anna", 210.0), ("dirk", 110.0)):
        for i in range(2):
            write(folder / speaker / f"{speaker}-{i}.wav", voice(1.5, pitch_hz=pitch_hz))
    return folder


def test_one_row_per_speaker_and_no_name(tmp_path: Path) -> None:
    done = fit(str(two_speakers(tmp_path / "corpus")), str(tmp_path / "targets.tsv"))
    assert done.returncode == 0, done.stderr
    table = load_targets(tmp_path / "targets.tsv")
    assert [round(t.f0_hz / 10) for t in table] == [11, 21]
    text = (tmp_path / "targets.tsv").read_text()
    assert "anna" not in text
    assert "dirk" not in text
    hidden = Formants(targets=tmp_path / "targets.tsv")(voice(0.5), rng=np.random.default_rng(1))
    assert hidden.samples.any()


def test_a_speaker_without_speech_is_a_row_and_exit_one(tmp_path: Path) -> None:
    corpus = two_speakers(tmp_path / "corpus")
    write(corpus / "mute" / "mute-0.wav", Audio(np.full(16_000, 0.1, dtype=np.float32), 16_000))
    done = fit(str(corpus), str(tmp_path / "targets.tsv"))
    assert done.returncode == 1
    assert "failed: mute: too little voiced speech" in done.stderr
    assert len(load_targets(tmp_path / "targets.tsv")) == 2


def test_a_strange_table_name_is_one_line(tmp_path: Path) -> None:
    done = fit(str(two_speakers(tmp_path / "corpus")), str(tmp_path / "targets.csv"))
    assert done.returncode == 2
    assert done.stderr.endswith("targets.csv: a table of targets ends in .tsv or .parquet\n")
    assert len(done.stderr.splitlines()) == 1
