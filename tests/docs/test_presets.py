"""What `personare methods` says of a strength is what the page's measured tables say of its method."""

from __future__ import annotations

import pytest

from docs.pages import DOCS
from personare.anonymizers.presets import PRESETS, UNPROTECTED, Preset

PAGE = (DOCS / "reference" / "anonymizers" / "index.md").read_text(encoding="utf-8")
ROWS: dict[tuple[str, tuple[str, ...]], str] = {
    ("mcadams", ()): "mcadams alpha 0.8..0.9",
    ("xvector", ()): "xvector",
    ("usc", ()): "usc (C0)",
}


def cell(row: str, column: str) -> float:
    """The number in a table of the page: the row by its first cell, the column by its head."""
    for block in PAGE.split("\n\n"):
        table = [[c.strip() for c in line.strip("|").split("|")] for line in block.splitlines() if line.startswith("|")]
        if table and column in table[0]:
            found = [line for line in table if line[0] == row]
            if found:
                return float(found[0][table[0].index(column)].split(" %")[0])
    raise AssertionError(f"no row '{row}' with a column '{column}'")


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)
def test_the_figures_of_a_strength_are_those_of_the_tables(preset: Preset) -> None:
    row = ROWS[preset.method, tuple(preset.parameters)]
    assert preset.attacker_errs == cell(row, "EER, lazy-informed")
    assert preset.words_wrong == cell(row, "WER")


def test_so_are_those_of_speech_without_protection() -> None:
    measured = {"attacker_errs": cell("original", "EER, lazy-informed"), "words_wrong": cell("original", "WER")}
    assert measured == UNPROTECTED
