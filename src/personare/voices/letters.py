"""How a word that no dictionary knows may be pronounced, from its letters alone: a few dozen rules, a guess.

Letters are read from the left, the longest rule first; a silent ``e`` at the end makes the vowel before its consonant
long. The first vowel gets the stress, except before endings that draw it to themselves (``-tion``, ``-ity`` ...).
"""

from __future__ import annotations

import re

from personare.voices.arpabet import is_vowel

_LONG = {"a": "EY", "e": "IY", "i": "AY", "o": "OW", "u": "UW", "y": "AY"}
_SHORT = {"a": "AE", "e": "EH", "i": "IH", "o": "AA", "u": "AH", "y": "IH"}
# Letters -> phones; vowels get their stress later. A ^ is the beginning of the word, a $ its end.
_RULES = {
    **{"^kn": "N", "^gn": "N", "^wr": "R", "^ps": "S", "^wh": "W", "^x": "Z", "^y": "Y", "^mc": "M AH K"},
    **{
        "ation$": "EY SH AH N",
        "ations$": "EY SH AH N Z",
        "tion$": "SH AH N",
        "tions$": "SH AH N Z",
        "sion$": "ZH AH N",
        "cian$": "SH AH N",
    },
    **{
        "ture$": "CH ER",
        "cial$": "SH AH L",
        "tial$": "SH AH L",
        "cious$": "SH AH S",
        "tious$": "SH AH S",
        "ous$": "AH S",
    },
    **{"le$": "AH L", "les$": "AH L Z", "ism$": "IH Z AH M", "age$": "IH JH", "y$": "IY", "ies$": "IY Z", "ey$": "IY"},
    **{"mb$": "M", "que$": "K", "gue$": "G", "ed$": "D", "es$": "Z", "er$": "ER", "ers$": "ER Z", "ia$": "IY AH"},
    **{"a$": "AH", "o$": "OW", "i$": "IY", "io$": "IY OW", "us$": "AH S", "eau$": "OW", "e$": ""},
    **{"tch": "CH", "dge": "JH", "sch": "SH", "igh": "AY", "eigh": "EY", "ough": "AO", "augh": "AO", "ck": "K"},
    **{"ch": "CH", "sh": "SH", "th": "TH", "ph": "F", "gh": "", "wh": "W", "qu": "K W", "ng": "NG", "nk": "NG K"},
    **{"cc": "K", "ss": "S", "zz": "Z", "ll": "L", "tt": "T", "pp": "P", "ff": "F", "rr": "R", "nn": "N", "mm": "M"},
    **{"bb": "B", "dd": "D", "gg": "G", "kk": "K", "sc": "S K", "sci": "S AY", "sce": "S EH"},
    **{"ai": "EY", "ay": "EY", "au": "AO", "aw": "AO", "ea": "IY", "ee": "IY", "ei": "IY", "eu": "UW", "ew": "UW"},
    **{"ie": "IY", "oa": "OW", "oe": "OW", "oi": "OY", "oy": "OY", "oo": "UW", "ou": "AW", "ow": "OW", "ue": "UW"},
    **{"ui": "UW", "ar": "AA R", "er": "ER", "ir": "ER", "or": "AO R", "ur": "ER", "air": "EH R", "ear": "IH R"},
    **{"eer": "IH R", "oor": "AO R", "our": "AO R", "are$": "EH R", "ere$": "IH R", "ire$": "AY ER", "ore$": "AO R"},
    **{"ce": "S EH", "ci": "S IH", "cy": "S IY", "ge": "JH EH", "gi": "JH IH", "ce$": "S", "ge$": "JH", "se$": "Z"},
    **{"b": "B", "c": "K", "d": "D", "f": "F", "g": "G", "h": "HH", "j": "JH", "k": "K", "l": "L", "m": "M", "n": "N"},
    **{"p": "P", "q": "K", "r": "R", "s": "S", "t": "T", "v": "V", "w": "W", "x": "K S", "z": "Z"},
}
_LONGEST = max(map(len, _RULES))
_SILENT_E = re.compile(r"^([aeiouy])[bcdfgklmnpstvz](?:es?|ed)$")
_STRESS_BEFORE = re.compile(r"(tions?|sion|cian|ity|ic|ical|ial|ious|graphy|logy)$")
_VOWEL_LETTERS = re.compile(r"[aeiouy]+")


def guess_phones(word: str) -> list[str]:
    """Guess the phones of a word of the letters a to z.

    >>> " ".join(guess_phones("blorage")), " ".join(guess_phones("zake")), " ".join(guess_phones("grobation"))
    ('B L AO1 R IH0 JH', 'Z EY1 K', 'G R AH0 B EY1 SH AH0 N')
    """
    phones: list[str] = []
    place = 0
    while place < len(word):
        taken, found = _next(word, place)
        phones += found
        place += taken
    return _stressed(phones, word)


def _next(word: str, place: int) -> tuple[int, list[str]]:
    """Read the next sound: how many letters it takes, and its phones."""
    rest = word[place:]
    letter = rest[0]
    if letter in _LONG and _SILENT_E.match(rest) and not (place > 2 and f"{rest}$" in _RULES):
        return 1, [_LONG[letter]]
    framed = ("^" if place == 0 else "") + rest + "$"
    for length in range(_LONGEST, 0, -1):
        rule = framed[:length]
        if rule in _RULES:
            return len(rule.strip("^$")), _RULES[rule].split()
        if place == 0 and rule[1:] in _RULES and len(rule) > 1:
            return len(rule[1:].strip("$")), _RULES[rule[1:]].split()
    if letter not in _SHORT:
        return 1, []
    is_open = len(rest) > 2 and rest[1] not in _SHORT and rest[2] in _SHORT and place < 2
    return 1, [_LONG[letter] if is_open else _SHORT[letter]]


def _stressed(phones: list[str], word: str) -> list[str]:
    """Put the main stress on one vowel; unstressed short vowels become the neutral one."""
    vowels = [place for place, phone in enumerate(phones) if is_vowel(phone)]
    if not vowels:
        return phones
    ending = _STRESS_BEFORE.search(word)
    syllables = len(_VOWEL_LETTERS.findall(ending.group().removesuffix("e"))) if ending else 0
    if ending and ending.group() in ("tion", "tions", "sion", "cian", "ial", "ious"):
        syllables = 1
    main = vowels[-1 - syllables] if ending and len(vowels) > syllables else vowels[0]
    marked = list(phones)
    for place in vowels:
        weak = phones[place] in ("AE", "EH", "AA", "AH", "OW") and place != vowels[-1]
        marked[place] = f"{phones[place]}1" if place == main else f"{'AH' if weak else phones[place]}0"
    return marked
