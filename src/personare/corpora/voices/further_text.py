"""Sentences and rows of words in languages other than English, for synthetic readers to read.

Sentences come from a table with the columns ``language``, ``set`` and ``text``. A row mixes words of these sentences
with words that a Markov chain of letters makes of them (the next letter depends on the last two): they mean nothing,
sound like the language, and have far more combinations of sounds than a few dozen sentences.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from personare.core.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np

_COLUMNS = ("language", "set", "text")
_WORDS_RANGE, _LETTERS_RANGE = (4, 8), (2, 10)
_REAL_WORDS, _WITH_COMMA, _QUESTIONS = 0.4, 0.3, 0.15  # shares
_BEGIN, _END = "^", "$"


@dataclass(frozen=True)
class LanguageText:
    """Sentences of one language, their words, and the letters that follow each two letters."""

    sentences: tuple[str, ...]
    words: tuple[str, ...]
    following: Mapping[str, Sequence[str]]

    def row(self, rng: np.random.Generator) -> str:
        """Draw a row of words, as a sentence is written."""
        count = int(rng.integers(_WORDS_RANGE[0], _WORDS_RANGE[1] + 1))
        words = [self._word(rng) if rng.random() < _REAL_WORDS else self._made_word(rng) for _ in range(count)]
        if rng.random() < _WITH_COMMA:
            words[count // 2 - 1] += ","
        return " ".join(words).capitalize() + ("?" if rng.random() < _QUESTIONS else ".")

    def _word(self, rng: np.random.Generator) -> str:
        return self.words[int(rng.integers(len(self.words)))]

    def _made_word(self, rng: np.random.Generator) -> str:
        while True:
            word = _BEGIN * 2
            while word[-1] != _END and len(word) <= _LETTERS_RANGE[1] + 2:
                letters = self.following[word[-2:]]
                word += letters[int(rng.integers(len(letters)))]
            if word[-1] == _END and len(word) - 3 >= _LETTERS_RANGE[0]:
                return word[2:-1]


def language_text(sentences: Sequence[str]) -> LanguageText:
    """Count words and letters of sentences.

    >>> import numpy as np
    >>> text = language_text(["Ein Reh sah den Schnee."])
    >>> text.row(np.random.default_rng(1))[-1] in ".?"
    True
    """
    words = [word.lower() for sentence in sentences for word in re.findall(r"[^\W\d_]+", sentence)]
    following: dict[str, list[str]] = defaultdict(list)
    for word in words:
        framed = f"{_BEGIN * 2}{word}{_END}"
        for place in range(2, len(framed)):
            following[framed[place - 2 : place]].append(framed[place])
    return LanguageText(tuple(sentences), tuple(words), dict(following))


def read_sentences(tables: Sequence[Path], codes: Sequence[str], *, part: str | None) -> dict[str, tuple[str, ...]]:
    """Read the sentences of each language from tables; ``part`` is the set to take, None takes all."""
    rows = [row for table in tables for row in _rows(table)]
    by_code = {code: tuple(row[2] for row in rows if row[0] == code and part in (None, row[1])) for code in codes}
    for code, sentences in by_code.items():
        if not sentences:
            where = "" if part is None else f" in the set '{part}'"
            raise ConfigError(f"{', '.join(map(str, tables))}: no sentence in the language '{code}'{where}")
    return by_code


def _rows(table: Path) -> list[list[str]]:
    try:
        head, *lines = table.read_text(encoding="utf-8").splitlines() or [""]
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{table}: cannot be read as a table of sentences ({type(error).__name__})") from None
    if tuple(head.split("\t")) != _COLUMNS:
        raise ConfigError(f"{table}: the first line must name the columns {', '.join(_COLUMNS)}, with tabs between")
    rows = [line.split("\t") for line in lines if line.strip()]
    wrong = next((number for number, row in enumerate(rows, start=2) if len(row) != len(_COLUMNS)), None)
    if wrong is not None:
        raise ConfigError(f"{table}, line {wrong}: must have {len(_COLUMNS)} columns with tabs between")
    return rows
