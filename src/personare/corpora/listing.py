"""Lists in text files, as corpora bring them: key and rest, columns, JSON lines; and where the files they name are."""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from personare.core.errors import CorpusError
from personare.corpora.problems import Problem, found
from personare.corpora.walking import existing


def lines_of(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 text file (also gzipped, by its suffix), without their ends."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            for line in io.TextIOWrapper(file, encoding="utf-8-sig", newline="\n"):
                yield line.rstrip("\r\n")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise CorpusError(f"{path}: cannot be read as UTF-8 text ({error})") from None


def pairs(path: Path) -> list[tuple[str, str]]:
    """Read lines of a key and the rest, as Kaldi writes them; blank lines are passed over."""
    rows = []
    for line in lines_of(path):
        if line.strip():
            key, _, rest = line.strip().replace("\t", " ").partition(" ")
            rows.append((key, rest.strip()))
    return rows


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSONL file."""
    for number, line in enumerate(lines_of(path), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise CorpusError(f"{path}: line {number} is not JSON ({error})") from None
        if not isinstance(row, dict):
            raise CorpusError(f"{path}: line {number} must hold an object, not {type(row).__name__}")
        yield row


def table_of(path: Path, separator: str) -> pl.DataFrame:
    """Read a table with a heading, every column as text; blanks around names and values are removed.

    Only comma-separated tables have quotes; in tab-separated ones a quote is a letter like any other.
    """
    quote = '"' if separator == "," else None
    try:
        frame = pl.read_csv(path, separator=separator, infer_schema=False, quote_char=quote)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise CorpusError(f"{path}: cannot be read as a table ({str(error).splitlines()[0]})") from None
    named = {column: column.strip().lstrip("\ufeff") for column in frame.columns}
    if len(set(named.values())) == len(named):
        frame = frame.rename(named)
    return frame.with_columns(pl.all().str.strip_chars())


def heading_of(path: Path, separator: str) -> list[str]:
    """Read the column names of a table; none when it cannot be read."""
    try:
        first = next(lines_of(path), "")
    except CorpusError:
        return []
    return [word.strip().strip('"') for word in first.split(separator)]


def read_texts(files: Mapping[str, str]) -> tuple[dict[str, str], list[Problem]]:
    """Read one short text file per key, each as one line; those that cannot be read are reported."""
    texts: dict[str, str] = {}
    bad: list[str] = []
    for key, path in files.items():
        try:
            texts[key] = " ".join(" ".join(lines_of(Path(path))).split())
        except CorpusError as error:
            bad.append(str(error))
    return texts, found("unreadable-text", "transcripts", bad)


def full_path(folder: Path, written: str) -> str:
    """Give the absolute path of a file as written in a list inside ``folder``; dots are resolved in the text.

    >>> full_path(Path("/corpus/lists"), "../audio/u1.wav")
    '/corpus/audio/u1.wav'
    """
    return os.path.normpath(os.path.join(folder, written))  # noqa: PTH118 - a Path would keep the dots


def located(written: Iterable[str], folder: Path) -> dict[str, str]:
    """Find files as written in a list: absolute, or relative to the list's folder, else to the current folder.

    A file found nowhere is given its place beside the list.
    """
    here, there = Path.cwd(), folder.resolve()
    beside = {w: full_path(there, w) for w in written}
    there_is = existing(beside.values())
    lost = {w: full_path(here, w) for w, place in beside.items() if place not in there_is}
    current = existing(lost.values())
    return {w: lost[w] if w in lost and lost[w] in current else place for w, place in beside.items()}
