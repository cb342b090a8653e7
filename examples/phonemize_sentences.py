"""Spells the demo sentences in the sounds the offline voices read, so that nobody needs a phonemizer to run them.

Run it after changing the text of a sentence; it rewrites the two phoneme columns and leaves the text alone:

    pip install espeakng-loader==0.2.4
    python examples/phonemize_sentences.py src/personare/corpora/voices/sentences.tsv

espeak-ng gives IPA with ties (a^ɪ); Kokoro was trained on one letter per diphthong and affricate, hence the tables.
"""

from __future__ import annotations

# ruff: noqa: RUF001 - phonetic letters look like others on purpose
import ctypes
import re
import sys
from pathlib import Path

import espeakng_loader  # type: ignore[import-not-found, unused-ignore]
import polars as pl

from personare.core.tables import read_frame, write_frame

TIE = "^"
VOICES = {"american": "gmw/en-US", "british": "gmw/en"}
# longest first: "ə^ʊ" must be read before "ʊ" could be
BOTH = {
    "a^ɪ": "I",
    "a^ʊ": "W",
    "e^ɪ": "A",
    "ɔ^ɪ": "Y",
    "d^ʒ": "ʤ",
    "t^ʃ": "ʧ",
    "ə^l": "ᵊl",
    "ɐ": "ə",
    "r": "ɹ",
    "ʔ": "t",
}
ONLY = {
    "american": {"o^ʊ": "O", "ɚɹ": "əɹ", "ɚ": "əɹ", "ɜːɹ": "ɜɹ", "ɜː": "ɜɹ", "ɪə": "iə", "ɾ": "T", "ː": ""},
    "british": {"ə^ʊ": "Q", "e^ə": "ɛː", "iə": "ɪə", "ɾ": "t"},
}
_UTF8, _IPA, _TIED, _NO_AUDIO = 1, 0x02, 0x80, 0x02


def open_espeak() -> ctypes.CDLL:
    """Load the espeak-ng library with its own dictionaries."""
    library = ctypes.CDLL(espeakng_loader.get_library_path())
    library.espeak_TextToPhonemes.restype = ctypes.c_char_p
    if library.espeak_Initialize(_NO_AUDIO, 0, str(espeakng_loader.get_data_path()).encode(), 0) < 0:
        raise SystemExit("espeak-ng does not start; reinstall espeakng-loader")
    return library


def ipa_of(library: ctypes.CDLL, clause: str) -> str:
    """Spell one clause without punctuation in IPA, ties as '^'."""
    buffer = ctypes.create_string_buffer(clause.encode())  # must outlive the pointer that walks along it
    pointer = ctypes.c_void_p(ctypes.addressof(buffer))
    mode = _IPA | _TIED | (ord(TIE) << 8)
    parts = []
    while pointer.value:
        parts.append(library.espeak_TextToPhonemes(ctypes.byref(pointer), _UTF8, mode).decode())
    return " ".join(part.strip() for part in parts)


def kokoro_of(ipa: str, accent: str) -> str:
    """Rewrite IPA with ties in Kokoro's symbols."""
    for table in (BOTH, ONLY[accent]):
        for old, new in sorted(table.items(), key=lambda pair: -len(pair[0])):
            ipa = ipa.replace(old, new)
    ipa = re.sub("(\\S)\u0329", "ᵊ\\1", ipa)
    return ipa.replace("o", "ɔ").replace(TIE, "")


def phonemes_of(library: ctypes.CDLL, text: str, accent: str) -> str:
    """Spell a sentence; commas and the closing mark stay, for they carry the melody."""
    if library.espeak_SetVoiceByName(VOICES[accent].encode()) != 0:
        raise SystemExit(f"espeak-ng has no voice '{VOICES[accent]}'; install espeakng-loader 0.2.4")
    clauses = re.findall(r"([^,.?!]+)([,.?!])\s*", text)
    return " ".join(kokoro_of(ipa_of(library, clause), accent) + mark for clause, mark in clauses)


def main(path: Path) -> None:
    """Rewrite the phoneme columns of the table at ``path``."""
    library = open_espeak()
    frame = read_frame(path).select("text")
    spelled = {accent: [phonemes_of(library, text, accent) for text in frame["text"]] for accent in VOICES}
    write_frame(frame.with_columns(pl.Series(accent, column) for accent, column in spelled.items()), path)
    print(f"{path}: {len(frame)} sentences spelled in {len(VOICES)} accents")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
