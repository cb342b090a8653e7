"""One table of utterances (manifest.parquet or manifest.tsv): personare's own layout.

Columns: utterance, speaker, audio (relative to the table's folder, or absolute); where known gender, text, language
(``de``, ``de-DE`` or ``German``), start_s, end_s, part, person_channel (the one channel the person is on, 1 is the
first), duration_s (or ``seconds``, which is renamed); any other column is carried along. A ``speakers.tsv`` beside it
(speaker, gender) lists who should be there; a ``trials.parquet`` (enroll, test, target) holds trials.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from personare.core.errors import CorpusError, TableError
from personare.core.files import refuse_full
from personare.core.pieces import kept
from personare.core.tables import Corpus, Trials, read_frame, read_frames
from personare.corpora.checks import UNSAFE_NAME
from personare.corpora.gathering import (
    PartsReading,
    Reading,
    checked_trials,
    gather,
    gather_parts,
    idle_speakers,
    orphans,
)
from personare.corpora.listing import full_path
from personare.corpora.problems import Problem, plain
from personare.corpora.walking import audio_below

NAMES = ("manifest.parquet", "manifest.tsv")
TRIALS = "trials.parquet"
_ROWS = 4096  # paths that are Python objects at a time
NUMBERS = {"start_s": pl.Float64, "end_s": pl.Float64, "duration_s": pl.Float64, "person_channel": pl.Int64}
KNOWN = (*Corpus.required, *Corpus.optional, *NUMBERS, "seconds")


@dataclass(frozen=True)
class Manifest:
    """personare's own layout: a table of utterances beside the audio."""

    looks_for = "manifest.parquet or manifest.tsv with the columns utterance, speaker, audio"

    def detects(self, path: Path) -> str | None:
        """Say why this is a manifest, or None."""
        table = _table_at(path)
        if table is None:
            return None
        columns = _columns_of(table) or _refuse_damaged(table)
        has_all = set(Corpus.required) <= set(columns)
        return f"{table.name} with the columns {', '.join(columns)}" if has_all else None

    def read(self, path: Path) -> Reading:
        """Read the manifest at, or in, ``path``."""
        table = self._table(path)
        folder = table.parent.resolve()
        frame = _rows(read_frame(table), table, folder=folder)
        problems, notes = _around(path, table, lambda name: [frame[name]])
        trials, faults = _trials_beside(folder, frame)
        return gather(
            frame,
            layout="manifest",
            evidence=self._evidence(path, table),
            place=table.name,
            problems=[*problems, *faults],
            notes=notes,
            trials=trials,
        )

    def read_parts(self, path: Path) -> PartsReading:
        """Read the manifest at, or in, ``path`` some rows at a time, without its trials and further columns."""
        table = self._table(path)
        folder = table.parent.resolve()
        frames = read_frames(table, KNOWN)
        with contextlib.closing(kept(_rows(part, table, folder=folder) for part in frames)) as rows:
            problems, notes = _around(path, table, lambda name: (part[name] for part in rows.frames([name])))
            return gather_parts(
                rows.frames,
                layout="manifest",
                evidence=self._evidence(path, table),
                place=table.name,
                problems=problems,
                notes=notes,
            )

    def _table(self, path: Path) -> Path:
        table = _table_at(path)
        if table is None:
            raise CorpusError(f"{path}: layout 'manifest' needs {self.looks_for}")
        return table

    def _evidence(self, path: Path, table: Path) -> str:
        return self.detects(path) or f"asked to read {table.name} as a manifest"


def read_listed(table: Path) -> PartsReading:
    """Read a table of utterances whose audio lies on another file system, by paths below one folder there."""
    if not table.is_file() or table.suffix not in (".parquet", ".tsv"):
        raise CorpusError(f"{table}: recordings that are fetched need a table of utterances, .parquet or .tsv")
    frames = read_frames(table, KNOWN)
    with contextlib.closing(kept(_below(_rows(part, table, folder=None), table) for part in frames)) as rows:
        evidence = f"{table.name}, fetched"
        return gather_parts(rows.frames, layout="manifest", evidence=evidence, place=table.name, present=False)


def _below(frame: pl.DataFrame, table: Path) -> pl.DataFrame:
    """Refuse audio that is not named by a path below the folder it is fetched from."""
    audio = frame["audio"].drop_nulls()
    odd = audio.filter(audio.str.contains(UNSAFE_NAME) | audio.str.contains(r"://|\\"))
    if len(odd):
        raise CorpusError(f"{table}: audio '{plain(odd[0][:80])}' must be a path below the folder it is fetched from")
    return frame


def write_manifest(corpus: Corpus, folder: Path, *, trials: Trials | None = None) -> None:
    """Write manifest.parquet (and trials.parquet); audio is named by its path and not copied."""
    refuse_full(folder)
    corpus.save(folder / "manifest.parquet")
    if trials is not None:
        trials.save(folder / TRIALS)


