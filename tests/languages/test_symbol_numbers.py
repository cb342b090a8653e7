"""Every language is written in symbols that the reader of the neural voice has numbers for."""

from __future__ import annotations

from pathlib import Path

import pytest

from personare.languages.sentences import rows
from personare.languages.table import LANGUAGES
from personare.voices.spelling import ENGLISH_SYMBOL_COUNT, SYMBOL_COUNT, symbol_numbers

FURTHER = sorted(set(LANGUAGES) - {"en"})
_TABLE = Path(__file__).parents[2] / "trainings" / "sentences.tsv"
_ROWS = [*rows(), *(line.split("\t") for line in _TABLE.read_text(encoding="utf-8").splitlines()[1:])]


@pytest.mark.parametrize("code", FURTHER)
def test_sentences_and_every_letter_have_numbers(code: str) -> None:
    row = LANGUAGES[code]
    texts = [text for language, _, text in _ROWS if language == code]
    letters = "abcdefghijklmnopqrstuvwxyzäöüßéèêëàâáãåæçíîïìñóòôõøœúùûÿ"
    pairs = [f"{first}{second}" for first in letters for second in letters]
    assert len(texts) > 100
    for text in (*texts, *row.examples, *pairs, " ".join(pairs)):
        numbers = symbol_numbers(row.pronounce(text))
        assert all(0 <= number < SYMBOL_COUNT for number in numbers)
    assert max(max(symbol_numbers(row.pronounce(text))) for text in texts) >= ENGLISH_SYMBOL_COUNT
