"""Listeners of somebody else, as a plug-in would bring them: a recognizer, a score, and no listener at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from personare.core.audio import Audio
from personare.core.errors import AudioError
from personare.core.findings import Estimate, Finding
from personare.core.observations import Observation, ObservedUtterance, Stimulus, SummaryContext, UtilitySummary
from personare.core.protocols import Listener
from personare.listeners.normalize import Normalizer
from personare.listeners.words import Recognizer
from personare.metrics import card

REFUSED, BROKEN = 4_444, 5_555


@dataclass(frozen=True)
class Spelling(Recognizer):
    """Recognizes the length of a sound; refuses one length, and breaks down at another."""

    fingerprint = "spelling"
    batches: ClassVar[list[int]] = []

    normalizer: str = "letters"

    def __call__(self, batch: Sequence[Audio]) -> list[str]:
        """Write the number of samples."""
        self.batches.append(len(batch))
        if any(len(audio.samples) == REFUSED for audio in batch):
            raise AudioError("this cannot be spelt")
        if any(len(audio.samples) == BROKEN for audio in batch):
            raise RuntimeError("a bug")
        return [f"{len(audio.samples)} samples" for audio in batch]


@dataclass(frozen=True)
class Likeness(Listener):
    """Scores how alike two sounds are, times ``scale``, as if it were STOI."""

    gives: ClassVar[tuple[str, ...]] = ("stoi",)
    compares: ClassVar[bool] = True

    scale: float = 1.0

    @property
    def fingerprint(self) -> str:
        """Name the setting."""
        return f"likeness:{self.scale}"

    def observe(self, batch: Sequence[Stimulus]) -> list[Observation]:
        """Correlate the samples."""
        return [Observation(values={"likeness": self.scale * _correlation(stimulus)}) for stimulus in batch]

    def summarize(self, rows: Sequence[ObservedUtterance], context: SummaryContext) -> UtilitySummary:
        """Average without an interval."""
        values = [row.sides["both"].values["likeness"] for row in rows if row.failure is None]
        estimate = Estimate(float(np.mean(values)), float("nan"), float("nan"), len(set(context.speakers.values())))
        return UtilitySummary((Finding(card("stoi"), estimate, failed=context.total - len(values)),), ("by hand",))


def _correlation(stimulus: Stimulus) -> float:
    original, audio = (sound.samples.astype(np.float64) for sound in stimulus.pair)
    frames = min(len(original), len(audio))
    if frames < 2 or not np.ptp(original[:frames]) or not np.ptp(audio[:frames]):
        raise AudioError("nothing to correlate")
    return float(np.corrcoef(original[:frames], audio[:frames])[0, 1])


@dataclass(frozen=True)
class Stranger:
    """No listener at all."""


@dataclass(frozen=True)
class Shouting(Normalizer):
    """A normalizer of somebody else: every text is the same."""

    fingerprint = "shouting"

    def __call__(self, text: str) -> str:
        """Shout."""
        return "HEY" if text else ""
