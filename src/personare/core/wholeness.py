"""Whether a recording is whole: a file that was cut short is a failure, not a shorter recording.

libsndfile and libav return what is left of a truncated file without an error. Most containers say somewhere how long
they are, or mark their end; this file reads only that: RIFF, RF64, W64, AIFF, AU, CAF, Ogg (RFC 3533), MP3 with its
Xing header or frame by frame, MP4, AVI, ASF (wma), AAC in ADTS frames, and Matroska (mka, mkv, webm: core.matroska).
FLAC is checked by its decoder. The others (amr, ac3, ape, sph, flv, MPEG streams) are not checked.
"""

from __future__ import annotations

import contextlib
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from personare.core import matroska
from personare.core.errors import AudioError

OPEN_ENDED = 0x7FFF0000  # a WAV size from here on means "until the pipe ends"
_UNKNOWN32 = 0xFFFFFFFF
_NEAR = 1 << 16
_CUT = -1  # bytes promised by a container that lacks its end, but does not say how much


def refuse_cut(source: Path | BinaryIO, name: str) -> None:
    """Refuse a file that ends before its container says; what is no known container is left to the decoders."""
    with contextlib.ExitStack() as stack:
        try:
            stream = stack.enter_context(source.open("rb")) if isinstance(source, Path) else source
            size = stream.seek(0, os.SEEK_END)
            stream.seek(0)
            head = stream.read(16)
            lacking = _lacking(stream, size, head) if len(head) == 16 else None
        except (OSError, struct.error):  # told by the decoder, in its own words
            lacking = None
        finally:
            if not isinstance(source, Path):
                source.seek(0)
    if lacking == _CUT:
        raise AudioError(f"{name}: cut short (the end of the sound is missing)")
    if lacking is not None:
        raise AudioError(f"{name}: cut short ({lacking} bytes are missing)")


def _lacking(stream: BinaryIO, size: int, head: bytes) -> int | None:
    """How many bytes are missing; None where none are, or nobody can tell."""
    for fits, ends in _CONTAINERS:
        if fits(head):
            end = ends(stream, size)
            return end if end == _CUT else (end - size if end is not None and end > size else None)
    return None


def _riff_end(stream: BinaryIO, size: int) -> int | None:
    """RIFF and RF64: the chunk ``data``; programs that write into a pipe leave 0 or a size near the limit there."""
    place, long_size = 12, None
    while place + 8 <= size:
        stream.seek(place)
        name, promised = struct.unpack("<4sI", stream.read(8))
        if name == b"ds64":
            _, long_size = struct.unpack("<QQ", stream.read(16))
        if name == b"data":
            if long_size is not None and promised == _UNKNOWN32:
                return place + 8 + int(long_size)
            return place + 8 + int(promised) if promised < OPEN_ENDED else None
        place += 8 + promised + promised % 2
    return None


def _w64_end(stream: BinaryIO, size: int) -> int | None:
    """Sony Wave64: chunks of a 16-byte name and a length that counts its own head, each at a multiple of 8."""
    place = 40
    while place + 24 <= size:
        stream.seek(place)
        name, length = struct.unpack("<4s12xQ", stream.read(24))
        if name == b"data":
            return place + int(length)
        if length < 24:
            return None
        place += length + -length % 8
    return None


def _aiff_end(stream: BinaryIO, size: int) -> int | None:
    place = 12
    while place + 8 <= size:
        stream.seek(place)
        name, length = struct.unpack(">4sI", stream.read(8))
        if name == b"SSND":
            return place + 8 + int(length)
        place += 8 + length + length % 2
    return None


def _au_end(stream: BinaryIO, _size: int) -> int | None:
    stream.seek(0)
    order = ">" if stream.read(4) == b".snd" else "<"
    begin, length = struct.unpack(f"{order}II", stream.read(8))
    return None if length == _UNKNOWN32 else int(begin + length)


def _caf_end(stream: BinaryIO, size: int) -> int | None:
    place = 8
    while place + 12 <= size:
        stream.seek(place)
        name, length = struct.unpack(">4sq", stream.read(12))
        if length < 0:
            return None
        if name == b"data":
            return place + 12 + int(length)
        place += 12 + length
    return None


def _mp4_end(stream: BinaryIO, size: int) -> int | None:
    """MP4 and QuickTime: boxes one after the other; size 0 means to the end of the file."""
    place = 0
    while place + 8 <= size:
        stream.seek(place)
        length, _name = struct.unpack(">I4s", stream.read(8))
        if length == 1:
            (length,) = struct.unpack(">Q", stream.read(8))
        if length < 8:
            return None
        place += length
    return int(place)


def _avi_end(stream: BinaryIO, size: int) -> int | None:
    """AVI: RIFF chunks one after the other; a size of 0, or near the limit, was never filled in."""
    place = 0
    while place + 12 <= size:
        stream.seek(place)
        name, length = struct.unpack("<4sI", stream.read(8))
        if name != b"RIFF" or not 0 < length < OPEN_ENDED:
            return None
        place += 8 + length + length % 2
    return int(place)


_ASF_PROPERTIES = bytes.fromhex("a1dcab8c47a9cf118ee400c00c205365")


def _asf_end(stream: BinaryIO, _size: int) -> int | None:
    """ASF: the file size in its file properties object, unless a flag says that it was broadcast."""
    stream.seek(0)
    head = stream.read(_NEAR)
    at = head.find(_ASF_PROPERTIES)
    if at < 0 or len(head) < at + 92:
        return None
    (length,), (flags,) = struct.unpack_from("<Q", head, at + 40), struct.unpack_from("<I", head, at + 88)
    return None if flags & 1 or not length else int(length)


