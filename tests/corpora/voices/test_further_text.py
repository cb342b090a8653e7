"""Sentences and made-up words of further languages: drawn by the generator given, made of the letters of the text."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from personare.core.errors import ConfigError
from personare.corpora.voices.further_text import language_text, read_sentences

SENTENCES = ("Der Fuchs läuft über die Brücke.", "Schöne Äpfel, süße Birnen!", "Wo ist der Schlüssel?")
TABLE = "language\tset\ttext\nde\tfirst\tEins.\nde\tsecond\tZwei.\nfr\tfirst\tUn.\n"


def test_rows_have_words_of_the_sentences_and_new_ones_of_the_same_pairs_of_letters() -> None:
    text = language_text(SENTENCES)
    rows = [text.row(np.random.default_rng(seed)) for seed in range(200)]
    assert rows == [text.row(np.random.default_rng(seed)) for seed in range(200)]
    words = [re.findall(r"[^\W\d_]+", row.lower()) for row in rows]
    assert {len(row) for row in words} == {4, 5, 6, 7, 8}
    assert {row[-1] for row in rows} == {".", "?"}
    assert 0.1 < np.mean(["," in row for row in rows]) < 0.5
    known = set(text.words)
    drawn = [word for row in words for word in row]
    assert 0.35 < np.mean([word in known for word in drawn]) < 0.95
    pairs = {word[place : place + 2] for word in known for place in range(len(word) - 1)}
    assert {word[place : place + 2] for word in drawn for place in range(len(word) - 1)} <= pairs


def test_sentences_come_from_all_tables_by_language_and_set(tmp_path: Path) -> None:
    first, second = tmp_path / "a.tsv", tmp_path / "b.tsv"
    first.write_text(TABLE, encoding="utf-8")
    second.write_text("language\tset\ttext\nde\tfirst\tDrei.\n\n", encoding="utf-8")
    assert read_sentences([first, second], ["de", "fr"], part="first") == {"de": ("Eins.", "Drei."), "fr": ("Un.",)}
    assert read_sentences([first], ["de"], part=None) == {"de": ("Eins.", "Zwei.")}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("text\nEins.\n", "the first line must name the columns language, set, text"),
        ("", "the first line must name the columns"),
        ("language\tset\ttext\nde\tEins.\n", "line 2: must have 3 columns"),
        (TABLE.replace("de", "nl"), "no sentence in the language 'de' in the set 'first'"),
    ],
)
def test_a_wrong_table_is_one_line(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=message) as refused:
        read_sentences([tmp_path / "t.tsv"], ["de"], part="first")
    assert str(tmp_path / "t.tsv") in str(refused.value)
    with pytest.raises(ConfigError, match="cannot be read as a table of sentences"):
        read_sentences([tmp_path / "missing.tsv"], ["de"], part=None)
