"""Tokens of coded speech, and files of them: compact, versioned, checksummed; a bad file is refused, never guessed at.

A token file is: 4 letters, version, number of levels, bits and number of codes of each level, the codec's fingerprint
(8 bytes), sample rate, samples and frames of the recording, its level, the codes frame by frame in as few bits as they
need, a side vector where the codec has one, a checksum of all that (8 bytes). Numbers are little-endian. It holds no
name, text, speaker or date.
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import PersonareError
from personare.core.files import write_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAGIC, VERSION = b"PNTK", 1
SUFFIX = ".pntk"
FINGERPRINT_BYTES = 8
_CHECKSUM_BYTES = 8
_NUMBERS = struct.Struct("<IQIhH")  # sample rate, samples, frames, level in hundredths of a decibel, side numbers
MAX_LEVELS, MAX_BITS = 32, 24
_MAX_FRAMES = 1 << 28
_NO_LEVEL = -32768


class TokenError(PersonareError):
    """Tokens or a token file that cannot be used: broken, of another codec, or with impossible values."""


@dataclass(frozen=True, eq=False)
class Tokens:
    """Coded speech of one channel.

    Parameters
    ----------
    codes : int32 [frames, levels], the first level first.
    code_counts : how many codes each level has to choose from.
    fingerprint : 16 hexadecimal digits that name the exact codec; only that codec can decode them.
    rate_hz, samples : of the recording that was coded.
    level_db : its level (active root mean square against full scale); NaN where it is not kept.
    vector : numbers that go with the whole recording, e.g. FaCodec's timbre; None where there are none.
    """

    codes: NDArray[np.int32]
    code_counts: tuple[int, ...]
    fingerprint: str
    rate_hz: int
    samples: int
    level_db: float = math.nan
    vector: NDArray[np.float32] | None = None

    def __post_init__(self) -> None:
        if self.codes.ndim != 2 or self.codes.shape[1] != len(self.code_counts) or not self.code_counts:
            raise TokenError(f"codes must be [frames, {len(self.code_counts)} levels], not {list(self.codes.shape)}")
        if not len(self.codes):
            raise TokenError("tokens need at least one frame")
        for level, count in enumerate(self.code_counts):
            low, high = int(self.codes[:, level].min()), int(self.codes[:, level].max())
            if not 0 <= low <= high < count:
                raise TokenError(f"level {level} has codes {low} to {high}; they must be 0 to {count - 1}")
        if self.samples < 0 or self.rate_hz < 1:
            raise TokenError(f"samples and rate must not be negative, not {self.samples} and {self.rate_hz} Hz")

    @property
    def levels(self) -> int:
        """How many levels there are."""
        return len(self.code_counts)

    def kept(self, levels: int) -> Tokens:
        """Keep the first ``levels`` levels; with C0 alone the level is dropped, with fewer than all the vector."""
        if not 1 <= levels <= self.levels:
            raise TokenError(f"these tokens have levels 1 to {self.levels}, not {levels}")
        level_db = self.level_db if levels > 1 else math.nan
        codes = np.ascontiguousarray(self.codes[:, :levels])
        vector = self.vector if levels == self.levels else None
        counts = self.code_counts[:levels]
        return Tokens(codes, counts, self.fingerprint, self.rate_hz, self.samples, level_db, vector)


def bits_of(code_counts: Sequence[int]) -> tuple[int, ...]:
    """How many bits a code of each level takes.

    >>> bits_of([16384, 1024])
    (14, 10)
    """
    return tuple(max(1, math.ceil(math.log2(count))) for count in code_counts)


def bit_rate(code_counts: Sequence[int], frame_rate_hz: float) -> float:
    """Bits per second of the codes.

    >>> bit_rate([16384], 25), bit_rate([16384, 1024, 1024, 1024, 1024, 1024], 25)
    (350.0, 1600.0)
    """
    return float(frame_rate_hz) * sum(bits_of(code_counts))


def encode_file(tokens: Tokens) -> bytes:
    """Give the bytes of a token file."""
    bits = bits_of(tokens.code_counts)
    side = b"" if tokens.vector is None else np.asarray(tokens.vector, "<f4").tobytes()
    level = _NO_LEVEL if math.isnan(tokens.level_db) else max(-32767, min(32767, round(100 * tokens.level_db)))
    head = MAGIC + bytes([VERSION, tokens.levels])
    head += b"".join(struct.pack("<BI", width, count) for width, count in zip(bits, tokens.code_counts, strict=True))
    head += bytes.fromhex(tokens.fingerprint)
    head += _NUMBERS.pack(tokens.rate_hz, tokens.samples, len(tokens.codes), level, len(side) // 4)
    columns = [(tokens.codes[:, level, None] >> np.arange(width - 1, -1, -1)) & 1 for level, width in enumerate(bits)]
    body = np.packbits(np.concatenate(columns, axis=1).astype(np.uint8).reshape(-1)).tobytes() + side
    return head + body + _checksum(head + body)


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_CHECKSUM_BYTES, person=b"personare-tokens").digest()


def decode_file(content: bytes, *, where: str) -> Tokens:
    """Read the bytes of a token file; anything that is not exactly one is refused."""
    if content[: len(MAGIC)] != MAGIC:
        raise TokenError(f"{where}: not a token file; make one with: personare codec encode")
    if len(content) < 6 or content[4] != VERSION:
        version = content[4] if len(content) > 4 else "none"
        raise TokenError(f"{where}: token file of version {version}; this program reads version {VERSION}")
    if len(content) < 6 + _CHECKSUM_BYTES or _checksum(content[:-_CHECKSUM_BYTES]) != content[-_CHECKSUM_BYTES:]:
        raise TokenError(f"{where}: the checksum does not fit (the file is cut short or changed); copy it again")
    levels = content[5]
    start = 6 + 5 * levels
    head = start + FINGERPRINT_BYTES + _NUMBERS.size
    if not 1 <= levels <= MAX_LEVELS or len(content) < head + _CHECKSUM_BYTES:
        raise TokenError(f"{where}: impossible number of levels {levels}")
    pairs = [struct.unpack_from("<BI", content, 6 + 5 * level) for level in range(levels)]
    bits, counts = tuple(width for width, _ in pairs), tuple(count for _, count in pairs)
    if any(not 2 <= count <= 1 << MAX_BITS for count in counts) or bits != bits_of(counts):
        raise TokenError(f"{where}: impossible numbers of codes {list(counts)} in {list(bits)} bits")
    rate_hz, samples, frames, level, side = _NUMBERS.unpack_from(content, start + FINGERPRINT_BYTES)
    body = content[head:-_CHECKSUM_BYTES]
    if not 1 <= frames <= _MAX_FRAMES or len(body) != -(-frames * sum(bits) // 8) + 4 * side:
        raise TokenError(f"{where}: {len(body)} bytes of codes do not make {frames} frames")
    fingerprint = content[start : start + FINGERPRINT_BYTES].hex()
    level_db = math.nan if level == _NO_LEVEL else level / 100
    vector = np.frombuffer(body[len(body) - 4 * side :], "<f4").astype(np.float32) if side else None
    codes = _unpacked(body[: len(body) - 4 * side], frames, bits)
    return Tokens(codes, counts, fingerprint, rate_hz, samples, level_db, vector)


def _unpacked(body: bytes, frames: int, bits: Sequence[int]) -> NDArray[np.int32]:
    rows = np.unpackbits(np.frombuffer(body, np.uint8), count=frames * sum(bits)).reshape(frames, sum(bits))
    edges = np.concatenate([[0], np.cumsum(bits)])
    columns = [
        rows[:, edges[level] : edges[level + 1]].astype(np.int32) @ (1 << np.arange(width - 1, -1, -1, dtype=np.int32))
        for level, width in enumerate(bits)
    ]
    return np.ascontiguousarray(np.stack(columns, axis=1), dtype=np.int32)


def write_tokens(path: Path, tokens: Tokens) -> None:
    """Write a token file atomically."""
    write_bytes(path, encode_file(tokens))


def read_tokens(path: Path) -> Tokens:
    """Read a token file."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise TokenError(f"{path}: no such file") from None
    except OSError as error:
        raise TokenError(f"{path}: cannot be read ({error.strerror})") from None
    return decode_file(content, where=str(path))
