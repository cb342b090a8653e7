"""personare voices at the door: a table on success, one line on a mistake."""

from __future__ import annotations

from pathlib import Path

from conftest import Command


def test_help_names_everything_and_shows_examples(personare: Command) -> None:
    said = personare("voices", "--help").stdout
    for word in ("--speakers", "--utterances", "--seed", "--jobs", "--rate", "personare voices voices/"):
        assert word in said


def test_a_mistake_is_one_line(tmp_path: Path, personare: Command) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    for words, reason in (
        ((str(tmp_path),), "is not empty and was not made by personare voices; name a new folder"),
        ((str(tmp_path / "new"), "--speakers", "999"), "speakers must be 1 to"),
        ((str(tmp_path / "new"), "--utterances", "999"), "utterances must be 1 to"),
        ((str(tmp_path / "new"), "--rate", "400"), "rate must be 8000 to 48000 Hz, not 400"),
        ((str(tmp_path / "new"), "--speekers", "3"), "No such option"),
    ):
        done = personare("voices", *words)
        assert done.code == 2 and done.stdout == "", words
        assert done.stderr.startswith("personare: ") and reason in done.stderr and done.stderr.count("\n") == 1, done
    assert not (tmp_path / "new").exists()
