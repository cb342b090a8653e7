"""Sounds as a network that reads takes them: one symbol for each sound, each symbol a number.

``pronounce`` writes IPA, in which a diphthong or an affricate has two letters and a long vowel a mark. Here each of
them is one symbol, as Kokoro spells American English, so that one symbol has one duration. What is read is said as
one would for somebody who hears badly: a ``t`` between vowels is a ``t`` (``waited``, not ``waded``), and small words
that are easily taken for others (``and``, ``on``, ``I``) have their full vowel and some stress.
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
SYMBOLS = tuple(f"{_MARKS}{_STRESS}{_CONSONANTS}{_VOWELS}")
FRAME = 0  # stands before the first and after the last symbol
SYMBOL_COUNT = len(SYMBOLS) + 1
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
