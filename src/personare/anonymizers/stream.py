"""Anonymizing live: blocks of samples in, blocks of samples out, a moment later.

Only methods that look at short frames can do this; they have ``stream`` and ``latency_samples`` themselves. What
comes out is, bit for bit, what a call on the whole recording gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from personare.anonymizers import ANONYMIZERS
from personare.core.audio import quantize
from personare.core.errors import AudioError, ConfigError

if TYPE_CHECKING:
    from typing import BinaryIO

    from numpy.typing import NDArray

RATES_HZ = (8_000, 48_000)


@runtime_checkable
class Streaming(Protocol):
    """An anonymizer that can work while the voice comes in."""

    def stream(
        self, blocks: Iterable[NDArray[np.float32]], *, rate_hz: int, rng: np.random.Generator
    ) -> Iterator[NDArray[np.float32]]:
        """Anonymize blocks of samples; as many samples come out as went in."""
        ...

    def latency_samples(self, rate_hz: int) -> int:
        """How many more samples must have come in before a sample can go out."""
        ...


def stream(
    blocks: Iterable[NDArray[np.float32]], *, method: object, rate_hz: int, rng: np.random.Generator
) -> Iterator[NDArray[np.float32]]:
    """Anonymize a stream of float32 blocks of any size.

    >>> from personare.anonymizers import anonymizer
    >>> silence = (np.zeros(160, dtype=np.float32) for _ in range(100))
    >>> out = stream(silence, method=anonymizer("mcadams"), rate_hz=16_000, rng=np.random.default_rng(1))
    >>> sum(len(block) for block in out)
    16000
    """
    if not isinstance(method, Streaming):
        name = ANONYMIZERS.name_of(type(method))
        raise ConfigError(f"{name} cannot work on a stream; it must hear the whole. Use: {_streaming_names()}")
    if not RATES_HZ[0] <= rate_hz <= RATES_HZ[1]:
        raise ConfigError(f"sample rate {rate_hz} Hz is outside {RATES_HZ[0]}..{RATES_HZ[1]} Hz")
    return method.stream(blocks, rate_hz=rate_hz, rng=rng)


def pump(source: BinaryIO, sink: BinaryIO, *, method: object, rate_hz: int, rng: np.random.Generator) -> int:
    """Anonymize raw 16-bit little-endian mono samples from ``source`` to ``sink``; give how many there were.

    Half a sample at the end is an error, raised when everything before it has been written.
    """
    count, pcm = 0, _Pcm(source)
    for block in stream(pcm, method=method, rate_hz=rate_hz, rng=rng):
        sink.write(quantize(block, bits=16).astype("<i2").tobytes())
        sink.flush()
        count += len(block)
    if pcm.odd:
        raise AudioError("the stream ends in the middle of a 16-bit sample; is it raw s16le, mono?")
    return count


class _Pcm:
    """Reads what is there, as soon as it is there; a read may end between the two bytes of a sample."""

    def __init__(self, source: BinaryIO) -> None:
        self._read = getattr(source, "read1", source.read)
        self.odd = b""

    def __iter__(self) -> Iterator[NDArray[np.float32]]:
        while chunk := self._read(1 << 16):
            chunk = self.odd + chunk
            even = len(chunk) & ~1
            self.odd = chunk[even:]
            if even:
                yield np.frombuffer(chunk[:even], dtype="<i2").astype(np.float32) / np.float32(32_768)


def _streaming_names() -> str:
    return ", ".join(name for name in ANONYMIZERS.builtin if hasattr(ANONYMIZERS.load(name), "stream"))
