"""What the invented speakers read: our own sentences, with their sounds spelled out for two accents.

The phonemes are shipped, not computed, so that making a corpus needs no phonemizer; ``examples/phonemize_sentences.py``
made them. Each symbol is one of Kokoro's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Literal

Accent = Literal["american", "british"]


@dataclass(frozen=True)
class Sentence:
    """A sentence as written, and as spoken in each accent."""

    text: str
    american: str
    british: str

    def phonemes(self, accent: Accent) -> str:
        """Give its phonemes in one accent."""
        return self.american if accent == "american" else self.british


@lru_cache(maxsize=1)
def sentences() -> tuple[Sentence, ...]:
    """All sentences, in the order they are shipped.

    >>> sentences()[0].text
    'He usually walks home through the orchard.'
    """
    table = resources.files(__package__).joinpath("sentences.tsv").read_text(encoding="utf-8")
    head, *lines = table.splitlines()
    columns = head.split("\t")
    return tuple(Sentence(**dict(zip(columns, line.split("\t"), strict=True))) for line in lines)
