"""An utterance: who says what, and where its sound lies; what a corpus is made of and what every job works on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from personare.core.audio import Audio, read_channels, read_mono


@dataclass(frozen=True)
class Utterance:
    """One utterance of a corpus: a file, or the part of it from ``start_s`` to ``end_s``.

    Parameters
    ----------
    utterance, speaker : ids within the corpus.
    audio : the file; ``end_s`` None means to its end.
    gender : f, m or x; ``text``, the words; ``part``, e.g. train or test; each None where unknown.
    """

    utterance: str
    speaker: str
    audio: Path
    start_s: float = 0.0
    end_s: float | None = None
    gender: str | None = None
    text: str | None = None
    part: str | None = None

    def read(self) -> Audio:
        """Read it as one channel, the mean of all; for measuring, not for making files."""
        return read_mono(self.audio, start_s=self.start_s, stop_s=self.end_s)

    def read_channels(self) -> list[Audio]:
        """Read it, one Audio per channel."""
        return read_channels(self.audio, start_s=self.start_s, stop_s=self.end_s)
