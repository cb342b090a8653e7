"""What a corpus is too small for is left out only when asked for, and then whoever reads the run is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from personare.engine import Serial
from personare.pipeline.check import check_study
from personare.pipeline.run import run_study
from personare.pipeline.study import read_study
from personare.reports.blocks import BulletList
from personare.reports.report import page_of_run
from personare.reports.run import read_run
from pipeline.tiny import write_study


def test_what_was_left_out_is_told_in_the_run_and_in_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path / "home"))
    asked = {
        "skip_impossible": True,
        "utterances_per_trial": [1, 30],
        "gallery_sizes": [2, 4, 1000],
        "populations": [5000],
    }
    least: dict[str, Any] = {
        "anonymizers": {"original": {}},
        "listeners": None,
        "metrics": ["linkability", "population_linkability"],
        "clips": 0,
    }
    path = write_study(tmp_path, **asked, **least)
    written = path.read_text(encoding="utf-8")
    run_study(read_study(path), tmp_path / "run", engine=Serial(), written=written, home=tmp_path, resume=False)
    notes = json.loads((tmp_path / "run" / "findings.json").read_text())["notes"]
    left = [note for note in notes if note.startswith(("hums: left out: ", "hums: nobody was attacked"))]
    assert any("30" in note for note in left) and any("1000" in note.replace(",", "") for note in left), notes
    assert any("a forecast needs at least 20 enrolled speakers, there are 4" in note for note in left)
    assert not (tmp_path / "run" / "failures.tsv").read_text().splitlines()[1:], "and linkability is measured"
    told_first = read_study(write_study(tmp_path, **{**asked, "skip_impossible": False}, **least))
    lines = check_study(told_first, tmp_path / "stages", home=tmp_path).problems
    assert any("populations: a forecast needs at least 20" in line for line in lines)
    page = page_of_run(read_run(tmp_path / "run"))
    failures = next(s for s in page.sections if s.name == "failures")
    told = next(block.sentences for block in failures.blocks if isinstance(block, BulletList))
    assert [note for note in told if note in left] == left, "nothing in these notes names anybody"
