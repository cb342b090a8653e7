"""The tables every room speaks: Corpus, Trials, Scores (polars, checked) and Embeddings (vectors with their owners)."""

from __future__ import annotations

import contextlib
import io
import itertools
import operator
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
import polars as pl

from personare.core import pieces
from personare.core.errors import TableError, did_you_mean
from personare.core.files import write_bytes
from personare.core.utterances import Utterance, utterances_in

if TYPE_CHECKING:
    from numpy.typing import NDArray

GENDERS = ("f", "m", "x")
LANGUAGE = r"^([a-z]{2,3})?$"  # nothing: sound without speech


@dataclass(frozen=True, eq=False)
class Table:
    """A polars frame with a checked schema: required columns, optional ones, a key that never repeats."""

    frame: pl.DataFrame
    required: ClassVar[Mapping[str, pl.DataType]] = {}
    optional: ClassVar[Mapping[str, pl.DataType]] = {}
    key: ClassVar[tuple[str, ...]] = ()
    closed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "frame", self._checked(self.frame))

    def __len__(self) -> int:
        return len(self.frame)

    @classmethod
    def _checked(cls, frame: pl.DataFrame) -> pl.DataFrame:
        name = cls.__name__
        for column in cls.required:
            if column not in frame.columns:
                raise TableError(f"{name} needs a column '{column}'; {did_you_mean(column, frame.columns)}")
        known = {**cls.required, **cls.optional}
        for column in frame.columns:
            if column not in known and cls.closed:
                raise TableError(f"{name} has no column '{column}'; {did_you_mean(column, known)}")
        frame = cls.typed(frame)
        for column in cls.required:
            empty = frame[column].is_null()
            if frame[column].dtype == pl.String:
                empty = empty | (frame[column] == "")
            if empty.any():
                where = f"{empty.sum()} rows (first: row {empty.arg_max()})"
                raise TableError(f"{name}: column '{column}' is empty in {where}")
        repeated = frame.select(cls.key).is_duplicated()
        if repeated.any():
            first = " ".join(str(v) for v in frame.select(cls.key).row(repeated.arg_max() or 0))
            rule = f"{' + '.join(cls.key)} must not repeat"
            raise TableError(f"{name}: {rule}; {repeated.sum()} rows do (first: '{first}')")
        return frame

    @classmethod
    def typed(cls, frame: pl.DataFrame) -> pl.DataFrame:
        """Give the columns that are known their types."""
        known = {**cls.required, **cls.optional}
        try:
            return frame.with_columns(pl.col(c).cast(t) for c, t in known.items() if c in frame.columns)
        except pl.exceptions.PolarsError as error:
            raise TableError(f"{cls.__name__}: wrong type ({str(error).splitlines()[0]})") from None

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a Parquet or TSV file."""
        return cls(read_frame(path))

    def save(self, path: Path) -> None:
        """Write a Parquet or TSV file, by its suffix."""
        write_frame(self.frame, path)


@dataclass(frozen=True, eq=False)
class Corpus(Table):
    """Utterances: an id, who speaks, where the sound is; gender, text, language, part and more where known.

    ``start_s``/``end_s`` cut an utterance out of a longer file; ``person_channel`` is the one channel its speaker is
    on, where the channels of a file are several people. Other columns are carried along untouched.
    """

    required: ClassVar[Mapping[str, pl.DataType]] = {
        "utterance": pl.String(),
        "speaker": pl.String(),
        "audio": pl.String(),
    }
    optional: ClassVar[Mapping[str, pl.DataType]] = {
        "gender": pl.String(),
        "text": pl.String(),
        "start_s": pl.Float64(),
        "end_s": pl.Float64(),
        "part": pl.String(),
        "person_channel": pl.Int64(),
        "language": pl.String(),
    }
    key: ClassVar[tuple[str, ...]] = ("utterance",)
    closed: ClassVar[bool] = False

    @classmethod
    def _checked(cls, frame: pl.DataFrame) -> pl.DataFrame:
        frame = super()._checked(frame)
        if "gender" in frame.columns:
            odd = frame.filter(pl.col("gender").is_not_null() & ~pl.col("gender").is_in(GENDERS))["gender"]
            if len(odd):
                raise TableError(f"Corpus: gender '{odd[0]}' is none of {', '.join(GENDERS)} (or empty)")
            mixed = frame.group_by("speaker").agg(pl.col("gender").drop_nulls().n_unique()).filter(pl.col("gender") > 1)
            if len(mixed):
                raise TableError(f"Corpus: speaker '{mixed['speaker'][0]}' has more than one gender")
        if "language" in frame.columns:
            odd = frame.filter(~pl.col("language").str.contains(LANGUAGE).fill_null(True))["language"]
            if len(odd):
                raise TableError(f"Corpus: language '{odd[0]}' is no code such as en or de (or empty)")
        return frame

    @property
    def speakers(self) -> list[str]:
        """All speakers, sorted."""
        return sorted(self.frame["speaker"].unique().to_list())

    @property
    def languages(self) -> list[str]:
        """The languages that the corpus names, sorted; none where it names none."""
        if "language" not in self.frame.columns:
            return []
        return sorted(code for code in self.frame["language"].drop_nulls().unique() if code)

    def __iter__(self) -> Iterator[Utterance]:
        return utterances_in(self.frame)

    def of_part(self, part: str | None) -> Corpus:
        """Give one part of the corpus; None is all of it."""
        if part is None:
            return self
        parts = self.frame["part"].drop_nulls().unique().to_list() if "part" in self.frame.columns else []
        if part not in parts:
            raise TableError(f"the corpus has no part '{part}'; {did_you_mean(part, parts)}")
        return Corpus(self.frame.filter(pl.col("part") == part))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a manifest; relative audio paths are taken from the manifest's own folder."""
        frame = read_frame(path)
        if "audio" in frame.columns:
            folder = path.parent.resolve()
            places = [None if a is None else os.path.normpath(folder / str(a)) for a in frame["audio"]]
            frame = frame.with_columns(pl.Series("audio", places, dtype=pl.String))
        return cls(frame)

    def save(self, path: Path) -> None:
        """Write a manifest; audio below the manifest's folder is written as a relative path."""
        folder = path.parent.resolve()
        places = [Path(a) for a in self.frame["audio"]]
        local = [p.relative_to(folder).as_posix() if p.is_relative_to(folder) else str(p) for p in places]
        write_frame(self.frame.with_columns(pl.Series("audio", local, dtype=pl.String)), path)


