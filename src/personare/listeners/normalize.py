"""Text made comparable before words are counted: what cannot be heard (case, commas, digits, spelling) must not count.

The same normalizer is used for what was said and for what was recognized. ``whisper-english`` is the one published with
Whisper [radford2023whisper, app. C], in the package whisper-normalizer; ``letters`` is for recognizers that write
letters; ``language`` uses the rules of each language. Another one is a frozen dataclass that extends ``Normalizer``,
named ``module:Class``.
"""

from __future__ import annotations

import re
import unicodedata
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from typing import Protocol, cast

from personare.core.catalog import Catalog
from personare.core.requirements import Requirements
from personare.languages import LANGUAGES, RULES_VERSION, bare_words

BY_LANGUAGE = "language"
NORMALIZERS = Catalog(
    "normalizer",
    {
        "whisper-english": "personare.listeners.normalize:WhisperEnglish",
        "letters": "personare.listeners.normalize:Letters",
        BY_LANGUAGE: "personare.listeners.normalize:ByLanguage",
    },
)


class Normalizer(Protocol):
    """Brings texts into one form: words separated by one space."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """The exact rules, by name and version: error rates by other rules are other numbers."""
        ...

    @property
    def requires(self) -> Requirements:
        """Libraries that must be there."""
        return Requirements()

    def of_language(self, code: str | None) -> Normalizer:
        """Give the normalizer for texts in a language; itself where the language is of no matter."""
        del code
        return self

    @abstractmethod
    def __call__(self, text: str) -> str:
        """Normalize one text."""
        ...


def normalizer(name: str) -> Normalizer:
    """Make a normalizer by name; an unknown name is an error with a suggestion."""
    return cast(Normalizer, NORMALIZERS.make(name))


@dataclass(frozen=True)
class WhisperEnglish(Normalizer):
    """Whisper's English normalizer: numbers become digits, contractions are written out, spelling is American.

    Fillers (hmm, uh) and text in brackets are dropped, words keep no punctuation, and every 's is read as "is".

    >>> WhisperEnglish()("Mr. Smith's favourite colour, in nineteen oh five, wasn't grey!")
    'mister smith is favorite color in 1905 was not gray'
    """

    @property
    def fingerprint(self) -> str:
        """The version of the package."""
        return f"whisper-english:{metadata.version('whisper-normalizer')}"

    def __call__(self, text: str) -> str:
        """Normalize one text."""
        return " ".join(_whisper_english()(text).split())


@lru_cache(maxsize=1)
def _whisper_english() -> Callable[[str], str]:
    from whisper_normalizer.english import EnglishTextNormalizer

    normalize: Callable[[str], str] = EnglishTextNormalizer()
    return normalize


@dataclass(frozen=True)
class Letters(Normalizer):
    """Lower-case letters without accents, apostrophes inside words, and digits as they are; nothing is spelt out.

    >>> Letters()("Well-known: the BOYS' café isn't open 24 h.")
    "well known the boys cafe isn't open 24 h"
    """

    fingerprint = "letters-1"

    def __call__(self, text: str) -> str:
        """Normalize one text."""
        plain = unicodedata.normalize("NFKD", text.replace("\u2019", "'").lower())
        plain = "".join(c for c in plain if not unicodedata.combining(c))
        plain = re.sub(r"[^\w']|_", " ", plain)
        return " ".join(re.sub(r"(?<!\w)'|'(?!\w)", " ", plain).split())


@dataclass(frozen=True)
class ByLanguage(Normalizer):
    """The rules of each language: numbers as words, lower case, accents kept; English by Whisper's normalizer.

    A language without a row in ``personare.languages`` is written in lower case without punctuation.

    >>> ByLanguage().of_language("de")("Um 7:45 Uhr, für 12,50 €!")
    'um sieben uhr fünfundvierzig für zwölf euro fünfzig cent'
    >>> ByLanguage().of_language("pl")("Dzień dobry, PAŃSTWU!")
    'dzień dobry państwu'
    """

    code: str = "en"

    @property
    def fingerprint(self) -> str:
        """The version of the rules and of the package that writes numbers."""
        return f"language:{RULES_VERSION}:{metadata.version('num2words')}:{_whisper_version()}"

    def of_language(self, code: str | None) -> Normalizer:
        """Give the rules of one language; English where nobody states it."""
        return ByLanguage(code or "en")

    def __call__(self, text: str) -> str:
        """Normalize one text."""
        return LANGUAGES[self.code].normalize(text) if self.code in LANGUAGES else bare_words(text)


def _whisper_version() -> str:
    return WhisperEnglish().fingerprint
