"""The names in a list of work: which rows are one item, and which names cannot be files beside each other.

Rows of one recording in which each channel is another person are one item.
"""

from __future__ import annotations

import unicodedata

import polars as pl

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
