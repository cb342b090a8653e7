"""The journal of an anonymization, in its private folder: what became of every utterance, confirmed by digests.

One line per result: when, the utterance, the digest of its source, the fingerprint of the method, the digest of the
result, seconds of speech and of work, or why it failed. Shards on other machines have journals of their own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from personare.core.journal import JournalWriter, read_journal
from personare.engine import Result
from personare.pipeline.jobs.anonymize_work import AnonymizedUtterance, Assignment

JOURNAL = "journal"
_LINES_AT_ONCE = 4096
SCHEMA = {
    "at": pl.Float64(),
    "lead": pl.String(),
    "source": pl.String(),
    "system": pl.String(),
    "output": pl.String(),
    "speech_s": pl.Float64(),
    "work_s": pl.Float64(),
    "error": pl.String(),
}


def journal_name(shard: str | None) -> str:
    """The file of a shard.

    >>> journal_name(None), journal_name("1/4")
    ('journal', 'journal-1-of-4')
    """
    return JOURNAL if shard is None else f"{JOURNAL}-{shard.replace('/', '-of-')}"


@dataclass
class AnonymizeJournal:
    """The journal of one run: knows the system that works, and adds what became of each utterance."""

    private: Path
    system: str
    shard: str | None = None

    def __post_init__(self) -> None:
        self._writer = JournalWriter(self.private / journal_name(self.shard))

    def known(self) -> pl.DataFrame:
        """Give the last result of each utterance that this system has made: ``lead, source, output, speech_s``."""
        mine = (pl.col("system") == self.system) & pl.col("output").is_not_null()
        columns = ["at", "lead", "source", "output", "speech_s"]
        parts = [part.filter(mine).select(columns) for part in _parts(self.private)]
        return last_of(_in_order(parts)).drop("at")

    def errors(self) -> dict[str, str]:
        """Give the last failure of each utterance; one that was made since may be among them."""
        parts = [p.filter(pl.col("error").is_not_null()).select("at", "lead", "error") for p in _parts(self.private)]
        return dict(last_of(_in_order(parts)).select("lead", "error").iter_rows())

    def add(self, result: Result[Assignment, AnonymizedUtterance]) -> None:
        """Note a new result, or a failure; what was kept from before is noted already."""
        made, lead = result.value, result.item.utterance
        if made is None:
            self._writer.add([time.time(), lead, None, self.system, None, None, None, result.error or "failed"])
        elif made.work_s > 0:
            values = (made.source, self.system, made.output, round(made.speech_s, 6), round(made.work_s, 3), None)
            self._writer.add([time.time(), lead, *values])

    def flush(self) -> None:
        """Force it to the disk."""
        self._writer.flush()


def journals_of(private: Path) -> list[Path]:
    """Every journal of a private folder."""
    return sorted(path for path in private.glob(f"{JOURNAL}*") if path.is_file())


def read_results(private: Path) -> pl.DataFrame:
    """Read all journals of a private folder, the oldest line first; lines that do not fit their checksum are none."""
    return _in_order(list(_parts(private)))


def _parts(private: Path) -> Iterator[pl.DataFrame]:
    """Give the lines of all journals, some at a time: a million lines are never Python objects at once."""
    rows: list[list[str | float | None]] = []
    for path in journals_of(private):
        for values in read_journal(path):
            if len(values) == len(SCHEMA):
                rows.append(values)
            if len(rows) >= _LINES_AT_ONCE:
                yield pl.DataFrame(rows, schema=SCHEMA, orient="row", strict=False)
                rows = []
    yield pl.DataFrame(rows, schema=SCHEMA, orient="row", strict=False)


def _in_order(parts: list[pl.DataFrame]) -> pl.DataFrame:
    """Join parts, the oldest line first."""
    return pl.concat(parts).sort("at", maintain_order=True)


def last_of(results: pl.DataFrame) -> pl.DataFrame:
    """Keep the last line of each utterance."""
    return results.unique("lead", keep="last", maintain_order=True)
