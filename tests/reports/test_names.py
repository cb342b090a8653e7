"""A report can be shown to others: no name, id or path of the corpus is in it, unless its maker asks for names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from personare.reports.report import page_of_run, write_run_report
from personare.reports.run import read_run
from personare.reports.sections.naming import numbers, redacted
from reports.runs import SPEAKERS, write_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("run"))


def texts(paths: list[Path]) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in paths if path.suffix != ".png"}


def test_nobody_is_named_in_any_format(folder: Path, tmp_path: Path) -> None:
    written = texts(write_run_report(folder, out=tmp_path))
    assert len(written) > 15
    for name, text in written.items():
        assert "anna" not in text, f"{name}: {text[text.index('anna') - 80 :][:160]}"
        assert "/data" not in text, name
    assert "speaker 01" in written["report.html"] and "speaker 01" in written["exposed-demo-b2.svg"]
    assert "too short" in written["report.html"] and "…: broken &lt;file&gt;" in written["report.html"]


def test_the_holder_of_the_run_sees_who_is_who(folder: Path) -> None:
    run = read_run(folder)
    page = page_of_run(run, names=True)
    called = numbers(run)
    exposed = next(t for t in page.tables if t.name == "exposed")
    assert {row[0] for row in exposed.rows} == {f"{name} ({called['demo', name]})" for name in SPEAKERS}
    assert any(row[1].startswith("anna-07") for row in next(t for t in page.tables if t.name == "failed-items").rows)
    hidden = next(t for t in page_of_run(run).tables if t.name == "exposed")
    shares = {called["demo", re.sub(r" \(.*", "", row[0])]: row[5] for row in exposed.rows if row[1] == "b2"}
    assert {row[0]: row[5] for row in hidden.rows if row[1] == "b2"} == shares, "the same number is the same person"


def test_numbers_follow_exposure_not_names(folder: Path) -> None:
    called = numbers(read_run(folder))
    assert sorted(called.values()) == [f"speaker {i:02d}" for i in range(1, len(SPEAKERS) + 1)]
    assert sorted(called, key=lambda who: called[who]) != sorted(called), "the order of names does not come through"


def test_without_sounds_no_voice_is_in_the_page(folder: Path, tmp_path: Path) -> None:
    written = texts(write_run_report(folder, out=tmp_path, formats=("html",), sounds=False))
    assert "<audio" not in written["report.html"] and "audio/flac" not in written["report.html"]
    assert "No sounds: this report was made without them." in written["report.html"]
    assert "A &amp; B" not in written["report.html"], "what was said is not told either"


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("C:\\Users\\Anna B\\u1.wav: cannot be read", "…: cannot be read"),
        ("audio/anna u1.wav; left out", "…; left out"),
        ("no text for 'anna u1'; the speaker's words are unknown", "no text for …; the speaker's words are unknown"),
        ("anna-smith has 1 utterance, 3 of 4 are left", "… has 1 utterance, 3 of 4 are left"),
        ("16 of 20 utterances at L = 3", "16 of 20 utterances at L = 3"),
    ],
)
def test_messages_keep_their_sense_and_lose_names(said: str, left: str) -> None:
    assert redacted(said, ["anna-smith", "16"]) == left
