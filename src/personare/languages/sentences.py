"""Everyday sentences of each language, without digits: for synthetic voices to read, and to check pronunciation with.

We wrote them. The pronunciation rules were written with the set ``first``; the set ``second`` came after the rules.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

from personare.languages.table import language


@lru_cache(maxsize=1)
def rows() -> tuple[tuple[str, str, str], ...]:
    """Give language, set and text of every sentence."""
    table = resources.files(__package__).joinpath("sentences.tsv").read_text(encoding="utf-8")
    return tuple((code, name, text) for code, name, text in (line.split("\t") for line in table.splitlines()[1:]))


@lru_cache(maxsize=16)
def sentences_in(code: str) -> tuple[str, ...]:
    """Give the sentences of a language; the examples of its row where there are no others.

    >>> sentences_in("de")[1]
    'Könnten Sie die Frage bitte wiederholen?'
    """
    own = tuple(dict.fromkeys(text for one, _, text in rows() if one == code))
    return own or language(code).examples
