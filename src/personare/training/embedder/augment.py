"""Data augmentation: another speed, added noise, babble of other speakers; nothing but numpy.

An embedder trained on clean speech only learns the recording conditions instead of the speaker. No recorded noise is
needed: noise is generated, and the babble is made of the other training speakers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.audio import Audio, resample
from personare.encoders.mels import RATE_HZ

if TYPE_CHECKING:
    from numpy.typing import NDArray

BROWNEST = 2.0  # exponent of the noise's power over frequency: 0 is white, 1 pink, 2 brown
_QUIET = 1e-6


def cropped(samples: NDArray[np.float32], length: int, *, rng: np.random.Generator) -> NDArray[np.float32]:
    """Cut ``length`` samples out at a random place; what is shorter is repeated first.

    >>> cropped(np.float32([1, 2, 3]), 7, rng=np.random.default_rng(3)).tolist()
    [2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0]
    """
    if len(samples) < length:
        samples = np.tile(samples, -(-length // len(samples)) + 1)
    first = int(rng.integers(len(samples) - length + 1))
    return samples[first : first + length]


def at_speed(samples: NDArray[np.float32], speed: float, length: int) -> NDArray[np.float32]:
    """Play faster or slower, as a tape would; gives exactly ``length`` samples (at least speed * length go in)."""
    if speed == 1.0:
        return samples[:length]
    played = resample(Audio(np.ascontiguousarray(samples), round(speed * RATE_HZ)), RATE_HZ).samples
    return np.pad(played[:length], (0, max(0, length - len(played))))


def coloured_noise(length: int, *, rng: np.random.Generator) -> NDArray[np.float32]:
    """Generate noise between white and brown, of level 1."""
    exponent = rng.uniform(0, BROWNEST)
    spectrum = np.fft.rfft(rng.standard_normal(length))
    spectrum[1:] *= np.arange(1, len(spectrum)) ** (-exponent / 2)
    spectrum[0] = 0
    return _of_level_one(np.fft.irfft(spectrum, length))


def babble(speakers: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Mix the speech of several speakers, each at the same level, to level 1; silence stays silent."""
    return _of_level_one(np.sum([_of_level_one(samples) for samples in speakers], axis=0))


def _of_level_one(samples: NDArray[Any]) -> NDArray[np.float32]:
    scaled: NDArray[np.float32] = (samples / max(level(samples), _QUIET)).astype(np.float32)
    return scaled


def level(samples: NDArray[Any]) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(np.square(samples, dtype=np.float64))))


def with_noise(samples: NDArray[np.float32], noise: NDArray[np.float32], snr_db: float) -> NDArray[np.float32]:
    """Add noise of level 1 so that the speech is ``snr_db`` louder than it."""
    return samples + np.float32(level(samples) * 10 ** (-snr_db / 20)) * noise
