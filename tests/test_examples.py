"""The examples run as a newcomer would run them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from conftest import hum
from personare.core.audio import read_mono, write

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def run(*words: object) -> str:
    return subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, check=True).stdout


def test_hide_one_voice(tmp_path: Path) -> None:
    write(tmp_path / "in.wav", hum(1))
    run(EXAMPLES / "hide_one_voice.py", tmp_path / "in.wav", tmp_path / "out.flac")
    assert read_mono(tmp_path / "out.flac").duration_s == 1.0


def test_measure_an_attack() -> None:
    printed = run(EXAMPLES / "measure_an_attack.py")
    assert printed.count("linkability among") == 2 and "EER (ROCCH): 0." in printed


def test_the_study_of_the_expression_panel_can_be_read() -> None:
    """``personare panel make --test expression`` needs speech that every method rendered, all of it as trials."""
    from personare.pipeline.study import read_study

    study = read_study(EXAMPLES / "expression-panel.yaml")
    assert {choice.split for choice in study.corpora.values()} == {"trial"}
    assert {"original", "cascade", "expressive"} <= set(study.anonymizers)
