"""An utterance: who says what, and where its sound lies; what a corpus is made of and what every job works on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from personare.core.audio import Audio, one_channel, open_blocks, read_channels, read_mono

if TYPE_CHECKING:
    import polars as pl

_OPTIONAL = ("start_s", "end_s", "gender", "text", "part", "person_channel", "language")


@dataclass(frozen=True)
class Utterance:
    """One utterance of a corpus: a file, or the part of it from ``start_s`` to ``end_s``.

    Parameters
    ----------
    utterance, speaker : ids within the corpus.
    audio : the file; ``end_s`` None means to its end.
    gender : f, m or x; ``text``, the words; ``part``, e.g. train or test; each None where unknown.
    person_channel : the one channel this person speaks on, 1 is the first; None where all channels are one person.
    language : code of the language of the speech; None where nobody says.
    """

    utterance: str
    speaker: str
    audio: Path
    start_s: float = 0.0
    end_s: float | None = None
    gender: str | None = None
    text: str | None = None
    part: str | None = None
    person_channel: int | None = None
    language: str | None = None

    def read(self) -> Audio:
        """Read it as one channel, the person's own or the mean of all; for measuring, not for making files."""
        return read_mono(self.audio, start_s=self.start_s, stop_s=self.end_s, channel=self.person_channel)

    def read_beginning(self, most_s: float) -> Audio:
        """Read at most its first ``most_s`` seconds as ``read`` does; the rest is not decoded."""
        blocks = open_blocks(self.audio, start_s=self.start_s, stop_s=self.end_s)
        wanted, parts, count = round(most_s * blocks.rate_hz), [], 0
        with contextlib.closing(blocks):
            for block in blocks:
                parts.append(one_channel(block, self.person_channel, name=blocks.name))
                count += len(block)
                if count >= wanted:
                    break
        return Audio(np.concatenate(parts)[:wanted], blocks.rate_hz)

    def read_channels(self) -> list[Audio]:
        """Read it, one Audio per channel; the person's own one only where the channels are several people."""
        if self.person_channel is not None:
            return [self.read()]
        return read_channels(self.audio, start_s=self.start_s, stop_s=self.end_s)


def utterances_in(frame: pl.DataFrame) -> Iterator[Utterance]:
    """Give the utterances of a table, row by row."""
    columns = ["utterance", "speaker", "audio", *(name for name in _OPTIONAL if name in frame.columns)]
    for row in frame.select(columns).iter_rows(named=True):
        audio, start_s = Path(row.pop("audio")), row.pop("start_s", None) or 0.0
        yield Utterance(audio=audio, start_s=start_s, **row)