def _adts_end(stream: BinaryIO, size: int) -> int | None:
    """AAC in ADTS frames, each with its length (ISO 13818-7, 6.2), one after the other."""
    place = 0
    while place + 6 <= size:
        stream.seek(place)
        head = stream.read(6)
        length = (int.from_bytes(head[3:6], "big") >> 5) & 0x1FFF
        if head[0] != 0xFF or head[1] & 0xF6 != 0xF0 or length < 7:  # tags at the end
            return None
        place += length
    return place if place >= size else _CUT


def _matroska_end(stream: BinaryIO, size: int) -> int | None:
    missing = matroska.missing_bytes(stream, size)
    return _CUT if missing is True else size + missing


def _ogg_end(stream: BinaryIO, size: int) -> int | None:
    """Ogg: every logical stream ends with a page that says so; the last page must be whole."""
    place = 0
    open_streams: set[bytes] = set()
    while place + 27 <= size:
        stream.seek(place)
        head = stream.read(27)
        if head[:4] != b"OggS":
            break
        body = sum(stream.read(head[26]))
        serial = head[14:18]
        (open_streams.discard if head[5] & 4 else open_streams.add)(serial)
        place += 27 + head[26] + body
        if place > size:
            return _CUT
    return _CUT if open_streams else None


_MP3_KBITS = {
    (1, 1): (0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448),
    (1, 2): (0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384),
    (1, 3): (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (2, 1): (0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256),
    (2, 2): (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
    (2, 3): (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
_MP3_RATES_HZ = {3: (44_100, 48_000, 32_000), 2: (22_050, 24_000, 16_000), 0: (11_025, 12_000, 8_000)}


def mp3_frame_bytes(head: bytes) -> int | None:
    """Give the length of the MPEG audio frame that four bytes begin; None where they begin none (ISO 11172-3, 2.4.3).

    >>> mp3_frame_bytes(bytes.fromhex("fffb90c4"))
    417
    """
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return None
    version, layer = (head[1] >> 3) & 3, 4 - ((head[1] >> 1) & 3)
    bits, rate, padding = head[2] >> 4, (head[2] >> 2) & 3, (head[2] >> 1) & 1
    if version == 1 or layer == 4 or rate == 3 or bits in (0, 15):
        return None
    kbits = _MP3_KBITS[1 if version == 3 else 2, layer][bits]
    rate_hz = _MP3_RATES_HZ[version][rate]
    if layer == 1:
        return (12_000 * kbits // rate_hz + padding) * 4
    return (72_000 if layer == 3 and version != 3 else 144_000) * kbits // rate_hz + padding


def _after_tag(head: bytes) -> int:
    """Where the sound of an MP3 begins: behind the ID3 tag, where its first ten bytes are those of one."""
    if head[:3] != b"ID3":
        return 0
    return 10 + sum((byte & 0x7F) << shift for byte, shift in zip(head[6:10], (21, 14, 7, 0), strict=True))


def lacks_mp3_frames(path: Path) -> bool:
    """Whether no MPEG frame begins near the start of a file, nor any container that has only the name of an MP3.

    libsndfile looks for one all the same, and its decoder writes about it on standard error without naming the file.
    """
    try:
        with path.open("rb") as stream:
            head = stream.read(16)
            stream.seek(_after_tag(head))
            near = stream.read(_NEAR)
    except OSError:  # told by the decoder, in its own words
        return False
    if head[:4] == b"fLaC" or any(fits(head) for fits, _ in _CONTAINERS[:-1]):
        return False
    return all(mp3_frame_bytes(near[i : i + 4]) is None for i in range(len(near)) if near[i] == 0xFF)


def _mp3_end(stream: BinaryIO, size: int) -> int | None:
    """MP3: what the Xing or Info header in the first frame says, else frame by frame to the last one."""
    stream.seek(0)
    place = _after_tag(stream.read(10))
    stream.seek(place)
    first = stream.read(64)
    for mark in (b"Xing", b"Info"):
        at = first.find(mark)
        if 0 < at <= 48 and first[at + 7] & 3 == 3 and len(first) >= at + 16:
            return place + int.from_bytes(first[at + 12 : at + 16], "big")
    while place + 4 <= size:
        stream.seek(place)
        length = mp3_frame_bytes(stream.read(4))
        if length is None:  # tags at the end, or no frames at all
            return None
        place += length
    return place


_CONTAINERS: tuple[tuple[Callable[[bytes], bool], Callable[[BinaryIO, int], int | None]], ...] = (
    (lambda head: head[:4] in (b"RIFF", b"RF64") and head[8:12] == b"WAVE", _riff_end),
    (lambda head: head[:4] == b"riff" and head[4:8] == b"\x2e\x91\xcf\x11", _w64_end),
    (lambda head: head[:4] == b"FORM" and head[8:12] in (b"AIFF", b"AIFC"), _aiff_end),
    (lambda head: head[:4] in (b".snd", b"dns."), _au_end),
    (lambda head: head[:4] == b"caff", _caf_end),
    (lambda head: head[:4] == b"OggS", _ogg_end),
    (lambda head: head[4:8] == b"ftyp", _mp4_end),
    (lambda head: head[:4] == matroska.MAGIC, _matroska_end),
    (lambda head: head[:4] == b"RIFF" and head[8:12] == b"AVI ", _avi_end),
    (lambda head: head[:4] == b"\x30\x26\xb2\x75", _asf_end),
    (lambda head: head[0] == 0xFF and head[1] & 0xF6 == 0xF0, _adts_end),
    (lambda head: head[:3] == b"ID3" or mp3_frame_bytes(head[:4]) is not None, _mp3_end),
)