@dataclass(frozen=True, eq=False)
class Trials(Table):
    """Questions to an attacker: is the speaker enrolled as ``enroll`` the one heard in ``test``?

    ``list`` is the file that names the trial, where a corpus has several lists.
    """

    required: ClassVar[Mapping[str, pl.DataType]] = {
        "enroll": pl.String(),
        "test": pl.String(),
        "target": pl.Boolean(),
    }
    optional: ClassVar[Mapping[str, pl.DataType]] = {"list": pl.String()}
    key: ClassVar[tuple[str, ...]] = ("enroll", "test")


@dataclass(frozen=True, eq=False)
class Scores(Table):
    """An attacker's answers: higher means more likely the same speaker."""

    required: ClassVar[Mapping[str, pl.DataType]] = {
        "enroll": pl.String(),
        "test": pl.String(),
        "target": pl.Boolean(),
        "score": pl.Float64(),
    }
    optional: ClassVar[Mapping[str, pl.DataType]] = {"llr": pl.Float64()}
    key: ClassVar[tuple[str, ...]] = ("enroll", "test")


@dataclass(frozen=True, eq=False)
class Embeddings:
    """Speaker vectors: ``ids`` [n], ``speakers`` [n], ``vectors`` float32 [n, d]."""

    ids: tuple[str, ...]
    speakers: tuple[str, ...]
    vectors: NDArray[np.float32]

    def __post_init__(self) -> None:
        shape = self.vectors.shape
        if len(shape) != 2 or not len(self.ids) == len(self.speakers) == shape[0]:
            raise TableError(f"{len(self.ids)} ids and {len(self.speakers)} speakers do not fit vectors {list(shape)}")
        if len(set(self.ids)) != len(self.ids):
            raise TableError("Embeddings: ids must not repeat")
        parts = (self.vectors[start : start + 65_536] for start in range(0, len(self.vectors), 65_536))
        if not all(np.isfinite(part).all() for part in parts):  # in parts: a gallery of millions is read from the disk
            raise TableError("Embeddings: vectors hold NaN or infinite values")

    def rows(self, chosen: Sequence[int] | NDArray[np.intp]) -> Embeddings:
        """Give some rows, in the order asked for."""
        ids, speakers = (tuple(column[i] for i in chosen) for column in (self.ids, self.speakers))
        return Embeddings(ids, speakers, self.vectors[np.asarray(chosen, dtype=np.intp)])

    def of_speakers(self, speakers: Collection[str]) -> Embeddings:
        """Give the rows of some speakers."""
        return self.rows([i for i, who in enumerate(self.speakers) if who in speakers])

    def sorted(self) -> Embeddings:
        """Give the rows in the order of their ids: what is drawn from them does not depend on how they came."""
        if all(map(operator.lt, self.ids, itertools.islice(self.ids, 1, None))):  # nothing is copied
            return self
        return self.rows(sorted(range(len(self.ids)), key=self.ids.__getitem__))


