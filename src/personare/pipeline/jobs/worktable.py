"""The list of work on the disk: a million utterances need no more memory than a thousand.

A table (SQLite) with one row per utterance, and what the journals say of each. It lies in the private folder under a
temporary name while a run works, is made anew by each run, and is removed at its end; the journal stays what counts.
Rows come in the order of the new names, which says nothing of the source.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from personare.core.corpus_parts import CorpusParts, in_parts
from personare.core.errors import FailureKind, OutputError, TableError
from personare.core.files import PRIVATE_FILE, temporary_path
from personare.core.pieces import grouped, numbered
from personare.core.spoken import SpeechNotes
from personare.core.tables import Corpus
from personare.core.utterances import Utterance
from personare.engine import shard_of
from personare.pipeline.jobs.anonymize_work import Assignment, Conversation, Item, KnownResult
from personare.pipeline.jobs.speaker_survey import MOST_RECORDINGS, survey_rank
from personare.pipeline.jobs.worklist import folded_name, with_leads

_ROWS = 4096  # rows that are Python objects at a time
_CACHE_KIB = 8192  # of the table, in memory
_UTTERANCE = (
    *("utterance", "speaker", "audio", "start_s", "end_s", "gender", "text", "part", "person_channel", "language"),
)
_NUMBER = "n"
_LISTED = {"utterance": pl.String(), "speaker": pl.String(), "audio": pl.String()}
_CARRIED = {"gender": pl.String(), "text": pl.String(), "person_channel": pl.Int64()}
NOTED = {  # of methods that transcribe
    "language": pl.String(),
    "language_confidence": pl.Float64(),
    "word_confidence": pl.Float64(),
    "omitted_s": pl.Float64(),
}
# no row numbers of SQLite's own: what a table is sorted by is what it is stored by, and nothing is sorted afterwards
_TABLES = f"""
CREATE TABLE rows (base TEXT, place TEXT, n INTEGER, lead TEXT, {", ".join(_UTTERANCE)},
                   rank INTEGER, PRIMARY KEY (base, place, n)) WITHOUT ROWID;
CREATE INDEX surveyed ON rows (speaker, rank);
CREATE TABLE files (folded TEXT, lead TEXT, speaker TEXT, n INTEGER, PRIMARY KEY (folded, lead)) WITHOUT ROWID;
CREATE TABLE known (lead TEXT PRIMARY KEY, at REAL, source TEXT, output TEXT, speech_s REAL, several, source_s REAL,
                    notes TEXT) WITHOUT ROWID;
CREATE TABLE errors (lead TEXT PRIMARY KEY, at REAL, error TEXT, kind TEXT) WITHOUT ROWID;
CREATE TABLE made (place TEXT PRIMARY KEY, lead TEXT, output TEXT, several, speech_s REAL, source_s REAL,
                   notes TEXT) WITHOUT ROWID;
CREATE TABLE listed (utterance TEXT PRIMARY KEY, speaker, audio, {", ".join((*_CARRIED, *NOTED))}) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class JournalLine:
    """What a journal says of one item: when, digests and ``several`` speakers (None: not checked), or why it failed."""

    at: float
    lead: str
    source: str | None
    output: str | None
    speech_s: float | None
    error: str | None
    kind: FailureKind = "failed"
    several: bool | None = None
    source_s: float = 0.0
    notes: str | None = None


@dataclass(frozen=True)
class NotedItem:
    """An item of work: its name, its path in the target, and the last that the journals say of it."""

    lead: str
    place: str
    source: str | None
    output: str | None
    several: bool | None
    speech_s: float | None
    source_s: float | None
    notes: str | None
    error: str | None
    kind: FailureKind | None


@contextlib.contextmanager
def work_table(private: Path | None) -> Iterator[WorkTable]:
    """Open a new table in the private folder, and remove it at the end; without one, where SQLite puts such things."""
    with contextlib.ExitStack() as stack:
        place, address = None, ""
        if private is not None:
            place = stack.enter_context(temporary_path(private / "work.sqlite"))
            try:
                os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE))
            except OSError as error:
                raise OutputError(f"{place}: cannot be written ({error.strerror or error})") from error
            # nobody else opens it: it needs no locks, which some shared file systems do not have
            address = f"{place.resolve().as_uri()}?nolock=1"
        stack.enter_context(_told(place))
        yield WorkTable(stack.enter_context(contextlib.closing(_opened(address))))


