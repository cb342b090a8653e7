"""Whether a Matroska file (mkv, mka, webm) is whole, by its own element sizes (RFC 8794, RFC 9559).

A finished file gives the size of its segment: every missing byte is noticed. A live recording, as browsers write it,
gives no size: its elements are followed one by one, and the last one must be whole. If it states its duration, its last
block must come near that. A live recording that states none and ends exactly between two blocks cannot be told from a
shorter one.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import BinaryIO

MAGIC = b"\x1a\x45\xdf\xa3"
_SEGMENT, _INFO, _CLUSTER = 0x18538067, 0x1549A966, 0x1F43B675
_TOP_LEVEL = frozenset({_INFO, _CLUSTER, 0x114D9B74, 0x1654AE6B, 0x1C53BB6B, 0x1941A469, 0x1043A770, 0x1254C367})
_TIMESTAMP, _SIMPLE_BLOCK, _BLOCK_GROUP, _BLOCK = 0xE7, 0xA3, 0xA0, 0xA1
_SCALE, _DURATION = 0x2AD7B1, 0x4489
_NEAR_S = 0.5  # longer than any block of sound, shorter than a cut worth telling


class _CutError(Exception):
    """The file ends within an element."""


@dataclass(frozen=True)
class _Element:
    id: int
    begin: int  # of its content
    size: int | None  # None: unknown, as in a live recording

    @property
    def end(self) -> int | None:
        return None if self.size is None else self.begin + self.size


@dataclass
class _Times:
    """Times of a segment, in its own ticks; ``last`` is the greatest time of a block."""

    tick_ns: int = 1_000_000
    duration: float | None = None
    cluster: int = 0
    last: int = 0


def missing_bytes(stream: BinaryIO, size: int) -> int | bool:
    """Give how many bytes are missing; True where the end is missing and nothing says how much of it, else False."""
    try:
        head = _element(stream, 0)
        segment = _element(stream, head.end or size)
        if segment.id != _SEGMENT:
            return False
        if segment.end is not None:
            return max(0, segment.end - size)
        times = _Times()
        _follow(stream, segment.begin, size, times)
    except _CutError:
        return True
    lacking_s = ((times.duration or 0.0) - times.last) * times.tick_ns / 1e9
    return lacking_s > _NEAR_S


def _follow(stream: BinaryIO, place: int, size: int, times: _Times) -> None:
    """Read the elements of a segment of unknown size, one after the other; within a cluster, its blocks."""
    while place < size:
        element = _element(stream, place)
        if element.id == _CLUSTER or (element.id == _BLOCK_GROUP and element.size is not None):
            place = element.begin  # look into it; its end needs no care, as elements follow each other
            if element.end is not None and element.end > size:
                raise _CutError
            continue
        if element.end is None:
            if element.id not in _TOP_LEVEL:
                return  # no element that may have an unknown size: left to the decoder
            place = element.begin
            continue
        if element.end > size:
            raise _CutError
        if element.id == _INFO:
            place = element.begin
            continue
        _note(stream, element, times)
        place = element.end


def _note(stream: BinaryIO, element: _Element, times: _Times) -> None:
    """Keep what an element says of times."""
    if element.id in (_TIMESTAMP, _SCALE, _DURATION):
        stream.seek(element.begin)
        content = stream.read(min(element.size or 0, 8))
        if element.id == _DURATION:
            times.duration = struct.unpack(">d" if len(content) == 8 else ">f", content)[0]
        elif element.id == _SCALE:
            times.tick_ns = int.from_bytes(content, "big")
        else:
            times.cluster = int.from_bytes(content, "big")
    elif element.id in (_SIMPLE_BLOCK, _BLOCK) and (element.size or 0) >= 4:
        stream.seek(element.begin)
        head = stream.read(min(element.size or 0, 11))
        track_bytes = _length(head[0], longest=8)
        (after,) = struct.unpack(">h", head[track_bytes : track_bytes + 2])
        times.last = max(times.last, times.cluster + after)


def _element(stream: BinaryIO, place: int) -> _Element:
    """Read the head of the element that begins at ``place``: an id of 1 to 4 bytes, a size of 1 to 8."""
    stream.seek(place)
    head = stream.read(12)
    if not head:
        raise _CutError
    id_bytes = _length(head[0], longest=4)
    if len(head) <= id_bytes:
        raise _CutError
    size_bytes = _length(head[id_bytes], longest=8)
    if len(head) < id_bytes + size_bytes:
        raise _CutError
    written = int.from_bytes(head[id_bytes : id_bytes + size_bytes], "big")
    ones = (1 << (7 * size_bytes)) - 1
    value = written & ones
    begin = place + id_bytes + size_bytes
    return _Element(int.from_bytes(head[:id_bytes], "big"), begin, None if value == ones else value)


def _length(first: int, *, longest: int) -> int:
    """Give the number of bytes of a number that begins so (RFC 8794, 4): one more than its leading zero bits."""
    length = 9 - first.bit_length()
    if length > longest:
        raise struct.error("no EBML number")  # left to the decoder, like any other broken file
    return length
