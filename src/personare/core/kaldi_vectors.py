"""Kaldi's vector archives: binary and text ``.ark`` files, and ``.scp`` lists that point into them.

An archive is a row of entries ``id`` blank vector. Binary vectors begin with NUL B, then ``FV `` (single precision) or
``DV `` (double), then the byte 4, the length as 32 bits little-endian, and the numbers; text vectors are ``[ 1 2 3 ]``.
A list has lines ``id file:offset``. Kaldi runs commands that a list may hold; here they are refused: nothing is run.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from personare.core.errors import TableError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = dict[str, NDArray[np.float32]]

KINDS = {b"FV ": ("<f4", 4), b"DV ": ("<f8", 8)}  # numpy's name, bytes per number
LONGEST_ID = 4096


def read_ark(path: Path) -> Vectors:
    """Read all vectors of an archive, by id."""
    found: Vectors = {}
    with _opened(path) as stream:
        while name := _id(stream, path):
            if name in found:
                raise TableError(f"{path}: id '{name}' repeats")
            found[name] = _vector(stream, path, name)
    return found


def read_scp(path: Path) -> Vectors:
    """Read the vectors a list points to; relative files are taken from the list's folder, else the current one."""
    found: Vectors = {}
    streams: dict[Path, BinaryIO] = {}
    try:
        for name, place in _lines(path):
            if name in found:
                raise TableError(f"{path}: id '{name}' repeats")
            file, offset = _place(path, name, place)
            if file not in streams:
                streams[file] = _opened(file)
            streams[file].seek(offset)
            found[name] = _vector(streams[file], file, name)
    finally:
        for stream in streams.values():
            stream.close()
    return found


def read_map(path: Path) -> dict[str, str]:
    """Read a list of two words per line, such as utt2spk."""
    found: dict[str, str] = {}
    for name, value in _lines(path):
        if found.setdefault(name, value) != value:
            raise TableError(f"{path}: '{name}' is listed twice, with '{found[name]}' and '{value}'")
    return found


def _lines(path: Path) -> list[tuple[str, str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise TableError(f"{path}: cannot be read ({error.strerror or error})") from None
    except UnicodeDecodeError:
        raise TableError(f"{path}: is not UTF-8 text") from None
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split(maxsplit=1)
        if len(words) == 1:
            raise TableError(f"{path}: line {number} must hold an id and a value, not '{line.strip()[:60]}'")
        if words:
            rows.append((words[0], words[1].strip()))
    return rows


def _place(path: Path, name: str, place: str) -> tuple[Path, int]:
    """Split ``file:offset``; refuse commands."""
    if place.startswith("|") or place.endswith("|") or place == "-":
        raise TableError(f"{path}: '{name}' is a shell pipe; run it yourself and list the resulting file")
    file, _, offset = place.rpartition(":")
    if not file or not offset.isdigit():
        file, offset = place, "0"
    beside = path.parent / file
    return (beside if beside.is_file() else Path(file)), int(offset)


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise TableError(f"{path}: cannot be read ({error.strerror or error})") from None


def _id(stream: BinaryIO, path: Path) -> str:
    """Read up to the next blank; empty at the end of the file."""
    word = bytearray()
    while letter := stream.read(1):
        if letter in b" \t" and word:
            break
        if letter not in b" \t\r\n":
            word += letter
        if len(word) > LONGEST_ID or letter == b"\0":
            raise TableError(f"{path}: is not a Kaldi archive of vectors")
    else:
        if word:
            raise TableError(f"{path}: ends after the id '{word[:60].decode(errors='replace')}', without a vector")
    try:
        return word.decode()
    except UnicodeDecodeError:
        raise TableError(f"{path}: is not a Kaldi archive of vectors") from None


def _vector(stream: BinaryIO, path: Path, name: str) -> NDArray[np.float32]:
    start = stream.tell()
    if stream.read(2) == b"\0B":
        return _binary_vector(stream, path, name)
    stream.seek(start)
    return _text_vector(stream, path, name)


def _binary_vector(stream: BinaryIO, path: Path, name: str) -> NDArray[np.float32]:
    kind = stream.read(3)
    if kind not in KINDS:
        shown = kind.decode("ascii", errors="replace").strip()
        raise TableError(f"{path}: '{name}' is of kind '{shown}'; only vectors (FV, DV) are read")
    head = stream.read(5)
    if len(head) < 5 or head[0] != 4:
        raise TableError(f"{path}: '{name}' is cut off or damaged")
    dtype, width = KINDS[kind]
    wanted = struct.unpack("<i", head[1:])[0] * width
    there = os.fstat(stream.fileno()).st_size - stream.tell()
    if not 0 < wanted <= there:
        raise TableError(f"{path}: '{name}' is cut off or damaged")
    vector: NDArray[np.float32] = np.frombuffer(stream.read(wanted), dtype=dtype).astype(np.float32)
    return vector


def _text_vector(stream: BinaryIO, path: Path, name: str) -> NDArray[np.float32]:
    line = stream.readline().strip()
    if not line.startswith(b"[") or not line.endswith(b"]"):
        raise TableError(f"{path}: '{name}' is neither a binary vector nor of the form [ 1 2 3 ]")
    try:
        vector = np.array(line[1:-1].split(), dtype=np.float64).astype(np.float32)
    except ValueError:
        raise TableError(f"{path}: '{name}' holds something that is not a number") from None
    if not len(vector):
        raise TableError(f"{path}: '{name}' is empty")
    return vector
