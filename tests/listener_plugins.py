"""Listeners of somebody else, as a plug-in would bring them: made only of what core offers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from personare.core.errors import AudioError
from personare.core.findings import Estimate, Finding
from personare.core.observations import Observation, ObservedUtterance, Stimulus, SummaryContext, UtilitySummary
from personare.core.protocols import Listener
from personare.listeners.words import TEXT, summarize_words
from personare.metrics import card

REFUSED, BROKEN = 4_444, 5_555


@dataclass(frozen=True)
class Spelling(Listener):
    """Recognizes the length of a sound; refuses one length, and breaks down at another."""

    gives: ClassVar[tuple[str, ...]] = ("wer",)
    batched: ClassVar[bool] = True
    columns = (TEXT,)
    fingerprint = "spelling"
    batches: ClassVar[list[int]] = []

    def observe(self, batch: Sequence[Stimulus]) -> list[Observation]:
        """Spell the number of samples."""
        self.batches.append(len(batch))
        if any(len(stimulus.audio.samples) == REFUSED for stimulus in batch):
            raise AudioError("this cannot be spelt")
        if any(len(stimulus.audio.samples) == BROKEN for stimulus in batch):
            raise RuntimeError("a bug")
        return [Observation(words=f"{len(stimulus.audio.samples)} samples") for stimulus in batch]

    def summarize(self, rows: Sequence[ObservedUtterance], context: SummaryContext) -> UtilitySummary:
        """Compute the word error rate."""
        return summarize_words(rows, context, metric="wer")


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
    return float(np.corrcoef(original[:frames], audio[:frames])[0, 1])


@dataclass(frozen=True)
class Stranger:
    """No listener at all."""
