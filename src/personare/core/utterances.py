"""One utterance: who speaks, where its sound lies, and what else a corpus knows about it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from personare.core.audio import Audio, read_channels, read_mono

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

_OPTIONAL = ("start_s", "end_s", "gender", "text", "part")


@dataclass(frozen=True)
class Utterance:
    """A recording, or the part of it from ``start_s`` to ``end_s``, and its speaker."""

    utterance: str
    speaker: str
    audio: Path
    start_s: float = 0.0
    end_s: float | None = None
    gender: str | None = None
    text: str | None = None
    part: str | None = None

    def read(self) -> Audio:
        """Read its sound as one channel, the mean of all."""
        return read_mono(self.audio, start_s=self.start_s, stop_s=self.end_s)

    def read_channels(self) -> list[Audio]:
        """Read its sound, one Audio per channel."""
        return read_channels(self.audio, start_s=self.start_s, stop_s=self.end_s)


def utterances_in(frame: pl.DataFrame) -> Iterator[Utterance]:
    """Give the utterances of a table, row by row."""
    columns = ["utterance", "speaker", "audio", *(name for name in _OPTIONAL if name in frame.columns)]
    for row in frame.select(columns).iter_rows(named=True):
        row["start_s"] = row.get("start_s") or 0.0
        yield Utterance(**{**row, "audio": Path(row["audio"])})
