"""The table of exit codes on the page of commands is what commands do; an interruption is held by test_door.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Command
from docs.pages import DOCS, Page
from pipeline.tiny import write_study

FAST = ("--strength", "fast")
PAGE = Page(DOCS / "reference" / "commands.md")


def test_the_page_lists_the_codes() -> None:
    assert [row[0] for row in PAGE.table("Exit codes")] == ["0", "1", "2", "130"]


def test_done_failed_and_mistaken(small_corpus: Path, tmp_path: Path, personare: Command) -> None:
    assert personare("anonymize", small_corpus, tmp_path / "all", *FAST).code == 0
    (small_corpus / "anna" / "anna-1.wav").write_bytes(b"words")
    some = personare("anonymize", small_corpus, tmp_path / "some", *FAST)
    assert some.code == 1 and "failed: anna-1:" in some.stderr, "done, and what failed is named"
    asked = personare("anonymize", small_corpus, tmp_path / "none", "--strength", "fats")
    assert asked.code == 2 and not (tmp_path / "none").exists(), "nothing is done"
    assert personare("--help").code == 0


def test_nothing_asked_is_answered_with_the_help_alone(personare: Command) -> None:
    for words in ((), ("corpus",)):
        asked = personare(*words)
        assert asked.code == 2 and "Usage: " in asked.stdout and not asked.stderr


@pytest.mark.parametrize(("most", "code"), [(1.0, 0), (0.0, 1)])
def test_a_bound_that_is_not_kept(most: float, code: int, tmp_path: Path, personare: Command) -> None:
    bounds = [{"metric": "linkability", "at_most": most}]
    study = write_study(tmp_path, bounds=bounds, metrics=["linkability"], listeners=None, clips=0)
    done = personare("study", "run", study, "--out", tmp_path / "run")
    assert done.code == code and "bound: " in done.stdout, done.stderr
