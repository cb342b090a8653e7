"""From the phones of the dictionary (ARPAbet) to the IPA symbols that American English voices are trained on.

The symbols follow the habits of espeak's ``en-us``, which such voices were trained with: long vowels are marked, the
stress mark stands right before its vowel, ``ɚ`` and ``ɜː`` are vowels, a ``t`` between vowels is flapped.
"""

from __future__ import annotations

from collections.abc import Sequence

_VOWELS = {
    **{"AA": "ɑː", "AE": "æ", "AH": "ʌ", "AO": "ɔː", "AW": "aʊ", "AY": "aɪ", "EH": "ɛ", "ER": "ɜː", "EY": "eɪ"},
    **{"IH": "ɪ", "IY": "iː", "OW": "oʊ", "OY": "ɔɪ", "UH": "ʊ", "UW": "uː"},
}
_UNSTRESSED = {"AH": "ə", "ER": "ɚ", "IY": "i"}
_CONSONANTS = {
    **{"B": "b", "CH": "tʃ", "D": "d", "DH": "ð", "F": "f", "G": "ɡ", "HH": "h", "JH": "dʒ", "K": "k", "L": "l"},
    **{"M": "m", "N": "n", "NG": "ŋ", "P": "p", "R": "ɹ", "S": "s", "SH": "ʃ", "T": "t", "TH": "θ", "V": "v"},
    **{"W": "w", "Y": "j", "Z": "z", "ZH": "ʒ"},
}
_STRESS = {"1": "ˈ", "2": "ˌ"}


def is_vowel(phone: str) -> bool:
    """Whether a phone is a vowel, with or without its stress."""
    return phone[:2] in _VOWELS


def to_ipa(phones: Sequence[str]) -> str:
    """Write one word's phones as IPA.

    >>> to_ipa("W AO1 T ER0".split()), to_ipa("DH AH0".split()), to_ipa("JH EH1 N ER0 AH0 L".split())
    ('wˈɔːɾɚ', 'ðə', 'dʒˈɛnɚɹəl')
    """
    return "".join(_symbol(phones, place) for place in range(len(phones)))


def _symbol(phones: Sequence[str], place: int) -> str:
    phone = phones[place]
    following = phones[place + 1] if place + 1 < len(phones) else ""
    if not is_vowel(phone):
        flapped = phone == "T" and place > 0 and _flaps(phones[place - 1], following)
        return "ɾ" if flapped else _CONSONANTS[phone]
    kind, stress = phone[:2], phone[2:]
    symbol = _VOWELS[kind] if stress in _STRESS else _UNSTRESSED.get(kind, _VOWELS[kind])
    linked = "ɹ" if kind == "ER" and is_vowel(following) else ""
    return _STRESS.get(stress, "") + symbol + linked


def _flaps(before: str, after: str) -> bool:
    """American speakers flap a t after a vowel or r and before an unstressed vowel (``water``, ``party``)."""
    return (is_vowel(before) or before == "R") and is_vowel(after) and after.endswith("0")
