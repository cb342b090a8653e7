"""One channel of sound: its samples and rate, how it is resampled, and how samples are rounded, once and for all."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from personare.core.errors import AudioError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Blocks = Generator[NDArray[np.float32], None, None]

# one file or one part of it; beyond these limits it is refused in one line, before memory is allocated
RATE_RANGE_HZ = (1_000, 192_000)
MAX_CHANNELS = 32
MAX_SAMPLES = 1 << 31  # of all channels: 37 hours at 16 kHz, 6 hours of 48 kHz stereo; 8 GiB
MAX_EXPANSION = 1_000  # no speech codec comes near: Opus at its lowest rate is 260
_HARMLESS_BYTES = 1 << 29  # as little as this may be all silence
BLOCK_FRAMES = 1 << 20
_GATHERED_FRAMES = 1 << 16


@dataclass(frozen=True, eq=False)
class Audio:
    """One channel of sound.

    Parameters
    ----------
    samples : float32 [frames], finite; full scale is 1.0.
    rate_hz : samples per second.
    """

    samples: NDArray[np.float32]
    rate_hz: int

    def __post_init__(self) -> None:
        if self.samples.ndim != 1 or self.samples.dtype != np.float32:
            raise AudioError(f"samples must be float32 [frames], not {self.samples.dtype} {list(self.samples.shape)}")
        if not RATE_RANGE_HZ[0] <= self.rate_hz <= RATE_RANGE_HZ[1]:
            raise AudioError(f"sample rate {self.rate_hz} Hz is outside {RATE_RANGE_HZ[0]}..{RATE_RANGE_HZ[1]} Hz")

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return len(self.samples) / self.rate_hz


@dataclass(frozen=True)
class AudioFacts:
    """What a file's header says, without reading its samples."""

    rate_hz: int
    channels: int
    frames: int
    encoding: str

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return self.frames / self.rate_hz


def check_expansion(name: str, *, frames: int, channels: int, stored_bytes: int) -> None:
    """Refuse more sound than one file may hold, and a small file that expands to gigabytes.

    >>> check_expansion("a.flac", frames=16_000, channels=1, stored_bytes=20)
    """
    samples = frames * channels
    if samples > MAX_SAMPLES:
        raise AudioError(f"{name}: {samples:,} samples are more than one file may have ({MAX_SAMPLES:,}); split it")
    decoded = 4 * samples
    if decoded > _HARMLESS_BYTES and decoded > MAX_EXPANSION * stored_bytes:
        fold = decoded // max(1, stored_bytes)
        rule = f"{stored_bytes / 1e6:.1f} MB expand {fold:,}-fold to {decoded / 1e9:.1f} GB of sound"
        raise AudioError(f"{name}: {rule}; more than {MAX_EXPANSION:,}-fold is refused: cut the silence, or write wav")


def resample(audio: Audio, rate_hz: int) -> Audio:
    """Change the sample rate (soxr, very high quality); the same rate returns the same Audio."""
    if rate_hz == audio.rate_hz:
        return audio
    import soxr

    samples = soxr.resample(audio.samples, audio.rate_hz, rate_hz, quality="VHQ")
    return Audio(np.ascontiguousarray(samples, dtype=np.float32), rate_hz)


def quantize(samples: NDArray[np.float32], *, bits: Literal[16, 24]) -> NDArray[np.int16] | NDArray[np.int32]:
    """Round to the nearest integer step, halves to even; 1.0 becomes the largest code.

    >>> quantize(np.float32([0.0, 0.5, -1.0, 1.0]), bits=16).tolist()
    [0, 16384, -32768, 32767]
    """
    scale = 1 << (bits - 1)
    codes = np.clip(np.rint(samples.astype(np.float64) * scale), -scale, scale - 1)
    # libsndfile takes 24-bit samples left-aligned in 32
    return codes.astype(np.int16) if bits == 16 else (codes.astype(np.int32) << 8)


def between(blocks: Iterable[NDArray[np.float32]], first: int, last: int | None) -> Blocks:
    """Give the frames from ``first`` to ``last`` of blocks; the others are decoded all the same."""
    at = 0
    for block in blocks:
        part = block[max(0, first - at) : None if last is None else max(0, last - at)]
        at += len(block)
        if len(part):
            yield part


def gathered(blocks: Iterable[NDArray[np.float32]]) -> Blocks:
    """Join the short blocks of a decoder to longer ones."""
    waiting: list[NDArray[np.float32]] = []
    count = 0
    for block in blocks:
        waiting.append(block)
        count += len(block)
        if count >= _GATHERED_FRAMES:
            yield np.concatenate(waiting)
            waiting, count = [], 0
    if waiting:
        yield np.concatenate(waiting)