@contextlib.contextmanager
def _told(place: Path | None) -> Iterator[None]:
    """Say in one line what SQLite refuses; a full disk, say."""
    try:
        yield
    except sqlite3.Error as error:
        full = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
        why = os.strerror(errno.ENOSPC) if full else error  # the words that everything else uses for a full disk
        raise OutputError(f"{place.parent if place else 'the list of work'}: cannot be written ({why})") from error


def _opened(address: str) -> sqlite3.Connection:
    """Open it without a journal of SQLite's own: what a crash leaves of it is removed, not read."""
    connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
    for setting in ("journal_mode=OFF", "synchronous=OFF", f"cache_size=-{_CACHE_KIB}"):
        connection.execute(f"PRAGMA {setting}")
    connection.executescript(_TABLES)
    connection.execute("BEGIN")
    return connection


@dataclass(frozen=True, eq=False)
class WorkTable:
    """The rows of a corpus with the name (``lead``) and the path (``place``) of their item, and what is known of it."""

    _sql: sqlite3.Connection

    def fill(self, corpus: Corpus | CorpusParts, name_of: Callable[[str, str], str]) -> None:
        """List a corpus; ``name_of`` (speaker, utterance) is where a result goes.

        Raises
        ------
        OutputError : two items would be one file, or one would be below another that is a file.
        """
        rows = ((*row, name_of(row[2], row[1])) for row in _with_leads(in_parts(corpus)))
        while some := list(itertools.islice(rows, _ROWS)):
            self._sql.executemany(
                "INSERT INTO files VALUES (?, ?, ?, ?) ON CONFLICT (folded, lead) DO UPDATE SET n = MIN(n, excluded.n)",
                ((folded_name(place), lead, speaker, n) for n, lead, speaker, *_, place in some),
            )
            self._sql.executemany(
                f"INSERT INTO rows VALUES (?, ?, ?, ?{', ?' * len(_UTTERANCE)}, ?)",  # noqa: S608 - our own names
                (
                    (place.rpartition("/")[2], place, n, lead, *row, survey_rank(row[1], row[0]))
                    for n, lead, _, *row, place in some
                ),
            )
        self._refuse_shared()
        self._refuse_below()

    def _refuse_shared(self) -> None:
        """Refuse items whose results would be one file, also on systems that take Anna and anna for the same name."""
        query = "SELECT folded FROM files GROUP BY folded HAVING COUNT(*) > 1 ORDER BY folded LIMIT 1"
        shared = self._one(query)
        if shared is not None:
            items = self._sql.execute("SELECT lead, speaker FROM files WHERE folded = ? ORDER BY n LIMIT 2", shared)
            first, second = (f"'{lead}' of '{speaker}'" for lead, speaker in items)
            raise OutputError(
                f"{first} and {second} would be written to one file; rename one, or leave out --names keep"
            )

    def _refuse_below(self) -> None:
        """Refuse an item below another that is a file: folder by folder upwards, the first in the corpus' order."""
        for level in itertools.count(1):
            found: tuple[int, str, str] | None = None
            folder, is_file, any_above = "", False, False
            for folded, lead, n in self._sql.execute("SELECT folded, lead, n FROM files"):
                above = folded.rsplit("/", level)
                if len(above) <= level:
                    continue
                any_above = True
                if above[0] != folder:
                    folder = above[0]
                    is_file = self._one("SELECT lead FROM files WHERE folded = ?", folder) is not None
                if is_file and (found is None or n < found[0]):
                    found = n, lead, folder
            if found is not None:
                raise OutputError(
                    f"'{found[1]}' would be written below '{found[2]}', which is a file; rename one, or leave out "
                    "--names keep"
                )
            if not any_above:
                return

    def __len__(self) -> int:
        return self._count("SELECT COUNT(*) FROM files")

    def note(self, lines: Iterable[JournalLine]) -> None:
        """Note what journals say, instead of what was noted before; of several lines, the last counts."""
        for table in ("known", "errors"):
            self._sql.execute(f"DELETE FROM {table}")  # noqa: S608 - our own names
        newer = "ON CONFLICT (lead) DO UPDATE SET at = excluded.at"
        for line in lines:
            if line.output is not None:
                self._sql.execute(
                    f"INSERT INTO known VALUES (?, ?, ?, ?, ?, ?, ?, ?) {newer}, "  # noqa: S608
                    "source = excluded.source, output = excluded.output, speech_s = excluded.speech_s, "
                    "several = excluded.several, source_s = excluded.source_s, notes = excluded.notes "
                    "WHERE excluded.at >= known.at",
                    (
                        *(line.lead, line.at, line.source, line.output, line.speech_s),
                        *(line.several, line.source_s, line.notes),
                    ),
                )
            if line.error is not None:
                self._sql.execute(
                    f"INSERT INTO errors VALUES (?, ?, ?, ?) {newer}, error = excluded.error, "  # noqa: S608
                    "kind = excluded.kind WHERE excluded.at >= errors.at",
                    (line.lead, line.at, line.error, line.kind),
                )

    def assignments(self, shard: str | None, *, survey: bool = False) -> Iterator[Assignment]:
        """Give the items of a shard (None: all) one by one, with what the journals know of them.

        With ``survey``, also the recordings by which their people are surveyed.
        """
        query = (
            f"SELECT lead, source, output, speech_s, {', '.join(_UTTERANCE)} "  # noqa: S608 - our own names
            "FROM rows LEFT JOIN known USING (lead) ORDER BY base, place, n"
        )
        for lead, group in itertools.groupby(self._sql.execute(query), key=lambda row: str(row[0])):
            if in_shard(shard, lead):
                together = list(group)
                _, source, output, speech_s, *_ = together[0]
                known = None if output is None else KnownResult(source, output, speech_s)
                people = [_utterance(row[4:]) for row in together]
                speakers = dict.fromkeys(one.speaker for one in people) if survey else ()
                yield Assignment(_item(people), known, tuple(self._surveyed(speaker) for speaker in speakers))

    def _surveyed(self, speaker: str) -> tuple[Utterance, ...]:
        query = f"SELECT {', '.join(_UTTERANCE)} FROM rows WHERE speaker = ? ORDER BY rank LIMIT ?"  # noqa: S608
        return tuple(_utterance(row) for row in self._sql.execute(query, (speaker, MOST_RECORDINGS)))

    def noted(self) -> Iterator[NotedItem]:
        """Give every item in its order, and the last that the journals say of it."""
        query = (
            "SELECT lead, place, source, output, several, speech_s, source_s, notes, error, kind "
            "FROM rows LEFT JOIN known USING (lead) "
            "LEFT JOIN errors USING (lead) ORDER BY base, place, n"
        )
        for _, group in itertools.groupby(self._sql.execute(query), key=lambda row: row[1]):
            yield NotedItem(*next(group))

    def made(self, item: NotedItem) -> None:
        """Say that the result of an item is there."""
        values = (item.place, item.lead, item.output, item.several, item.speech_s, item.source_s, item.notes)
        self._sql.execute("INSERT INTO made VALUES (?, ?, ?, ?, ?, ?, ?)", values)

    def spoken(self) -> Iterator[tuple[str, str, float, float, SpeechNotes | None]]:
        """Give (item, path, seconds of the source, seconds of the result, notes) of every result, by path."""
        query = "SELECT lead, place, source_s, speech_s, notes FROM made ORDER BY place"
        for lead, place, source_s, speech_s, notes in self._sql.execute(query):
            yield lead, place, source_s or 0.0, speech_s or 0.0, _notes(notes)

    def several_speakers(self) -> tuple[int, list[str]]:
        """Count the results that were checked for several speakers on a channel, and name those that have them."""
        checked = self._count("SELECT COUNT(*) FROM made WHERE several IS NOT NULL")
        return checked, [str(lead) for (lead,) in self._sql.execute("SELECT lead FROM made WHERE several = 1")]

    def made_in(self, shard: str | None) -> int:
        """Count the items of a shard whose results are there."""
        if shard is None:
            return self._count("SELECT COUNT(*) FROM made")
        return sum(in_shard(shard, lead) for (lead,) in self._sql.execute("SELECT lead FROM made"))

    def digests(self) -> Iterator[tuple[str, str]]:
        """Give path and digest of every result that is there, by path."""
        return iter(self._sql.execute("SELECT place, output FROM made ORDER BY place"))

    def list_made(self, token_of: Callable[[str, str], tuple[str, str]]) -> int:
        """Name every utterance whose result is there, by (speaker, utterance); give their number."""
        columns = ", ".join(("utterance", "speaker", "notes", "language", "place", *_CARRIED))
        query = f"SELECT {columns} FROM rows JOIN made USING (place) ORDER BY base, place, n"  # noqa: S608
        insert = f"INSERT INTO listed VALUES (?, ?, ?{', ?' * len((*_CARRIED, *NOTED))})"  # noqa: S608
        count = 0
        for what, who, text, stated, *rest in self._sql.execute(query):
            utterance, speaker = token_of(who, what)
            notes = _notes(text)
            noted = [None if notes is None else getattr(notes, name) for name in NOTED]
            noted[0] = stated if notes is None else notes.language  # of a method that transcribes, as it heard it
            try:
                self._sql.execute(insert, (utterance, speaker, *rest, *noted))
            except sqlite3.IntegrityError:
                raise TableError(f"Corpus: utterance must not repeat; '{utterance}' does") from None
            count += 1
        return count

    def listed(self, carried: Iterable[str], *, rows: int) -> Iterator[pl.DataFrame]:
        """Give the named utterances in the order of their names, so many at a time."""
        schema: dict[str, Any] = {**_LISTED, **{name: (_CARRIED | NOTED)[name] for name in carried}}
        cursor = self._sql.execute(f"SELECT {', '.join(schema)} FROM listed ORDER BY utterance")  # noqa: S608
        while some := [pl.DataFrame(part, schema=schema, orient="row") for part in _parts(cursor, rows)]:
            yield pl.concat(some)

    def _count(self, query: str) -> int:
        return int(self._sql.execute(query).fetchone()[0])

    def _one(self, query: str, *values: str) -> tuple[str, ...] | None:
        found: tuple[str, ...] | None = self._sql.execute(query, values).fetchone()
        return found


