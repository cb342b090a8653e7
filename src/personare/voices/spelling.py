"""Sounds as a network that reads takes them: one symbol for each sound, each symbol a number.

``pronounce`` writes IPA, in which a diphthong or an affricate has two letters and a long vowel a mark. Here each of
them is one symbol, as Kokoro spells American English, so that one symbol has one duration. What is read is said as
one would for somebody who hears badly: a ``t`` between vowels is a ``t`` (``waited``, not ``waded``), and small words
that are easily taken for others (``and``, ``on``, ``I``) have their full vowel and some stress. Other languages are
written in Kokoro's symbols from the start (personare.languages) and need no ``spell``. One table numbers the symbols
of all languages, the English ones first.
"""

from __future__ import annotations

import re

from personare.core.errors import ConfigError

_JOINED = {
    **{"eɪ": "A", "aɪ": "I", "oʊ": "O", "aʊ": "W", "ɔɪ": "Y", "dʒ": "ʤ", "tʃ": "ʧ"},
    **{"ɚ": "əɹ", "ɜː": "ɜɹ", "ː": "", "ɐ": "ə", "ɾ": "t"},
}
_IN_FULL = {"ənd": "ˌænd", "ɑn": "ˌɑn", "I": "ˌI"}
_MARKS, _STRESS = " ,.;:?!", "ˈˌ"
# the shipped reader has learnt the flap T, too; nothing is spelled with it any more
_CONSONANTS, _VOWELS = "bdfhjklmnpstvwzðŋɡɹʃʒθʤʧT", "iuæəɑɔɛɜɪʊʌAIOWY"
ENGLISH_SYMBOLS = tuple(f"{_MARKS}{_STRESS}{_CONSONANTS}{_VOWELS}")
# German, French, Spanish, Italian and Portuguese need these as well; a long or nasal vowel is followed by its mark
FURTHER_SYMBOLS = tuple("aeoyøœɐQrɾʁxçɣβɲʎʝʣʦSː\u0303")
SYMBOLS = (*ENGLISH_SYMBOLS, *FURTHER_SYMBOLS)
# the English symbols that sound most like each of the further ones; a reader that is trained on begins with them
_SIMILAR = {
    **{"a": "ɑæ", "e": "Aɛ", "o": "Oɔ", "y": "ui", "ø": "ɜ", "œ": "ɜɛ", "ɐ": "əʌ", "Q": "O", "r": "Tɹ", "ɾ": "T"},
    **{"ʁ": "ɹh", "x": "h", "ç": "ʃh", "ɣ": "ɡ", "β": "vb", "ɲ": "nj", "ʎ": "lj", "ʝ": "j", "ʣ": "dz", "ʦ": "ts"},
    **{"S": "s", "ː": "ˌ", "\u0303": "n"},
}
FRAME = 0  # stands before the first and after the last symbol
SYMBOL_COUNT, ENGLISH_SYMBOL_COUNT = len(SYMBOLS) + 1, len(ENGLISH_SYMBOLS) + 1
_NUMBERS = {symbol: number for number, symbol in enumerate(SYMBOLS, start=FRAME + 1)}


def spell(phonemes: str) -> str:
    """Write IPA as ``pronounce`` gives it with one symbol a sound.

    >>> spell("ˈaʊl bˈɜːd, dʒˈɛnɚɹəl")
    'ˈWl bˈɜɹd, ʤˈɛnəɹɹəl'
    >>> spell("ənd wˈeɪɾɪd")
    'ˌænd wˈAtɪd'
    """
    for letters, symbol in _JOINED.items():
        phonemes = phonemes.replace(letters, symbol)
    return re.sub(rf"[^{re.escape(_MARKS)}]+", lambda word: _IN_FULL.get(word[0], word[0]), phonemes)


def symbol_numbers(spelled: str) -> list[int]:
    """Turn symbols into numbers, framed; a symbol that is none of ours is an error, never left out.

    >>> symbol_numbers(" ,")
    [0, 1, 2, 0]
    """
    strange = sorted(set(spelled) - set(_NUMBERS))
    if strange:
        raise ConfigError(f"there is no symbol '{strange[0]}' (in '{spelled}'); spell it with others")
    return [FRAME, *(_NUMBERS[symbol] for symbol in spelled), FRAME]


def similar_numbers() -> dict[int, tuple[int, ...]]:
    """Give for the number of each further symbol those of the English ones that sound most like it.

    >>> [SYMBOLS[number - 1] for number in similar_numbers()[symbol_numbers("ʦ")[1]]]
    ['t', 's']
    """
    return {_NUMBERS[symbol]: tuple(_NUMBERS[one] for one in _SIMILAR[symbol]) for symbol in FURTHER_SYMBOLS}