def read_frame(path: Path) -> pl.DataFrame:
    """Read a Parquet or TSV file; every TSV column is text."""
    with _read_of(path):
        if path.suffix == ".parquet":
            return pl.read_parquet(path)
        frame = pl.read_csv(path, separator="\t", infer_schema=False, quote_char=None)
        first = frame.columns[0] if frame.columns else ""
        return frame.rename({first: first.lstrip("\ufeff")}) if first.startswith("\ufeff") else frame


def read_frames(path: Path, columns: Collection[str]) -> Iterator[pl.DataFrame]:
    """Read those of the columns that are there, some rows at a time, at least one frame; a TSV file is read whole."""
    if path.suffix != ".parquet":
        frame = read_frame(path)
        frame = frame.select(name for name in frame.columns if name in columns)
        yield from (frame.slice(begin, pieces.ROWS) for begin in range(0, len(frame) or 1, pieces.ROWS))
        return
    with _read_of(path):
        scan = pl.scan_parquet(path, glob=False)
        names = [name for name in scan.collect_schema() if name in columns]
        count = int(scan.select(pl.len()).collect().item())
    for begin in range(0, count or 1, pieces.ROWS):
        with _read_of(path):
            part = pl.scan_parquet(path, glob=False).select(names).slice(begin, pieces.ROWS).collect()
        yield part


@contextlib.contextmanager
def _read_of(path: Path) -> Iterator[None]:
    """Say in one line why a table cannot be read."""
    if not path.is_file():
        raise TableError(f"{path}: no such file")
    if path.suffix not in (".parquet", ".tsv", ".txt"):
        raise TableError(f"{path}: unknown kind of table '{path.suffix}'; use .parquet or .tsv")
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, UnicodeDecodeError) as error:
        raise TableError(f"{path}: cannot be read ({str(error).splitlines()[0]})") from None


def write_frame(frame: pl.DataFrame, path: Path) -> None:
    """Write a Parquet or TSV file atomically."""
    if path.suffix not in (".parquet", ".tsv"):
        raise TableError(f"{path}: unknown kind of table '{path.suffix}'; use .parquet or .tsv")
    stream = io.BytesIO()  # written by Python, which tells when a disk is full
    if path.suffix == ".parquet":
        frame.write_parquet(stream)
    else:
        frame.write_csv(stream, separator="\t", quote_style="never")
    write_bytes(path, stream.getvalue())
