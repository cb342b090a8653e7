"""Letter-to-sound rules: ordered rewrite rules with context, applied to one word from left to right.

A rule has four parts: the letters before it, its letters, the letters after it, its phonemes. The first rule whose
contexts match wins, so that exceptions come before general cases. Contexts are regular expressions.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from personare.core.errors import ConfigError
from personare.languages.symbols import PAUSES, VOWELS, checked

Rule = tuple[str, str, str, str]
_TOKEN = re.compile(r"[^\W\d_](?:[^\W\d_]|[\u0300-\u036f]|['’](?=[^\W\d_]))*['’]?|[,.;:!?…—–]")
_FOLDED = {
    **{"ł": "l", "đ": "d", "ð": "d", "þ": "t", "ø": "ö", "œ": "oe", "æ": "ae", "ß": "ss", "ı": "i", "ĸ": "k"},
    **{"ŋ": "ng", "ħ": "h", "ŧ": "t", "ə": "e", "ſ": "s", "ŀ": "l", "ª": "a", "º": "o", "ŉ": "n", "µ": "mikro"},
}
_MARKS = {"…": ".", "—": ",", "–": ","}


@dataclass(frozen=True)
class LetterRules:
    """Rules of one language, by the first letter that they consume."""

    rules: Mapping[str, tuple[tuple[re.Pattern[str] | None, str, re.Pattern[str] | None, str], ...]]

    @classmethod
    def of(cls, *rules: Rule) -> LetterRules:
        """Compile rules."""
        table: dict[str, list[tuple[re.Pattern[str] | None, str, re.Pattern[str] | None, str]]] = {}
        for left, letters, right, phonemes in rules:
            before = re.compile(f"(?:{left})$") if left else None
            after = re.compile(right) if right else None
            table.setdefault(letters[0], []).append((before, letters, after, phonemes))
        return cls({letter: tuple(rows) for letter, rows in table.items()})

    def segments(self, word: str) -> Iterator[tuple[int, str, str]]:
        """Give position, letters and phonemes of each rule applied to a word."""
        place = 0
        while place < len(word):
            for before, letters, after, phonemes in self.rules.get(word[place], ()):
                if (
                    word.startswith(letters, place)
                    and (before is None or before.search(word[:place]))
                    and (after is None or after.match(word, place + len(letters)))
                ):
                    yield place, letters, phonemes
                    place += len(letters)
                    break
            else:
                raise ConfigError(f"no letter-to-sound rule for '{word[place]}' in '{word}'")

    def apply(self, word: str, *, stressed: int = -1, mark: str = "ˈ", second: int = -1) -> str:
        """Give the phonemes of a word; the vowel written at position ``stressed`` gets a stress mark."""
        spoken = ""
        for place, letters, phonemes in self.segments(word):
            if place <= stressed < place + len(letters):
                phonemes = with_stress(phonemes, mark, last=stressed > place)
            elif place <= second < place + len(letters):
                phonemes = with_stress(phonemes, "ˌ", last=False)
            spoken += phonemes
        return spoken


def with_stress(phonemes: str, mark: str, *, last: bool) -> str:
    """Put a stress mark before the first or last vowel.

    >>> with_stress("jɛ", "ˈ", last=True)
    'jˈɛ'
    """
    vowels = [place for place, symbol in enumerate(phonemes) if symbol in VOWELS]
    if not vowels:
        return phonemes
    place = vowels[-1] if last else vowels[0]
    return phonemes[:place] + mark + phonemes[place:]


def fold(word: str, alphabet: str) -> str:
    """Write a word with the letters of an alphabet: foreign Latin letters lose their marks.

    >>> fold("Łódź", "abcdefghijklmnopqrstuvwxyzó")
    'lódz'
    """
    plain = ""
    for letter in unicodedata.normalize("NFC", word.lower().replace("’", "'")):
        plain += letter if letter in alphabet or letter == "'" else _folded(letter, alphabet, word)
    return plain


def _folded(letter: str, alphabet: str, word: str) -> str:
    if unicodedata.combining(letter):
        return ""
    base = _FOLDED.get(letter) or unicodedata.normalize("NFKD", letter).lower()
    if base != letter:
        return "".join(one if one in alphabet else _folded(one, alphabet, word) for one in base)
    if not letter.isalpha():
        return ""
    name = unicodedata.name(letter, "")
    if name.startswith(("LATIN", "MODIFIER LETTER")):
        match = re.search(r"LETTER (?:SMALL |CAPITAL )?(?:[A-Z]+ )*?([A-Z])(?: |$)", name)
        return match[1].lower() if match and match[1].lower() in alphabet else ""
    raise ConfigError(f"'{word}' has the letter '{letter}' of another script; write the word in Latin letters")


def pronounce_clauses(
    text: str,
    *,
    word: Callable[[str], str],
    clause: Callable[[list[str], list[str]], str],
) -> str:
    """Pronounce a text without digits: words by ``word``, then each clause as a whole; pauses are kept.

    ``clause`` gets the written words and their phonemes, and joins them.
    """
    spoken = ""
    written: list[str] = []

    def close(mark: str) -> None:
        nonlocal spoken
        if written:
            phonemes = [word(one) for one in written]
            heard = [(one, said) for one, said in zip(written, phonemes, strict=True) if said]
            if heard:
                joined = clause([one for one, _ in heard], [said for _, said in heard])
                spoken += (" " if spoken else "") + joined + mark
            written.clear()

    for token in _TOKEN.findall(unicodedata.normalize("NFC", text)):
        token = _MARKS.get(token, token)
        if token in PAUSES:
            close(token)
        else:
            written.append(token)
    close("")
    return checked(unicodedata.normalize("NFD", spoken).replace("c\u0327", "ç"), text=text)
