"""The journal of an anonymization, in its private folder: what became of every utterance, confirmed by digests.

One line per result: when, the utterance, the digest of its source, the fingerprint of the method, the digest of the
result, seconds of speech and of work, or why it failed and the kind of failure; and whether several people speak on one
channel (null: not checked), seconds of the source, and
notes on its language and words. Shards on other machines have journals of their own.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

import polars as pl

from personare.core.errors import FailureKind
from personare.core.journal import JournalWriter, read_journal
from personare.engine import Result
from personare.pipeline.jobs.anonymize_work import AnonymizedUtterance, Assignment
from personare.pipeline.jobs.worktable import JournalLine

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
    "kind": pl.String(),
    "several": pl.Boolean(),
    "source_s": pl.Float64(),
    "notes": pl.String(),
}
_OLDEST = 8  # values of a line before failures had a kind; later ones are added at the end


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

    def lines(self) -> Iterator[JournalLine]:
        """Give what all journals of the folder say, line by line: results of this system, and failures of any."""
        for path in journals_of(self.private):
            for values in read_journal(path):
                line = _line(values)
                if line is not None and (line.error is not None or values[3] == self.system):
                    yield line

    def add(self, result: Result[Assignment, AnonymizedUtterance]) -> None:
        """Note a new result, or a failure; what was kept from before is noted already."""
        made, lead = result.value, result.item.utterance
        if made is None:
            why = (result.error or "failed", result.kind)
            self._writer.add([time.time(), lead, None, self.system, None, None, None, *why, None, None, None])
        elif made.work_s > 0:
            values = (made.source, self.system, made.output, round(made.speech_s, 6), round(made.work_s, 3))
            notes = None if made.notes is None else json.dumps(asdict(made.notes))
            self._writer.add([time.time(), lead, *values, None, None, made.several, round(made.source_s, 6), notes])

    def flush(self) -> None:
        """Force it to the disk."""
        self._writer.flush()


def _line(values: Sequence[object]) -> JournalLine | None:
    """Read the values of a line; None where they are not those of an item."""
    if len(values) < _OLDEST:
        return None
    at, lead, source, _, output, speech_s, _, error, kind, several, source_s, notes = _padded(values)
    if not isinstance(lead, str):
        return None
    known: FailureKind = kind if kind in get_args(FailureKind) else "failed"
    heard = several if isinstance(several, bool) else None
    return JournalLine(
        _number(at),
        lead,
        _text(source),
        _text(output),
        _number(speech_s),
        _text(error),
        known,
        heard,
        _number(source_s),
        _text(notes),
    )


def _padded(values: Sequence[Any]) -> list[Any]:
    """Give the values of every column; a line of an earlier version lacks the last ones."""
    return [*values, *[None] * len(SCHEMA)][: len(SCHEMA)]


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def journals_of(private: Path) -> list[Path]:
    """Every journal of a private folder."""
    return sorted(path for path in private.glob(f"{JOURNAL}*") if path.is_file())


def read_results(private: Path) -> pl.DataFrame:
    """Read all journals of a private folder, the oldest line first; lines that do not fit their checksum are none."""
    return _in_order(list(_parts(private)))


def _parts(private: Path) -> Iterator[pl.DataFrame]:
    """Give the lines of all journals, some at a time: a million lines are never Python objects at once."""
    rows: list[list[Any]] = []
    for path in journals_of(private):
        for values in read_journal(path):
            if len(values) >= _OLDEST:
                rows.append(_padded(values))
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
