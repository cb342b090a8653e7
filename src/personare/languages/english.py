"""English for the language table: Whisper's normalizer for word error rates, and the dictionary for pronunciation.

Both exist already: the package whisper-normalizer, and ``personare.voices.pronunciation`` with the model ``cmudict``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from personare.languages.symbols import checked, joined
from personare.voices.pronunciation import pronounce as pronounce_ipa


def normalize(text: str) -> str:
    """Bring a text into the form in which Whisper's authors count words.

    >>> normalize("Mr. Smith's favourite colour, wasn't grey!")
    'mister smith is favorite color was not gray'
    """
    return " ".join(_whisper()(text).split())


@lru_cache(maxsize=1)
def _whisper() -> Callable[[str], str]:
    from whisper_normalizer.english import EnglishTextNormalizer

    normalizer: Callable[[str], str] = EnglishTextNormalizer()
    return normalizer


def pronounce(text: str) -> str:
    """Pronounce English text in Kokoro's symbols; needs the model cmudict."""
    return checked(joined(pronounce_ipa(text)), text=text)
