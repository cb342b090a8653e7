"""What `personare methods` says of a strength is what the page's measured tables say of its method."""

from __future__ import annotations

from itertools import pairwise

import pytest

from docs.pages import DOCS
from personare.anonymizers.presets import PRESETS, UNPROTECTED, Preset

PAGE = (DOCS / "reference" / "anonymizers" / "index.md").read_text(encoding="utf-8")
ROWS = {
    "fast": "mcadams alpha 0.8..0.9",
    "balanced": "cascade, voice neural",
    "strong": "cascade, voice neural, any gender",
}
ATTACK = "speechocean762: EER, L = 1"
NO_EER = ("method", "linked among")
WORDS = ("librispeech-mini: what is left", "wer, moonshine")


def cells(row: str, title: str) -> dict[str, str]:
    """The row of a table of the page, by its first cell; the table by the line above it."""
    for above, block in pairwise(PAGE.split("\n\n")):
        table = [[c.strip() for c in line.strip("|").split("|")] for line in block.splitlines() if line.startswith("|")]
        found = [line for line in table if line[0] == row]
        if above.strip() == title and found:
            return dict(zip(table[0], found[0], strict=True))
    raise AssertionError(f"no table '{title}' with a row '{row}'")


def strongest(row: str) -> float:
    """The lowest EER of all attackers that were played."""
    eers = [text for name, text in cells(row, ATTACK).items() if not name.startswith(NO_EER) and text != "-"]
    return min(float(text.split(" %")[0]) for text in eers)


def words_wrong(row: str) -> float:
    title, column = WORDS
    return float(cells(row, title)[column].split(" %")[0])


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)
def test_the_figures_of_a_strength_are_those_of_the_tables(preset: Preset) -> None:
    row = ROWS[preset.name]
    if f"| {row} |" not in PAGE:
        assert preset.attacker_errs is None and preset.words_wrong is None, "nobody printed these figures"
        return
    assert (preset.attacker_errs, preset.words_wrong) == (strongest(row), words_wrong(row))


def test_so_are_those_of_speech_without_protection() -> None:
    assert {"attacker_errs": strongest("original"), "words_wrong": words_wrong("original")} == UNPROTECTED
