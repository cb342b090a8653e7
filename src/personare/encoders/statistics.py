"""Embedders that ignore the voice: statistics of level, pauses, F0 contour and average spectrum as vectors.

Networks trained to tell voices apart learn to ignore loudness, noise floor, pauses and channel. An attacker need not:
where an anonymizer keeps them, they tell people, or at least their recordings, apart.
"""

from __future__ import annotations

import functools
import hashlib
import json
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from personare.core import weights
from personare.encoders import contours, phrases
from personare.encoders.expression.labels import encode_labels, shipped_labels
from personare.encoders.grid import RATE_HZ
from personare.encoders.segments import samples_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.core.audio import Audio

    Floats = NDArray[np.float64]

SCALES = "statistics_scales.json"
MIN_SAMPLES = 1600  # shorter recordings are padded with silence
FARTHEST = 5.0  # no number is further from the usual than so many standard deviations


@dataclass(frozen=True)
class Statistics:
    """What they share: each number in standard deviations from its usual value (original speech of many people).

    The last number is constant: scaling a vector to length 1, as comparisons do, then loses nothing of the others.
    """

    NAME: ClassVar[str]
    VERSION: ClassVar[int] = 1
    DIMENSIONS: ClassVar[int]  # with the constant
    MODELS: ClassVar[tuple[str, ...]] = ()
    paper: ClassVar[str] = ""

    @property
    def fingerprint(self) -> str:
        """The exact statistics, for caches."""
        files = [sha256[:16] for model in self.MODELS for sha256 in weights.known(model).files.values()]
        return "-".join(["statistics", self.NAME, *files, f"v{self.VERSION}"])

    @staticmethod
    @abstractmethod
    def numbers(samples: NDArray[np.float32], /) -> Floats:
        """Give the plain statistics of 16 kHz samples."""

    def __call__(self, batch: Sequence[Audio]) -> NDArray[np.float32]:
        """Embed a batch: float32 [len(batch), DIMENSIONS]."""
        rows = [self._vector(self.numbers(padded(audio))) for audio in batch]
        return np.stack(rows) if rows else np.empty((0, self.DIMENSIONS), np.float32)

    def _vector(self, numbers: Floats) -> NDArray[np.float32]:
        """Put numbers on their usual scale: float32 [DIMENSIONS]."""
        mean, spread = scales(self.NAME)
        vector = np.empty(self.DIMENSIONS, np.float32)
        vector[:-1] = np.clip((numbers - mean) / spread, -FARTHEST, FARTHEST)
        vector[-1] = np.sqrt(self.DIMENSIONS - 1)
        return vector


@dataclass(frozen=True)
class EnergyStatistics(Statistics):
    """Level over time: quantiles, slopes, histogram, modulation spectrum, loudness and noise floor; no model."""

    NAME: ClassVar[str] = "energy"
    DIMENSIONS: ClassVar[int] = 45

    @staticmethod
    def numbers(samples: NDArray[np.float32], /) -> Floats:
        """See ``contours.energy_numbers``."""
        return contours.energy_numbers(samples)


@dataclass(frozen=True)
class RhythmStatistics(Statistics):
    """Durations: speech and pauses at three levels, distances of peaks, silence at both ends; no model."""

    NAME: ClassVar[str] = "rhythm"
    DIMENSIONS: ClassVar[int] = 26

    @staticmethod
    def numbers(samples: NDArray[np.float32], /) -> Floats:
        """See ``contours.rhythm_numbers``."""
        return contours.rhythm_numbers(samples)


@dataclass(frozen=True)
class F0ShapeStatistics(Statistics):
    """The F0 contour: height, range, shape, movement, voiced and unvoiced runs; needs the model swift-f0."""

    NAME: ClassVar[str] = "f0"
    DIMENSIONS: ClassVar[int] = 23
    MODELS: ClassVar[tuple[str, ...]] = ("swift-f0",)

    @staticmethod
    def numbers(samples: NDArray[np.float32], /) -> Floats:
        """See ``contours.f0_numbers``."""
        return contours.f0_numbers(samples)


@dataclass(frozen=True)
class SpectrumStatistics(Statistics):
    """The long-term spectrum of speech and of pauses in 40 bands, and its spread: the channel; no model."""

    NAME: ClassVar[str] = "spectrum"
    DIMENSIONS: ClassVar[int] = 121

    @staticmethod
    def numbers(samples: NDArray[np.float32], /) -> Floats:
        """See ``contours.spectrum_numbers``."""
        return contours.spectrum_numbers(samples)


@dataclass(frozen=True)
class PhraseStatistics(Statistics):
    """F0 and level phrase by phrase, and the contour of the sentence; needs the model swift-f0."""

    NAME: ClassVar[str] = "phrases"
    DIMENSIONS: ClassVar[int] = phrases.N_PHRASES + 1
    MODELS: ClassVar[tuple[str, ...]] = ("swift-f0",)

    @staticmethod
    def numbers(samples: NDArray[np.float32], /) -> Floats:
        """See ``phrases.phrase_numbers``."""
        return phrases.phrase_numbers(samples)


@dataclass(frozen=True)
class SymbolStatistics(Statistics):
    """The symbols that the method ``expressive`` transmits, encoded from a sound again; needs the model swift-f0."""

    NAME: ClassVar[str] = "symbols"
    DIMENSIONS: ClassVar[int] = phrases.N_SYMBOLS + 1
    MODELS: ClassVar[tuple[str, ...]] = ("swift-f0",)

    @property
    def fingerprint(self) -> str:
        """The exact statistics and label maker, for caches."""
        return f"{super().fingerprint}-{hashlib.sha256(encode_labels(shipped_labels())).hexdigest()[:16]}"

    @staticmethod
    def numbers(samples: NDArray[np.float32], /) -> Floats:
        """See ``phrases.symbol_numbers``."""
        return phrases.symbol_numbers(samples)


@dataclass(frozen=True)
class DurationStatistics(Statistics):
    """Durations given the words: tempo and pauses against syllables and letters; no model.

    It hears the sound and reads its words. Without words all its vectors are the same.
    """

    NAME: ClassVar[str] = "durations"
    DIMENSIONS: ClassVar[int] = phrases.N_DURATIONS + 1

    @staticmethod
    def numbers(samples: NDArray[np.float32], /) -> Floats:
        """Give what is known without words: nothing."""
        return phrases.duration_numbers(samples, "")

    def of_sound_and_text(self, audio: Audio, text: str) -> NDArray[np.float32]:
        """Give the vector of a sound and its words: float32 [DIMENSIONS]."""
        return self._vector(phrases.duration_numbers(padded(audio), text))


def padded(audio: Audio) -> NDArray[np.float32]:
    """Give 16 kHz samples of a sound, with silence behind it where it is shorter than a tenth of a second."""
    samples = samples_at(audio, rate_hz=RATE_HZ)
    whole: NDArray[np.float32] = np.pad(samples, (0, max(0, MIN_SAMPLES - len(samples))))
    return whole


@functools.cache
def scales(name: str) -> tuple[Floats, Floats]:
    """Give mean and standard deviation of every number, as ``benchmarks/statistics_scales.py`` printed them."""
    table = json.loads(resources.files(__package__).joinpath(SCALES).read_text(encoding="utf-8"))
    return np.array(table[name]["mean"]), np.array(table[name]["spread"])
