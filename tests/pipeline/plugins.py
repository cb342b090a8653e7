"""Methods of one's own, small but real, as somebody would write them in a file: they are used by name in studies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from personare.core.audio import Audio
from personare.core.errors import RejectedSpeechError
from personare.core.spoken import NOTHING_KNOWN, SpeakerEvidence, SpeakerFacts, SpeechNotes, SpokenAudio


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


@dataclass(frozen=True)
class Speaking:
    """Stands for a method that transcribes: it hears by the peak of a recording, and speaks by gender, twice as long.

    A peak above 0.45 sounds like a woman, below like a man; one above 0.85 is in another language and rejected; one
    below 0.15 is no speech, and below 0.25 half of the speech is omitted. A woman's voice is a level of 0.5, a man's
    of 0.25.
    """

    LANGUAGES: ClassVar[tuple[str, ...]] = ("en",)
    VERSION: ClassVar[int] = 1

    language: str = "auto"

    @property
    def fingerprint(self) -> str:
        """The exact method."""
        return f"speaking-{self.language}-v1"

    def __call__(self, audio: Audio, *, rng: np.random.Generator) -> Audio:
        """Anonymize one channel of somebody unknown."""
        return self.speak(audio, rng=rng, speaker=NOTHING_KNOWN).audio

    def evidence(self, audio: Audio) -> SpeakerEvidence:
        """Tell what a recording says about its speaker."""
        peak = float(np.abs(audio.samples).max())
        return SpeakerEvidence(audio.duration_s, (), None, peak - 0.45)

    def speak(self, audio: Audio, *, rng: np.random.Generator, speaker: SpeakerFacts) -> SpokenAudio:
        """Speak as the gender that was decided; without a decision, as this recording sounds."""
        peak = float(np.abs(audio.samples).max())
        if peak > 0.85 and self.language == "auto":
            raise RejectedSpeechError("this sounds like German (de)")
        gender = speaker.gender or ("f" if peak > 0.45 else "m")
        level = 0.0 if peak < 0.15 else 0.5 if gender == "f" else 0.25
        made = Audio(np.full(2 * len(audio.samples), level, np.float32), audio.rate_hz)
        if peak < 0.15:
            return SpokenAudio(made, SpeechNotes())
        omitted_s = round(audio.duration_s / 2, 2) if peak < 0.25 else 0.0
        return SpokenAudio(made, SpeechNotes("en", round(peak, 2), round(audio.duration_s, 2), omitted_s, 5, 0.5))