def speakers_beside(folder: Path) -> pl.DataFrame | None:
    """Read ``speakers.tsv`` of a folder when it lists speakers; None when there is none."""
    path = folder / "speakers.tsv"
    if not path.is_file():
        return None
    frame = read_frame(path)
    return frame.filter(pl.col("speaker").is_not_null()) if "speaker" in frame.columns else None


def _around(path: Path, table: Path, column: Callable[[str], Iterable[pl.Series]]) -> tuple[list[Problem], list[str]]:
    """Compare the rows with what lies beside their table: audio without an entry, speakers without a row."""
    folder = table.parent.resolve()
    problems: list[Problem] = []
    if path.is_dir():
        strays = orphans(str(folder), audio_below(folder, problems), column("audio"), place=table.name)
        problems += strays
    listed = speakers_beside(folder)
    if listed is not None:
        problems += idle_speakers(listed["speaker"], column("speaker"), place="speakers.tsv")
    others = [n for n in NAMES if path.is_dir() and n != table.name and (path / n).is_file()]
    return problems, [f"{table.name} is read, {n} beside it is not" for n in others]


def _trials_beside(folder: Path, frame: pl.DataFrame) -> tuple[Trials | None, list[Problem]]:
    """Read ``trials.parquet`` (enroll: an utterance or a speaker; test: an utterance), where it is there."""
    if not (folder / TRIALS).is_file():
        return None, []
    utterances = set(frame["utterance"].drop_nulls())
    rows = Trials.load(folder / TRIALS).frame.select("enroll", "test", "target").rows()
    everyone = utterances | set(frame["speaker"].drop_nulls())
    return checked_trials(rows, tests=utterances, enrolls=everyone, bad=[], place=TRIALS)


def _table_at(path: Path) -> Path | None:
    if path.is_dir():
        return next((path / name for name in NAMES if (path / name).is_file()), None)
    return path if path.is_file() and path.suffix in (".parquet", ".tsv") else None


def _rows(frame: pl.DataFrame, table: Path, *, folder: Path | None) -> pl.DataFrame:
    """Give rows of the table, numbers as numbers and audio as full paths; as it is written without a folder."""
    for column in Corpus.required:
        if column not in frame.columns:
            has = plain(", ".join(_columns_of(table)))
            raise CorpusError(f"{table}: a manifest needs the column '{column}'; it has {has}")
    for column in {*Corpus.required, *Corpus.optional, *NUMBERS} & set(frame.columns):
        kind = frame[column].dtype
        if kind.is_nested() or kind in (pl.Binary, pl.Object):
            raise CorpusError(f"{table}: the column '{column}' must hold text or numbers, not {kind}")
    frame = _typed(frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String)), table)
    written = frame["audio"].cast(pl.String)
    if folder is None:
        return frame.with_columns(written)
    parts = [written.slice(begin, _ROWS) for begin in range(0, len(written), _ROWS)] or [written]
    places = [pl.Series("audio", [full_path(folder, a) if a else None for a in p], dtype=pl.String) for p in parts]
    return frame.with_columns(pl.concat(places))


def _columns_of(table: Path) -> list[str]:
    try:
        if table.suffix == ".parquet":
            return list(pl.read_parquet_schema(table))
        with table.open(encoding="utf-8-sig") as lines:
            return lines.readline().rstrip("\r\n").split("\t")
    except (OSError, UnicodeDecodeError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return []


def _refuse_damaged(table: Path) -> list[str]:
    """Say that a file that is called a manifest cannot be read, instead of that nothing is known here."""
    if table.name not in NAMES:
        return []
    try:
        empty = not table.stat().st_size
    except OSError as error:
        raise CorpusError(f"{table}: cannot be read ({error.strerror})") from None
    raise CorpusError(f"{table}: damaged ({'it is empty' if empty else 'it cannot be read as a table'})")


def _typed(frame: pl.DataFrame, table: Path) -> pl.DataFrame:
    """Give numbers their type; ``seconds`` becomes ``duration_s``, the house's word."""
    if "seconds" in frame.columns and "duration_s" not in frame.columns:
        frame = frame.rename({"seconds": "duration_s"})
    if "start_s" in frame.columns or "end_s" in frame.columns:
        absent = [c for c in ("start_s", "end_s") if c not in frame.columns]
        frame = frame.with_columns(pl.lit(None, dtype=pl.Float64).alias(c) for c in absent)
    numbers = {column: kind for column, kind in NUMBERS.items() if column in frame.columns}
    try:
        cast = frame.select(pl.col(column).cast(kind, strict=False) for column, kind in numbers.items())
    except pl.exceptions.PolarsError as error:
        raise TableError(f"{table}: times and channels must be numbers ({str(error).splitlines()[0]})") from None
    lost = pl.DataFrame(cast[column].is_null() & frame[column].is_not_null() for column in numbers)
    if numbers and (first := lost.select(pl.any_horizontal(pl.all())).to_series().arg_true()).len():
        column = next(column for column in numbers if lost[column][first[0]])
        value = plain(str(frame[column][first[0]])[:80])
        raise TableError(f"{table}: times and channels must be numbers, but '{column}' holds '{value}'")
    return frame.with_columns(cast)
