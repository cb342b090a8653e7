"""How English text is pronounced: numbers as words, a dictionary first, its words with endings next, letters last.

The dictionary is the CMU Pronouncing Dictionary (BSD), fetched once as the model ``cmudict``. No phonemizer is needed.
Small words (``the``, ``of``, ``was`` ...) are unstressed, as in running speech.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from personare.core.weights import files_of, home
from personare.voices.arpabet import is_vowel, to_ipa
from personare.voices.letters import guess_phones
from personare.voices.numerals import spell_numbers

MODEL = "cmudict"
Lexicon = Mapping[str, tuple[str, ...]]
PAUSES = ",.;:?!"

_UNSTRESSED = {
    *("a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did", "do", "does"),
    *("for", "from", "had", "has", "have", "he", "her", "him", "his", "i", "if", "in", "into", "is", "it"),
    *("its", "me", "my", "of", "on", "or", "our", "shall", "she", "should", "so", "than", "that", "the"),
    *("their", "them", "then", "there", "these", "they", "this", "those", "to", "up", "us", "was", "we"),
    *("were", "what", "when", "which", "who", "will", "with", "would", "you", "your"),
}
_REDUCED = {"a": "ɐ", "i": "aɪ", "to": "tə", "an": "ɐn", "was": "wʌz"}
_SPOKEN_AS = {
    **{"mr": "mister", "mrs": "missus", "ms": "miz", "dr": "doctor", "st": "saint", "vs": "versus", "etc": "etcetera"},
    **{"&": "and", "%": "percent", "+": "plus", "=": "equals", "@": "at", "#": "number", "°": "degrees"},
}
_OWN_WORDS = {"miz": ("M", "IH1", "Z"), "etcetera": ("EH0", "T", "S", "EH1", "T", "ER0", "AH0")}
_LETTER_NAMES = {
    **{"a": "EY1", "b": "B IY1", "c": "S IY1", "d": "D IY1", "e": "IY1", "f": "EH1 F", "g": "JH IY1", "h": "EY1 CH"},
    **{"i": "AY1", "j": "JH EY1", "k": "K EY1", "l": "EH1 L", "m": "EH1 M", "n": "EH1 N", "o": "OW1", "p": "P IY1"},
    **{"q": "K Y UW1", "r": "AA1 R", "s": "EH1 S", "t": "T IY1", "u": "Y UW1", "v": "V IY1"},
    **{"w": "D AH1 B AH0 L Y UW0", "x": "EH1 K S", "y": "W AY1", "z": "Z IY1"},
}
# ending -> its phones; "s" and "ed" depend on the sound before them
_ENDINGS = {
    **{"ing": "IH0 NG", "ings": "IH0 NG Z", "er": "ER0", "ers": "ER0 Z", "est": "AH0 S T", "ly": "L IY0"},
    **{"ness": "N AH0 S", "less": "L AH0 S", "ful": "F AH0 L", "ment": "M AH0 N T", "ish": "IH0 SH"},
    **{"able": "AH0 B AH0 L", "like": "L AY2 K", "ship": "SH IH2 P", "man": "M AH0 N", "men": "M EH0 N", "th": "TH"},
}
_BEGINNINGS = {
    **{"un": "AH0 N", "non": "N AA0 N", "re": "R IY0", "dis": "D IH0 S", "mis": "M IH0 S", "over": "OW2 V ER0"},
    **{"out": "AW2 T", "under": "AH2 N D ER0", "fore": "F AO2 R", "in": "IH0 N"},
}
_HISSING, _VOICELESS = ("S", "Z", "SH", "ZH", "CH", "JH"), ("P", "T", "K", "F", "TH")
_SHORTEST_PART = 3  # letters of one half of a compound
_TOKEN = re.compile(
    r"(?P<initials>(?:[A-Za-z]\.){2,})|(?P<word>[A-Za-z]+(?:'[A-Za-z]+)*'?)|(?P<mark>[,.;:?!&%+=@#°—–])"
)


def pronounce(text: str, *, lexicon: Lexicon | None = None) -> str:
    """Write a text as IPA, words apart by blanks, with its commas, stops and question marks.

    >>> pronounce("The owl, a bird.", lexicon={"owl": ("AW1", "L"), "bird": ("B", "ER1", "D"), "the": ("DH", "AH0")})
    'ðɪ ˈaʊl, ɐ bˈɜːd.'
    """
    known = dictionary() if lexicon is None else lexicon
    spoken: list[str] = []
    for word, is_mark in _tokens(text):
        if not is_mark:
            spoken.append(_in_sentence(word, known))
        elif spoken and spoken[-1][-1] not in PAUSES:
            spoken[-1] += word
    for place, following in enumerate(spoken[1:]):
        if spoken[place] == "ðə" and following.lstrip("ˈˌ")[0] in "aeiouæɑɐɔəɚɛɜɪʊʌ":
            spoken[place] = "ðɪ"
    return " ".join(spoken)


def phones_of(word: str, *, lexicon: Lexicon) -> tuple[str, ...]:
    """Give the phones of one word: from the dictionary, from a word and an ending, from two words, or by letters."""
    plain = word.lower().strip("'")
    found = lexicon.get(plain) or _OWN_WORDS.get(plain) or _with_ending(plain, lexicon)
    if found:
        return found
    if len(word) > 1 and word.isupper() and (len(word) <= 3 or not re.search("[AEIOUY]", word)):
        return _by_name(plain)
    found = _with_beginning(plain, lexicon) or _compound(plain, lexicon)
    return found or tuple(guess_phones(plain.replace("'", ""))) or _by_name(plain)


def dictionary() -> Lexicon:
    """The fetched dictionary, read once per process."""
    return _read(home())


@lru_cache(maxsize=1)
def _read(_cache: Path) -> Lexicon:
    """Read word -> phones, the first pronunciation of each."""
    lexicon: dict[str, tuple[str, ...]] = {}
    with files_of(MODEL)["cmudict.dict"].open(encoding="utf-8") as lines:
        for line in lines:
            word, *phones = line.partition("#")[0].split()
            if "(" not in word:
                lexicon[word] = tuple(phones)
    return lexicon


def _tokens(text: str) -> list[tuple[str, bool]]:
    """Split into words and marks; accents and typographic quotes are made plain, signs become words."""
    plain = unicodedata.normalize("NFKD", text.replace("’", "'").replace("…", "."))
    plain = "".join(one for one in plain if not unicodedata.combining(one))
    plain = spell_numbers(plain).replace(" - ", ", ").replace("--", ", ")
    tokens: list[tuple[str, bool]] = []
    for match in _TOKEN.finditer(plain):
        if match["initials"]:
            tokens.append((match["initials"].upper(), False))
            continue
        word, mark = match["word"], match["mark"]
        spoken = _SPOKEN_AS.get((word or mark).lower())
        if spoken:
            tokens.append((spoken, False))
        elif word:
            tokens.append((word, False))
        elif not _ends_abbreviation(plain, match.start()):
            tokens.append(({"—": ",", "–": ","}.get(mark, mark), True))
    return tokens


def _ends_abbreviation(text: str, stop: int) -> bool:
    before = re.search(r"[A-Za-z]+$", text[:stop])
    return text[stop] == "." and before is not None and before.group().lower() in ("mr", "mrs", "ms", "dr", "st", "vs")


def _in_sentence(word: str, lexicon: Lexicon) -> str:
    if "." in word:
        return " ".join(to_ipa(_LETTER_NAMES[letter].split()) for letter in word.lower() if letter != ".")
    plain = word.lower()
    if plain in _REDUCED:
        return _REDUCED[plain]
    if len(word) == 1 and word.isupper() and plain != "a":
        return to_ipa(_LETTER_NAMES[plain].split())
    ipa = to_ipa(phones_of(word, lexicon=lexicon))
    return ipa.replace("ˈ", "").replace("ˌ", "") if plain in _UNSTRESSED else ipa


def _with_ending(word: str, lexicon: Lexicon) -> tuple[str, ...]:
    """A known word with a possessive, plural, past or other common ending."""
    for ending in ("'s", "s", "es"):
        stem = lexicon.get(word.removesuffix(ending)) if word.endswith(ending) else None
        if stem:
            return (*stem, *_hissed(stem[-1]))
    for stem_word in _stems(word, "ed"):
        if stem_word in lexicon:
            stem = lexicon[stem_word]
            return (*stem, *(("AH0", "D") if stem[-1] in ("T", "D") else ("T" if _is_voiceless(stem[-1]) else "D",)))
    for ending, phones in _ENDINGS.items():
        for stem_word in _stems(word, ending):
            if stem_word in lexicon:
                return (*lexicon[stem_word], *phones.split())
    return ()


def _stems(word: str, ending: str) -> list[str]:
    """What may stand before an ending: as it is, with its e, with one consonant less, with y for i."""
    if not word.endswith(ending) or len(word) < len(ending) + 2:
        return []
    stem = word.removesuffix(ending)
    stems = [stem, f"{stem}e"]
    if len(stem) > 2 and stem[-1] == stem[-2]:
        stems.append(stem[:-1])
    return [*stems, f"{stem[:-1]}y"] if stem.endswith("i") else stems


def _hissed(last: str) -> tuple[str, ...]:
    if last in _HISSING:
        return ("AH0", "Z")
    return ("S",) if last in _VOICELESS else ("Z",)


def _is_voiceless(last: str) -> bool:
    return last in _VOICELESS or last in ("S", "SH", "CH")


def _with_beginning(word: str, lexicon: Lexicon) -> tuple[str, ...]:
    for beginning, phones in _BEGINNINGS.items():
        rest = word.removeprefix(beginning)
        if rest != word and len(rest) >= _SHORTEST_PART:
            found = lexicon.get(rest) or _with_ending(rest, lexicon)
            if found:
                return (*phones.split(), *found)
    return ()


def _compound(word: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Two known words in one, the first as long as possible; the second one's stress is the weaker."""
    for cut in range(len(word) - _SHORTEST_PART, _SHORTEST_PART - 1, -1):
        first, second = lexicon.get(word[:cut]), lexicon.get(word[cut:]) or _with_ending(word[cut:], lexicon)
        if first and second and any(map(is_vowel, first)) and any(map(is_vowel, second)):
            return (*first, *(phone.replace("1", "2") for phone in second))
    return ()


def _by_name(word: str) -> tuple[str, ...]:
    """Spell a word out, letter by letter."""
    return tuple(phone for letter in word for phone in _LETTER_NAMES.get(letter, "").split())
