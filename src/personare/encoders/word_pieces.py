"""Word pieces of the recognizers: read from Moonshine's file, and joined to text or to words with a confidence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from personare.core.errors import WeightsError

START, END = 1, 2
_FIRST_SPECIAL = 32_000  # the vocabulary's last 768 entries are marks, not text
_SPACE = "\u2581"
_WORD = re.compile(rb"\S+")


@dataclass(frozen=True)
class RecognizedWord:
    """A word as written, with its capitals and marks, the probability of its least likely piece, and its language."""

    text: str
    confidence: float
    language: str = field(default="en", repr=False)


def read_pieces(path: Path) -> tuple[bytes, ...]:
    """Read the word pieces: each is its length in one byte (two from 128 on, low seven bits first), then its bytes."""
    content = path.read_bytes()
    pieces: list[bytes] = []
    place = 0
    while place < len(content):
        length = content[place]
        place += 1
        if length >= 128:
            length = length - 128 + 128 * content[place]
            place += 1
        if place + length > len(content):
            raise WeightsError(f"{path}: word piece {len(pieces)} runs over the end of the file")
        pieces.append(content[place : place + length])
        place += length
    return tuple(pieces)


def text_of(tokens: Sequence[int], pieces: Sequence[bytes]) -> str:
    """Join word pieces; U+2581 stands for a space."""
    joined = b"".join(pieces[t] for t in tokens if END < t < _FIRST_SPECIAL)
    return " ".join(joined.decode("utf-8", errors="replace").replace(_SPACE, " ").split())


def words_of(tokens: Sequence[int], pieces: Sequence[bytes]) -> list[tuple[str, list[int]]]:
    """Put pieces together to words, each with the places of its pieces among ``tokens``.

    >>> words_of([3, 4, 5], [b"", b"", b"", "\u2581an".encode(), b"na", "\u2581came".encode()])
    [('anna', [0, 1]), ('came', [2])]
    """
    words: list[tuple[bytes, list[int]]] = []
    space = _SPACE.encode()
    for place, token in enumerate(tokens):
        if not END < token < _FIRST_SPECIAL:
            continue
        piece = pieces[token]
        if piece.startswith(space) or not words:
            words.append((piece.removeprefix(space), [place]))
        else:
            words[-1] = (words[-1][0] + piece, [*words[-1][1], place])
    texts = ((content.decode("utf-8", errors="replace").strip(), places) for content, places in words)
    return [(text, places) for text, places in texts if text]


def spaced_words(pieces: Sequence[bytes], probabilities: Sequence[float]) -> list[RecognizedWord]:
    """Split joined pieces at white space; a character may be spread over several pieces.

    >>> spaced_words([b" an", b"na", b" came "], [0.9, 0.5, 0.8])
    [RecognizedWord(text='anna', confidence=0.5), RecognizedWord(text='came', confidence=0.8)]
    """
    piece_of = [place for place, piece in enumerate(pieces) for _ in piece]
    words = []
    for match in _WORD.finditer(b"".join(pieces)):
        confidence = min(probabilities[place] for place in piece_of[match.start() : match.end()])
        texts = match.group().decode("utf-8", errors="replace").split()  # white space that is not ASCII
        words += [RecognizedWord(text, confidence) for text in texts]
    return words
