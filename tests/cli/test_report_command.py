"""personare report RUN and personare report compare: what is printed and written, and mistakes in one line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from personare.cli import main
from reports.runs import write_small_run


def told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["personare", "report", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr()
    return int(str(ended.value.code)), printed.out, printed.err


def test_the_run_may_stand_alone_or_after_make(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_small_run(tmp_path / "run")
    code, out, _ = told(monkeypatch, capsys, str(run))
    assert code == 0 and "report.html" in out and "2 figures, as SVG and PDF" in out
    names = {path.name for path in (run / "report").iterdir()}
    assert names == {"report.html", "report.md", "tables.tex", "findings.csv", "findings.json", "figures"}
    code, _, _ = told(monkeypatch, capsys, "make", "--format", "csv", "--out", str(tmp_path / "one"), str(run))
    assert code == 0 and [path.name for path in (tmp_path / "one").iterdir()] == ["findings.csv"]


def test_two_runs_are_printed_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [str(write_small_run(tmp_path / name, title="one question")) for name in ("before", "after")]
    code, out, _ = told(monkeypatch, capsys, "compare", *runs)
    assert code == 0 and "before (1) against after (2)" in out and "overlap" in out
    assert "1 findings are in both runs; 0 of them differ" in out
    assert (tmp_path / "after" / "compared-with-before" / "report.html").is_file()


def test_mistakes_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = told(monkeypatch, capsys, str(tmp_path))
    assert code == 2 and err.count("\n") == 1 and "is no run folder" in err
    run = write_small_run(tmp_path / "run")
    code, _, err = told(monkeypatch, capsys, str(run), "--format", "pdf")
    assert code == 2 and "no format 'pdf'" in err and err.count("\n") == 1
