"""Manifests that are read a few rows at a time, for tests."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import polars as pl

from personare.core import pieces

TYPES = {
    "utterance": pl.String,
    "speaker": pl.String,
    "audio": pl.String,
    "gender": pl.String,
    "text": pl.String,
    "start_s": pl.Float64,
    "end_s": pl.Float64,
    "part": pl.String,
    "person_channel": pl.Int64,
    "seconds": pl.Float64,
    "mine": pl.Int64,
}


@contextlib.contextmanager
def small(rows: int, buckets: int = 2) -> Iterator[None]:
    """Read so few rows at a time, spread over so few buckets, that most questions need several of them."""
    with mock.patch.multiple(pieces, ROWS=rows, _SPREAD=buckets):
        yield


def write_table(folder: Path, columns: Mapping[str, list[Any]]) -> Path:
    folder.mkdir(exist_ok=True)
    schema = {name: TYPES[name] for name in columns}
    pl.DataFrame(dict(columns), schema=schema).write_parquet(folder / "manifest.parquet")
    return folder
