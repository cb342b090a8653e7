"""Spanish pronunciation in Kokoro's symbols: letter-to-sound rules of the Real Academia, Castilian θ, stress by rule.

b, d and g are approximants (β, ð, ɣ) except after a pause or a nasal, also across words.
"""

from __future__ import annotations

import re
from functools import lru_cache

from personare.languages.letter_rules import LetterRules, fold, pronounce_clauses

ALPHABET = "abcdefghijklmnopqrstuvwxyzáéíóúüñ"
_RULES = LetterRules.of(
    ("", "'", "", ""),
    *(("", a, "", b) for a, b in (("ch", "ʧ"), ("ll", "ʎ"), ("rr", "r"), ("ñ", "ɲ"), ("j", "x"), ("ph", "f"))),
    ("^|[nls]", "r", "", "r"),
    ("", "r", "", "ɾ"),
    ("", "qu", "[eiéí]", "k"),
    ("", "q", "", "k"),
    ("", "cc", "[eiéí]", "kθ"),
    ("", "c", "[eiéí]", "θ"),
    ("", "c", "", "k"),
    ("", "z", "", "θ"),
    ("", "gu", "[eiéí]", "ɡ"),
    ("", "gü", "", "ɡw"),
    ("", "g", "[eiéí]", "x"),
    ("", "g", "", "ɡ"),
    ("^m[eé]", "x", "ic", "x"),
    ("^", "x", "", "s"),
    ("", "x", "", "ks"),
    ("", "hie", "", "ʝe"),
    ("", "hié", "", "ʝe"),
    ("", "h", "", ""),
    ("^", "ps", "", "s"),
    ("", "v", "", "b"),
    ("", "w", "", "w"),
    ("", "n", "[gjkq]|c[aou]", "ŋ"),
    ("", "n", "[mvpb]", "m"),
    ("", "ss", "", "s"),
    ("^", "y", "$", "i"),
    ("", "y", "[aeiouáéíóú]", "ʝ"),
    ("[aeou]", "y", "", "ɪ"),
    ("", "y", "", "i"),
    ("[aeoáéó]", "i", "(?![aeoáéóuú])", "ɪ"),
    ("[aeoáéó]", "u", "(?![aeoáéóií])", "ʊ"),
    ("", "i", "h?[aeouáéóú]", "j"),
    ("", "u", "[aeioáéíó]", "w"),
    ("", "ü", "", "w"),
    *(("", a, "", b) for a, b in zip("áéíóú", "aeiou", strict=True)),
    *(("", letter, "", letter) for letter in "abdefiklmnopstu"),
)
_UNSTRESSED = frozenset(
    """a al ante con cuando de del desde donde e el en entre hacia hasta la las le les lo los me mi mis ni nos o os
    para pero por porque pues que se si sin sobre su sus te tu tus u y como""".split()
)
_SECONDARY = frozenset(
    ("desde", "sobre", "para", "como", "cuando", "donde", "entre", "hacia", "hasta", "pero", "porque")
)
_NUCLEUS = re.compile(r"[iuü]?(?:[aeoáéó][iuy](?![aeoáéó])|[aeoáéó])|[íú]|[iuü]+|(?<=[^aeiou])y(?![aeiouáéíóú])")


@lru_cache(maxsize=4096)
def _word(word: str) -> str:
    letters = fold(word, ALPHABET)
    plain = letters.replace("'", "")
    if not plain:
        return ""
    nuclei = _nuclei(plain)
    unstressed = plain in _UNSTRESSED
    if not nuclei or (unstressed and plain not in _SECONDARY):
        return _RULES.apply(plain)
    count = _stress(plain, nuclei)
    if unstressed:
        return _RULES.apply(plain, stressed=nuclei[count], mark="ˌ")
    spoken = _RULES.apply(plain, stressed=nuclei[count], second=nuclei[0] if count > 1 else -1)
    return re.sub("ˈe(?=n[^aeiou]|ŋ|x)", "ˈɛ", spoken)


def _nuclei(word: str) -> list[int]:
    """Give the position of the main vowel of each syllable."""
    silent = re.sub("(?<=[qg])u(?=[eiéí])", "_", word)
    places = []
    for match in _NUCLEUS.finditer(silent):
        strong = re.search("[aeoáéó]", match[0])
        places.append(match.start() + (strong.start() if strong else len(match[0]) - 1))
    return places


def _stress(word: str, nuclei: list[int]) -> int:
    for count, place in enumerate(nuclei):
        if word[place] in "áéíóú":
            return count
    back = 2 if re.search("[aeiouns]$", word) and len(nuclei) > 1 else 1
    return len(nuclei) - back


def _clause(_: list[str], phonemes: list[str]) -> str:
    spoken = " ".join(phonemes)
    spoken = re.sub(r"n(?= ˈ?[bpm])", "m", spoken)
    spoken = re.sub(r"(?<=[^nmˈˌ ])( ?)b", r"\1β", spoken)
    spoken = re.sub(r"(?<=[^nmlˈˌ ])( ?)d(?!$| )", r"\1ð", spoken)
    spoken = re.sub(r"(?<=[^nmŋˈˌ ])( ?)ɡ", r"\1ɣ", spoken)
    for pair, symbol in (("aɪ", "I"), ("aʊ", "W"), ("eɪ", "A")):
        spoken = spoken.replace(pair, symbol)
    return spoken


def pronounce(text: str) -> str:
    """Pronounce Spanish words; digits must be spelt out before.

    >>> pronounce("Los niños juegan en el jardín.")
    'los nˈiɲos xwˈeɣan en el xaɾðˈin.'
    """
    return pronounce_clauses(text, word=_word, clause=_clause)
