"""espeak-ng by ctypes: the reference for our pronunciation rules; needs the extra ``espeak`` (GPL-3.0).

Nothing else uses it: personare pronounces text by its own rules.
"""

from __future__ import annotations

import ctypes
import re
from functools import lru_cache

from personare.core.errors import ConfigError, MissingExtraError, did_you_mean
from personare.languages.symbols import from_espeak

VOICES = {"de": "de", "es": "es", "fr": "fr", "it": "it", "pt": "pt-br"}
_RETRIEVAL, _UTF8, _IPA_WITH_TIES = 2, 1, 0x02 | 0x80 | ord("^") << 8
_CLAUSE = re.compile(r"([^,.;:!?]+)([,.;:!?]*)")
_LACKING = {"ʏ": "y"}  # sounds that Kokoro has no symbol for


def espeak_phonemes(text: str, *, code: str) -> str:
    """Give the phonemes of espeak-ng in Kokoro's symbols, with the pauses of the text."""
    if code not in VOICES:
        raise ConfigError(f"espeak-ng is set up for other languages than '{code}'; {did_you_mean(code, VOICES)}")
    library = _library()
    library.espeak_SetVoiceByName(VOICES[code].encode())
    clauses = []
    for words, mark in _CLAUSE.findall(text):
        phonemes = from_espeak(_phonemes(library, words.strip(" ¿¡")))
        for symbol, nearest in _LACKING.items():
            phonemes = phonemes.replace(symbol, nearest)
        clauses.append(phonemes.strip() + mark[:1])
    return " ".join(clauses)


def _phonemes(library: ctypes.CDLL, words: str) -> str:
    pointer = ctypes.c_char_p(words.encode())
    parts = []
    while pointer.value is not None:
        part: bytes | None = library.espeak_TextToPhonemes(ctypes.byref(pointer), _UTF8, _IPA_WITH_TIES)
        parts.append((part or b"").decode())
    return " ".join(part for part in parts if part)


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL:
    try:
        import espeakng_loader
    except ImportError:
        raise MissingExtraError("espeak", "the comparison with espeak-ng") from None
    library = ctypes.CDLL(espeakng_loader.get_library_path())
    library.espeak_TextToPhonemes.restype = ctypes.c_char_p
    library.espeak_TextToPhonemes.argtypes = [ctypes.POINTER(ctypes.c_char_p), ctypes.c_int, ctypes.c_int]
    library.espeak_Initialize(_RETRIEVAL, 0, espeakng_loader.get_data_path().encode(), 0)
    return library
