"""The effect on real speech: voices are less like themselves, and words are as usable as the documentation says.

Usable means that a recognizer which never heard such voices gets more than half of the words right. What is not usable
must be labelled "research only", in the table that the benchmark prints and on the page that shows it.
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
USABLE_WER = 0.5
RESEARCH_ONLY = "research only"


def page_rows() -> dict[str, list[str]]:
    """Read the table of the documentation page: method -> the other cells."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("| method | similarity"))
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
    for name, cells in rows.items():
        error_rate = float(cells[3].rstrip(" %")) / 100
        assert cells[4] == ("usable" if error_rate < USABLE_WER else RESEARCH_ONLY), name


def test_the_page_of_mcadams_names_the_range_that_keeps_words() -> None:
    text = (PAGE.parent / "mcadams.md").read_text(encoding="utf-8")
    assert "recommended: [0.7, 0.9]" in text
    assert f"[0.5, 0.9] is for {RESEARCH_ONLY}" in text


def percent(text: str) -> float:
    """Read the value of ``12.3 % [9.8, 15.1]``."""
    return float(text.partition(" %")[0])


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.models
def test_voices_change_and_words_are_as_usable_as_we_say(shared_folder: Path) -> None:
    words = [
        str(shared_folder / "corpus"),
        "--speakers",
        "8",
        "--utterances",
        "4",
        "--listeners",
        "moonshine",
        "--json",
    ]
    done = subprocess.run([sys.executable, str(SCRIPT), *words], capture_output=True, text=True, check=True)
    original, *anonymized = json.loads(done.stdout.splitlines()[0])
    assert set(page_rows()) <= {row["method"] for row in (original, *anonymized)}
    for row in anonymized:
        assert percent(row["EER, ignorant"]) > percent(original["EER, ignorant"]), row
    assert [row["method"] for row in anonymized if row["words"] == RESEARCH_ONLY] == ["mcadams alpha 0.5..0.9"]
