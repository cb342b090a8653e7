"""The effect on real speech: voices are less like themselves, and words are as usable as the documentation says.

Usable means that a recognizer which never heard such voices gets right more than half of the words that it gets right
in the original speech. What is not usable must be labelled "research only", in the table that the benchmark prints and
on the page that shows it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "benchmarks" / "methods.py"
PAGE = ROOT / "docs" / "reference" / "anonymizers" / "index.md"
USABLE_SHARE = 0.5
RESEARCH_ONLY = "research only"


def page_rows() -> dict[str, list[str]]:
    """Read the table of the documentation page: method -> the other cells."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("| method | WER | words |"))
    rows = {}
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        rows[name] = cells
    return rows


def test_the_page_labels_every_row_by_its_own_figure() -> None:
    rows = page_rows()
    assert {"original", "mcadams (B2)", "mcadams radius 0.975 (D1)", "formants (I1)", "world"} <= set(rows)
    right = 100 - percent(rows["original"][0])
    for name, cells in rows.items():
        kept = (100 - percent(cells[0])) / right
        assert cells[1] == ("usable" if kept > USABLE_SHARE else RESEARCH_ONLY), name


def test_the_page_of_mcadams_names_the_range_that_keeps_words() -> None:
    text = (PAGE.parent / "mcadams.md").read_text(encoding="utf-8")
    assert "[0.8, 0.9] is the default" in text
    assert f"[0.5, 0.9] is for {RESEARCH_ONLY}" in text


def percent(text: str) -> float:
    """Read the value of ``12.3 % [9.8, 15.1]``."""
    return float(text.partition(" %")[0])


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.models
def test_voices_change_and_words_are_as_usable_as_we_say(shared_folder: Path) -> None:
    methods = ("mcadams (B2)", "mcadams alpha 0.5..0.9", "world")  # the table's speakers, three of its methods
    words = [str(shared_folder / "corpus"), "--only", ";".join(methods), "--listeners", "moonshine", "--json"]
    done = subprocess.run([sys.executable, str(SCRIPT), *words], capture_output=True, text=True, check=True)
    original, *anonymized = json.loads(done.stdout.splitlines()[0])
    page = page_rows()
    for row in anonymized:
        assert percent(row["EER, ignorant"]) > percent(original["EER, ignorant"]), row
    assert {row["method"]: row["words"] for row in anonymized} == {name: page[name][1] for name in methods}
