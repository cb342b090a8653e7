"""What people say instead of how: function words and letters of a transcript as a vector, the oldest mark of an author.

The words are those the corpus writes down: what a recognizer without errors would hear in anonymized speech. Where
people read given sentences, they tell texts apart, not people.
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
        words = _WORD.findall(text.lower())
        if not words:
            raise AudioError("an utterance without words has no word choice; give the corpus a text, or leave it out")
        counted = Counter(words)
        rates = [counted[word] / len(words) for word in FUNCTION_WORDS]
        letters = np.zeros(HASHED)
        for word in words:
            framed = f" {word} "
            for first in range(len(framed) - 2):
                letters[_place(framed[first : first + 3])] += 1
        lengths = np.bincount([min(len(word), self.LENGTHS) - 1 for word in words], minlength=self.LENGTHS)
        numbers = np.concatenate([rates, letters / max(1.0, letters.sum()), lengths / len(words), [0.01]])
        vector: NDArray[np.float32] = np.sqrt(numbers).astype(np.float32)
        return vector

    def __call__(self, batch: Sequence[Audio]) -> NDArray[np.float32]:
        """Refuse: a sound has no transcript."""
        raise AudioError(f"the embedder words reads the text of a corpus; {len(batch)} sounds have none")


def _place(three: str) -> int:
    return hashlib.blake2b(three.encode(), digest_size=1).digest()[0]
