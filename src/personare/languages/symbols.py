"""Kokoro's phoneme symbols: the set its network accepts, and the way from IPA of espeak-ng to it."""

from __future__ import annotations

import re
import unicodedata

from personare.core.errors import ConfigError

SYMBOLS = frozenset(
    '$;:,.!?—…"()“” \u0303ʣʥʦʨᵝꭧAIOQSTWYᵊ'
    "abcdefhijklmnopqrstuvwxyzɑɐɒæβɔɕçɖðʤəɚɛɜɟɡɥɨɪʝɯɰŋɳɲɴøɸθœɹɾɻʁɽʂʃʈʧʊʋʌɣɤχʎʒʔˈˌːʰʲ↓→↗↘ᵻ"
)
"""Every symbol of the tokenizer shipped with the model ``kokoro``; a test compares the two."""
PAUSES = ",.;:!?"
VOWELS = "aeiouyæɐɑɒɔəɚɛɜɨɪʊʌøœɯɤᵻAIOQWY"

# Kokoro writes diphthongs and affricates with one symbol; espeak-ng joins their parts with "^"
_JOINED = {
    **{"aɪ": "I", "aʊ": "W", "eɪ": "A", "oʊ": "O", "əʊ": "Q", "ɔɪ": "Y"},
    **{"dz": "ʣ", "dʒ": "ʤ", "ss": "S", "ts": "ʦ", "tʃ": "ʧ"},
}


def from_espeak(phonemes: str) -> str:
    """Write IPA of espeak-ng, with ``^`` as tie, in Kokoro's symbols.

    >>> from_espeak("kaˈza d^ʒˈɔkano (en)pˈa^ɪ(it)")
    'kaˈza ʤˈɔkano pˈI'
    """
    plain = re.sub(r"\([a-z^-]+\)", "", unicodedata.normalize("NFD", phonemes).replace("c\u0327", "ç"))
    for parts, symbol in _JOINED.items():
        plain = plain.replace(f"{parts[0]}^{parts[1]}", symbol)
    return plain.replace("^", "").replace("-", "").replace("g", "ɡ")


def joined(phonemes: str) -> str:
    """Write English diphthongs and affricates of untied IPA with Kokoro's symbols.

    >>> joined("tʃˈaɪld")
    'ʧˈIld'
    """
    for parts in ("aɪ", "aʊ", "eɪ", "oʊ", "əʊ", "ɔɪ", "dʒ", "tʃ"):
        phonemes = phonemes.replace(parts, _JOINED[parts])
    return phonemes


def checked(phonemes: str, *, text: str) -> str:
    """Return the phonemes; a symbol that Kokoro does not have is an error."""
    strange = sorted(set(phonemes) - SYMBOLS)
    if strange:
        raise ConfigError(f"Kokoro has no symbol '{strange[0]}' (U+{ord(strange[0]):04X}), needed to say '{text}'")
    return phonemes
