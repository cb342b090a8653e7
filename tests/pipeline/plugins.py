"""Methods of one's own, small but real, as somebody would write them in a file: they are used by name in studies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from personare.core.audio import Audio


@dataclass(frozen=True)
class Hiss:
    """Covers a voice with noise; how loud it is, is drawn for every speaker."""

    level: float = 0.1

    def __call__(self, audio: Audio, *, rng: np.random.Generator) -> Audio:
        """Add noise."""
        gain = self.level * rng.uniform(0.5, 1.0)
        noise = np.random.default_rng(len(audio.samples)).standard_normal(len(audio.samples))
        return Audio(np.clip(audio.samples + gain * noise, -1, 1).astype(np.float32), audio.rate_hz)


@dataclass(frozen=True)
class Bands:
    """The mean power of some frequency bands, in decibels: a poor embedder, but one."""

    bands: int = 24

    @property
    def fingerprint(self) -> str:
        """The exact model."""
        return f"bands-{self.bands}-v1"

    def __call__(self, batch: Sequence[Audio]) -> NDArray[np.float32]:
        """Embed a batch: float32 [len(batch), bands]."""
        rows = []
        for audio in batch:
            power = np.square(np.abs(np.fft.rfft(audio.samples, 4096)))
            rows.append([10 * np.log10(part.mean() + 1e-9) for part in np.array_split(power, self.bands)])
        return np.array(rows, np.float32)


@dataclass(frozen=True)
class Distance:
    """The nearer two vectors are, the more alike; learns nothing."""

    learns: ClassVar[bool] = False

    def fit(self, training: Any, /) -> Any:
        """Give the function that compares."""
        assert training is None
        return _nearness


def _nearness(test: NDArray[np.float32], enroll: NDArray[np.float32]) -> NDArray[np.float64]:
    distances: NDArray[np.float64] = np.linalg.norm(test[:, None].astype(np.float64) - enroll[None], axis=2)
    return -distances
