"""What `personare methods` says of a strength is what the page's measured tables say of its method."""

from __future__ import annotations

from itertools import pairwise

import pytest

from docs.pages import DOCS
from personare.anonymizers.presets import PRESETS, UNPROTECTED, Preset

PAGE = (DOCS / "reference" / "anonymizers" / "index.md").read_text(encoding="utf-8")
ROWS = {"mcadams": "mcadams alpha 0.8..0.9", "xvector": "xvector", "cascade": "cascade"}
ATTACK = ("speechocean762: EER, L = 1", "informed, fusion in folds")
WORDS = ("librispeech-mini: what is left", "wer, moonshine")


def cell(row: str, title: str, column: str) -> float:
    """The number in a table of the page: the table by the line above it, the row by its first cell, the column."""
    for above, block in pairwise(PAGE.split("\n\n")):
        table = [[c.strip() for c in line.strip("|").split("|")] for line in block.splitlines() if line.startswith("|")]
        found = [line for line in table if line[0] == row]
        if above.strip() == title and found:
            return float(found[0][table[0].index(column)].split(" %")[0])
    raise AssertionError(f"no table '{title}' with a row '{row}'")


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)
def test_the_figures_of_a_strength_are_those_of_the_tables(preset: Preset) -> None:
    row = ROWS[preset.method]
    assert (preset.attacker_errs, preset.words_wrong) == (cell(row, *ATTACK), cell(row, *WORDS))


def test_so_are_those_of_speech_without_protection() -> None:
    assert {"attacker_errs": cell("original", *ATTACK), "words_wrong": cell("original", *WORDS)} == UNPROTECTED
