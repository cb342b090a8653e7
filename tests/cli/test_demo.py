"""personare demo: the whole path on a few synthetic voices, with every real model, twice."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from personare.cli import main


def _demo(folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    words = ["demo", str(folder), "--speakers", "4", "--utterances", "4", "--jobs", "1"]
    monkeypatch.setattr(sys, "argv", ["personare", *words])
    with pytest.raises(SystemExit) as end:
        main()
    return int(end.value.code or 0)


@pytest.mark.slow
def test_it_ends_with_a_row_per_strength_and_a_report_and_a_second_run_shows_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "demo"
    assert _demo(folder, monkeypatch) == 0
    printed = capsys.readouterr().out
    first = printed[printed.index("3 methods") :]
    rows = [line.split() for line in first.splitlines()]
    names = [row[0] for row in rows if row and row[0] in ("unprotected", "fast", "balanced", "strong")]
    assert names == ["unprotected", "fast", "balanced", "strong"], "one row each, what to compare with first"
    assert f"report: {folder / 'run' / 'report' / 'report.html'}" in first
    assert "on your own recordings: personare anonymize" in first
    page = (folder / "run" / "report" / "report.html").read_bytes()

    assert _demo(folder, monkeypatch) == 0
    again = capsys.readouterr().out
    assert again[again.index("3 methods") :] == first, "what is done is not done again, and says the same"
    assert (folder / "run" / "report" / "report.html").read_bytes() == page
