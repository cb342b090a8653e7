"""Text embedders: a transcript as a vector, for attackers who read the words and hear no voice.

``vocabulary`` counts every word, so that rare words and topics can link people; ``words`` measures style (function
words, letter trigrams, word lengths), which a trained scorer needs. An utterance without words has a vector as well,
the same one for everybody: an attacker who has nothing to read must guess.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from personare.core.errors import AudioError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.core.audio import Audio

# closed classes of English: chosen without thinking, and often [mosteller1963inference]
_LISTED = (
    "a about after all also am an and any are as at be because been before being but by can could did do does down "
    "each even every few for from get go had has have he her here him his how i if in into is it its just know like "
    "made make many may me might more most much must my never no not now of off on one only or other our out over "
    "said say see shall she should so some such than that the their them then there these they think this those "
    "through to too two under up us very was we well were what when where which while who why will with would yes yet "
    "you your"
)
FUNCTION_WORDS = tuple(_LISTED.split())
HASHED = 256  # places for letters in threes
WORD_PLACES = 8192  # places for words: few enough for files, many enough that two words rarely share one
CONSTANT = 0.01  # the last number of every text vector: no vector is zero, and none hangs on it
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


@dataclass(frozen=True)
class Wording:
    """Rates of function words, of letters in threes (hashed), and of word lengths; square roots, so that many count."""

    NAME: ClassVar[str] = "words"
    VERSION: ClassVar[int] = 1
    LENGTHS: ClassVar[int] = 12
    DIMENSIONS: ClassVar[int] = len(FUNCTION_WORDS) + HASHED + LENGTHS + 1
    MODELS: ClassVar[tuple[str, ...]] = ()
    paper: ClassVar[str] = "Mosteller and Wallace, Inference in an authorship problem, 1963"

    @property
    def fingerprint(self) -> str:
        """The exact statistics, for caches."""
        return f"wording-v{self.VERSION}"

    def of_text(self, text: str) -> NDArray[np.float32]:
        """Give the vector of a transcript: float32 [DIMENSIONS]; the last number is constant."""
        words = words_of(text)
        if not words:
            return _without_words(self.DIMENSIONS, np.sqrt(CONSTANT))
        counted = Counter(words)
        rates = [counted[word] / len(words) for word in FUNCTION_WORDS]
        letters = np.zeros(HASHED)
        for word in words:
            framed = f" {word} "
            for first in range(len(framed) - 2):
                letters[_place(framed[first : first + 3])] += 1
        lengths = np.bincount([min(len(word), self.LENGTHS) - 1 for word in words], minlength=self.LENGTHS)
        numbers = np.concatenate([rates, letters / max(1.0, letters.sum()), lengths / len(words), [CONSTANT]])
        vector: NDArray[np.float32] = np.sqrt(numbers).astype(np.float32)
        return vector

    def __call__(self, batch: Sequence[Audio]) -> NDArray[np.float32]:
        """Refuse: a sound has no transcript."""
        raise _reads(self.NAME, batch)


@dataclass(frozen=True)
class Vocabulary:
    """Bag of words: 1 + log(count) of every word, hashed into 8192 places; the scorer ``idf`` weights rare words.

    Deviations: places are hashed instead of numbered, so that no vocabulary has to be agreed on; two words share a
    place in 1 of 8192 cases.
    """

    NAME: ClassVar[str] = "vocabulary"
    VERSION: ClassVar[int] = 1
    DIMENSIONS: ClassVar[int] = WORD_PLACES + 1
    MODELS: ClassVar[tuple[str, ...]] = ()
    paper: ClassVar[str] = "Salton and Buckley, Term-weighting approaches in automatic text retrieval, 1988"

    @property
    def fingerprint(self) -> str:
        """The exact statistics, for caches."""
        return f"vocabulary-v{self.VERSION}"

    def of_text(self, text: str) -> NDArray[np.float32]:
        """Give the vector of a transcript: float32 [DIMENSIONS]; the last number is constant."""
        vector = _without_words(self.DIMENSIONS, CONSTANT)
        for word, count in Counter(words_of(text)).items():
            vector[word_place(word)] += 1 + np.log(count)
        return vector

    def __call__(self, batch: Sequence[Audio]) -> NDArray[np.float32]:
        """Refuse: a sound has no transcript."""
        raise _reads(self.NAME, batch)


def words_of(text: str) -> list[str]:
    """Split a transcript into words in lower case, without digits and punctuation.

    >>> words_of("Don't go, THERE! 12")
    ["don't", 'go', 'there']
    """
    return _WORD.findall(text.lower())


def word_place(word: str) -> int:
    """Give the place of a word among ``WORD_PLACES``, the same on every machine."""
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest(), "little") % WORD_PLACES


def _without_words(count: int, constant: float) -> NDArray[np.float32]:
    vector = np.zeros(count, np.float32)
    vector[-1] = constant
    return vector


def _reads(name: str, batch: Sequence[Audio]) -> AudioError:
    return AudioError(f"the embedder {name} reads the text of a corpus; {len(batch)} sounds have none")


def _place(three: str) -> int:
    return hashlib.blake2b(three.encode(), digest_size=1).digest()[0]
