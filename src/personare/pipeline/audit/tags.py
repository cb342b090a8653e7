"""What an audio file carries besides its sound: tags, pictures, chunks of recorders; read byte by byte, nothing run."""

from __future__ import annotations

import struct
from pathlib import Path

_WAV_HARMLESS = {b"fmt ", b"data", b"fact", b"PEAK", b"JUNK", b"ds64", b"pad "}
_AIFF_HARMLESS = {b"COMM", b"SSND", b"FVER", b"PEAK"}
_FLAC_HARMLESS = {0, 1, 3}  # STREAMINFO, PADDING, SEEKTABLE
_FLAC_NAMES = {2: "APPLICATION", 4: "VORBIS_COMMENT", 5: "CUESHEET", 6: "PICTURE"}
_MOST_READ = 1 << 20


def residual_tags(path: Path) -> list[str]:
    """Name every part of a file that is not sound and holds something; an empty list where there is none.

    Unknown containers are told as such: nobody has looked into them.
    """
    with path.open("rb") as stream:
        head = stream.read(_MOST_READ)
    size = path.stat().st_size
    if head[:4] == b"fLaC":
        return _flac(head)
    if head[:4] in (b"RIFF", b"RF64"):
        return [f"chunk {name}" for name in _chunks(path, size, order="<") if name.encode() not in _WAV_HARMLESS]
    if head[:4] == b"FORM":
        return [f"chunk {name}" for name in _chunks(path, size, order=">") if name.encode() not in _AIFF_HARMLESS]
    if head[:4] == b"OggS":
        return _ogg(head)
    if head[:3] == b"ID3" or head[:1] == b"\xff":
        return _mp3(path, head, size)
    return [f"a container that is not known here ({path.suffix or 'no ending'}): look for tags yourself"]


def _flac(head: bytes) -> list[str]:
    found, place, last = [], 4, False
    while not last and place + 4 <= len(head):
        kind, length = head[place] & 0x7F, int.from_bytes(head[place + 1 : place + 4], "big")
        last = bool(head[place] & 0x80)
        block = head[place + 4 : place + 4 + length]
        if kind == 4:
            found += [f"tag {name}" for name in _comments(block)]
        elif kind not in _FLAC_HARMLESS:
            found.append(f"block {_FLAC_NAMES.get(kind, kind)}")
        place += 4 + length
    return found


def _comments(block: bytes) -> list[str]:
    """Names of Vorbis comments: vendor length, vendor, count, then comments of NAME=value (little-endian)."""
    try:
        (vendor,) = struct.unpack_from("<I", block, 0)
        place = 4 + vendor
        (count,) = struct.unpack_from("<I", block, place)
        names = []
        place += 4
        for _ in range(min(count, 10_000)):
            (length,) = struct.unpack_from("<I", block, place)
            names.append(block[place + 4 : place + 4 + length].partition(b"=")[0].decode("utf-8", "replace")[:40])
            place += 4 + length
    except struct.error:
        return ["comments that cannot be read"]
    return [name for name in names if name.upper() != "ENCODER"]


def _ogg(head: bytes) -> list[str]:
    for mark, skip in ((b"\x03vorbis", 7), (b"OpusTags", 8)):
        at = head.find(mark)
        if at >= 0:
            return [f"tag {name}" for name in _comments(head[at + skip :])]
    return []


def _chunks(path: Path, size: int, *, order: str) -> list[str]:
    place = 12
    names: list[str] = []
    with path.open("rb") as stream:
        while place + 8 <= size and len(names) < 1000:
            stream.seek(place)
            name, length = struct.unpack(f"{order}4sI", stream.read(8))
            names.append(name.decode("latin-1"))
            place += 8 + length + length % 2
    return names


def _mp3(path: Path, head: bytes, size: int) -> list[str]:
    found = ["tag ID3v2"] if head[:3] == b"ID3" else []
    with path.open("rb") as stream:
        stream.seek(max(0, size - 128))
        tail = stream.read(128)
    if tail[:3] == b"TAG":
        found.append("tag ID3v1")
    return found + (["tag APE"] if b"APETAGEX" in head or b"APETAGEX" in tail else [])
