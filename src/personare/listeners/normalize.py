"""Text made comparable before words are counted: what cannot be heard (case, commas, digits, spelling) must not count.

The same function is used for what was said and for what was heard. Policy, in this order:

1. Unicode is unified (NFKC), curly quotes become straight, text in [brackets], <angles> or (round ones) is a comment.
2. Case is dropped. Titles are written out (mr. -> mister, dr. -> doctor), signs too (& -> and, % -> percent).
3. Numbers become words as they are read ("1862" -> eighteen sixty two); "and" after hundred, thousand, ... is dropped
   before a number word, because readers differ in saying it.
4. Hyphens and dashes separate words; other punctuation vanishes; apostrophes stay inside a word only.
5. Initials are joined: "T. X." and "t x" -> tx.
6. Contractions stay as they are ("don't" sounds unlike "do not"), unless ``contractions="expand"`` is asked for, which
   writes out those with one meaning (n't, 're, 've, 'll, 'm; never 's or 'd). "cannot" is two words, "to-day" is one.
7. British spelling becomes American (``spelling="as_is"`` leaves it).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from personare.listeners.numerals import NUMBER_WORDS, spell_out
from personare.listeners.spelling import american

_TITLES = {
    "capt": "captain",
    "col": "colonel",
    "dr": "doctor",
    "drs": "doctors",
    "etc": "et cetera",
    "gen": "general",
    "jr": "junior",
    "lt": "lieutenant",
    "messrs": "messieurs",
    "mr": "mister",
    "mrs": "missus",
    "mssrs": "messieurs",
    "prof": "professor",
    "rev": "reverend",
    "sgt": "sergeant",
    "sr": "senior",
    "st": "saint",
    "vs": "versus",
}
_ALWAYS = frozenset({"dr", "mr", "mrs", "messrs", "etc", "vs"})  # the others are words too: only with a full stop
_SIGNS = {"&": " and ", "+": " plus ", "=": " equals ", "@": " at ", "°": " degrees "}
_JOINED = {
    "any one": "anyone",
    "every one": "everyone",
    "good bye": "goodbye",
    "some one": "someone",
    "to day": "today",
    "to morrow": "tomorrow",
    "to night": "tonight",
}
_IRREGULAR = {"won't": "will not", "can't": "can not", "shan't": "shall not", "ain't": "ain't", "let's": "let us"}
_ENDINGS = (("n't", " not"), ("'re", " are"), ("'ve", " have"), ("'ll", " will"), ("'m", " am"))
_AFTER_SCALE = re.compile(rf"\b(hundred|thousand|million|billion) and (?=(?:{'|'.join(sorted(NUMBER_WORDS))})\b)")
_INITIALS = re.compile(r"(?<![\w'])[a-z](?: [a-z](?![\w']))+")


@dataclass(frozen=True)
class Normalizer:
    """Make texts comparable; see the policy at the top of this file.

    >>> Normalizer()("Mr. Smith's favourite colour, in 1905, wasn't grey!")
    "mister smith's favorite color in nineteen oh five wasn't gray"
    >>> Normalizer(contractions="expand", spelling="as_is")("They're grey; I can't.")
    'they are grey i can not'
    """

    spelling: Literal["american", "as_is"] = "american"
    contractions: Literal["keep", "expand"] = "keep"

    def __call__(self, text: str) -> str:
        """Give the words, in lower case, separated by one space."""
        text = _unified(text)
        text = _without_points(text)
        text = spell_out(text)
        text = _only_words(text)
        text = _joined(text)
        words = text.split()
        if self.contractions == "expand":
            words = " ".join(_expanded(word) for word in words).split()
        if self.spelling == "american":
            words = [american(word) for word in words]
        return " ".join(words)


def _unified(text: str) -> str:
    """Unify characters, drop comments, lower the case."""
    text = unicodedata.normalize("NFKC", text).replace("\u2019", "'").replace("\u2018", "'").replace("\u02bc", "'")
    text = re.sub(r"\[[^\]]*\]|<[^>]*>|\([^)]*\)", " ", text)
    decomposed = unicodedata.normalize("NFD", text.lower())
    return "".join(c for c in decomposed if not unicodedata.combining(c))  # café -> cafe


def _without_points(text: str) -> str:
    """Write out titles and signs; take the points out of initials."""
    for sign, word in _SIGNS.items():
        text = text.replace(sign, word)
    text = re.sub(r"\b([a-z])\.(?=[a-z]\b)", r"\1 ", text)

    def title(match: re.Match[str]) -> str:
        word, point = match[1], match[2]
        return f"{_TITLES[word]} " if point or word in _ALWAYS else match[0]

    return re.sub(rf"\b({'|'.join(_TITLES)})\b(\.?)", title, text)


def _only_words(text: str) -> str:
    """Keep letters of any script, spaces and apostrophes inside words."""
    text = re.sub(r"[^\w']|_", " ", text)
    return " ".join(re.sub(r"(?<!\w)'|'(?!\w)", " ", text).split())


def _joined(text: str) -> str:
    """Join initials and old two-word spellings; drop "and" inside numbers; split "cannot"."""
    text = _AFTER_SCALE.sub(r"\1 ", text)
    text = _INITIALS.sub(lambda m: m[0] if set(m[0]) <= set("aio ") else m[0].replace(" ", ""), text)
    for apart, together in _JOINED.items():
        text = re.sub(rf"\b{apart}\b", together, text)
    return re.sub(r"\bcannot\b", "can not", text)


def _expanded(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    for ending, full in _ENDINGS:
        if word.endswith(ending) and len(word) > len(ending):
            return word.removesuffix(ending) + full
    return word
