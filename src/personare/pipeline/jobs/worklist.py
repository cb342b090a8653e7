"""The names in a list of work: which rows are one item, and which names cannot be files beside each other.

Rows of one recording in which each channel is another person are one item.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field

import polars as pl

from personare.core.errors import OutputError

LEAD, LEAD_SPEAKER = "lead", "lead_speaker"


def with_leads(frame: pl.DataFrame) -> pl.DataFrame:
    """Add to every utterance the name of its item: its own, or the first one's of its recording."""
    one = [pl.col("utterance").alias(LEAD), pl.col("speaker").alias(LEAD_SPEAKER)]
    if "person_channel" not in frame.columns:
        return frame.with_columns(one)
    recording = ["audio", *(c for c in ("start_s", "end_s") if c in frame.columns)]
    several = pl.col("person_channel").is_not_null()
    return frame.with_columns(
        pl.when(several).then(pl.col(c).first().over([*recording, several])).otherwise(pl.col(c)).alias(name)
        for c, name in (("utterance", LEAD), ("speaker", LEAD_SPEAKER))
    )


def folded_name(place: str) -> str:
    """Write a name as systems compare them that take Anna and anna, or an accent and its letter, for the same.

    >>> folded_name("audio/Anna.wav")
    'audio/anna.wav'
    """
    return place.lower() if place.isascii() else unicodedata.normalize("NFC", place).casefold()


@dataclass
class SharedNames:
    """Items whose results would be one file, also on systems that take Anna and anna for the same name.

    Of all such files the first by name is told; nothing else is kept.
    """

    _folded: str | None = None
    _items: list[tuple[str, ...]] = field(default_factory=list)

    def add(self, folded: str, first: tuple[str, ...], second: tuple[str, ...]) -> None:
        """Note that two items, each (utterance, speaker), would be one file."""
        if self._folded is None or folded < self._folded:
            self._folded, self._items = folded, [first, second]

    def refuse(self) -> None:
        """Refuse them, if there are any."""
        if self._items:
            first, second = (f"'{lead}' of '{speaker}'" for lead, speaker in self._items)
            raise OutputError(
                f"{first} and {second} would be written to one file; rename one, or leave out --names keep"
            )
