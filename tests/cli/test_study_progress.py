"""A running study on a terminal and elsewhere: stages, rates and time left; one line per kind of work."""

from __future__ import annotations

import io
import re
from types import SimpleNamespace

import pytest
from rich.console import Console

from personare.cli import study_progress
from personare.cli.study_progress import StudyProgress
from personare.engine import Result

JOB = SimpleNamespace(stage=SimpleNamespace(label="anonymize corpus enrolment by a-method-with-a-long-name (attacker)"))


def play(watch: StudyProgress, *, failed: int = 0) -> None:
    watch.began("anonymize", [JOB], 4)
    for i in range(4):
        watch.did(JOB, Result(i, "u", None if i < failed else 1, "broken" if i < failed else None))
    watch.began("measure", [JOB, JOB], 2)
    watch.did(JOB, Result(0, "u", 1))


def test_elsewhere_lines_are_clean_and_each_kind_of_work_ends_with_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study_progress, "QUIET_SECONDS", -1.0)
    monkeypatch.setattr(study_progress, "QUIET_SHARE", 0.0)
    with StudyProgress() as watch:
        play(watch, failed=1)
        watch.ended(JOB, [("u", "broken")], 1.0)
    shown = capsys.readouterr()
    assert shown.out == "" and "\x1b" not in shown.err and "\r" not in shown.err
    lines = shown.err.splitlines()
    assert lines[0] == "anonymizing (1 stage): 1/4", "one item tells no rate"
    assert re.fullmatch(r"anonymizing \(1 stage\): 2/4, \S+ a second, about \d+ s left", lines[1])
    assert "anonymizing (1 stage): 4 done in 0 s, 1 failed" in lines
    assert (
        "failed: anonymize corpus enrolment by a-method-with-a-long-name (attacker): 1 items (first: u: broken)"
        in lines
    )
    assert lines[-1] == "measuring (2 stages): 1 done in 0 s"


def test_lines_become_rarer_as_a_study_takes_longer(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("personare.cli.study_progress.time.monotonic", lambda: now[0])
    with StudyProgress() as watch:
        watch.began("embed", [JOB], 3600)
        for i in range(3600):  # the first half was there already, then one a second
            now[0] += 1.0 if i >= 1800 else 0.0
            watch.did(JOB, Result(i, "u", 1))
    lines = capsys.readouterr().err.splitlines()
    assert 15 < len(lines) < 30
    assert lines[0] == "embedding (1 stage): 1816/3600, 3.1 a second, about 9.7 min left"
    assert re.search(r", 1 a second, about \d+\.\d min left", lines[4])  # the recent rate, not that of the cache


def test_the_time_before_the_first_item_says_nothing_of_speed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("personare.cli.study_progress.time.monotonic", lambda: now[0])
    with StudyProgress() as watch:
        watch.began("embed", [JOB], 3600)
        now[0] = 30.0  # models are loaded
        for i in range(40):
            watch.did(JOB, Result(i, "u", 1))
            now[0] += 1.0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "embedding (1 stage): 1/3600"
    assert re.fullmatch(r"embedding \(1 stage\): 17/3600, 1 a second, about 59\.7 min left", lines[1]), lines[1]


@pytest.mark.parametrize("width", [60, 80, 160])
def test_a_terminal_shows_one_line_per_kind_of_work_at_any_width(width: int) -> None:
    screen = io.StringIO()
    with StudyProgress(Console(file=screen, force_terminal=True, width=width, legacy_windows=False)) as watch:
        play(watch, failed=2)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue())
    last = [line for line in plain.splitlines() if line.strip()][-2:]
    assert [line.split()[0] for line in last] == ["anonymizing", "measuring"]
    assert "4/4" in last[0] and "1/2" in last[1] and all(len(line.rstrip()) <= width for line in last)
    assert "2 failed" in last[0] or width < 80
