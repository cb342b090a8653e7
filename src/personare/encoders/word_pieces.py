"""The word pieces that Moonshine writes: read from its file, and put together to text or to words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from personare.core.errors import WeightsError

START, END = 1, 2
_FIRST_SPECIAL = 32_000  # the vocabulary's last 768 entries are marks, not text
_SPACE = "\u2581"


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