def _parts(cursor: sqlite3.Cursor, rows: int) -> Iterator[list[Any]]:
    """Take so many rows, some of them as Python objects at a time."""
    while rows > 0 and (some := cursor.fetchmany(min(rows, _ROWS))):
        yield some
        rows -= len(some)


def in_shard(shard: str | None, lead: str) -> bool:
    """Whether an item is of a shard ``I/N``; everything is if None."""
    return shard is None or bool(shard_of(shard, [lead], name=str))


def _with_leads(corpus: CorpusParts) -> Iterator[tuple[Any, ...]]:
    """Give (number, lead, its speaker, the columns of an utterance) row by row; some are Python objects at a time."""
    frames = numbered(corpus.frames(*(name for name in _UTTERANCE if name in corpus.columns)), _NUMBER)
    if "person_channel" in corpus.columns:  # rows of one recording may be anywhere in the table
        frames = (with_leads(frame) for frame in grouped(frames, "audio"))
    lacking = [pl.lit(None).alias(name) for name in _UTTERANCE if name not in corpus.columns]
    for frame in frames:
        for part in frame.iter_slices(_ROWS):
            whole = part if "lead" in part.columns else with_leads(part)
            yield from whole.with_columns(lacking).select(_NUMBER, "lead", "lead_speaker", *_UTTERANCE).iter_rows()


def _notes(text: str | None) -> SpeechNotes | None:
    return None if text is None else SpeechNotes(**json.loads(text))


def _utterance(values: tuple[Any, ...]) -> Utterance:
    what, who, audio, start_s, *rest = values
    return Utterance(what, who, Path(audio), start_s or 0.0, *rest)


def _item(people: list[Utterance]) -> Item:
    return people[0] if people[0].person_channel is None else Conversation(tuple(people))
