"""What a table knows about people: gender, age group, accent or another column, one value for every speaker."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from personare.core.errors import ConfigError, did_you_mean
from personare.core.tables import Corpus
from personare.corpora.manifest import speakers_beside

MOST_VALUES = 20
Attribute = Mapping[str, str | None]


def attribute_of(name: str, *corpora: tuple[Path, Corpus]) -> Attribute:
    """Read an attribute of every speaker: a column of the corpora, or of the speakers.tsv beside one of them."""
    known: dict[str, str | None] = {}
    columns: set[str] = set()
    for path, corpus in corpora:
        beside = speakers_beside(path if path.is_dir() else path.parent)
        tables = [corpus.frame] + ([] if beside is None else [beside])
        columns.update(column for table in tables for column in table.columns)
        for table in (table for table in tables if name in table.columns):
            _note(known, table.select("speaker", pl.col(name).cast(pl.String)).unique(maintain_order=True), name)
    if name not in columns:
        raise ConfigError(f"no corpus has a column '{name}'; {did_you_mean(name, columns)}")
    values = {value for value in known.values() if value}
    if len(values) > MOST_VALUES:
        raise ConfigError(f"'{name}' has {len(values)} values, too many to guess between; group them first")
    return known


def _note(known: dict[str, str | None], rows: pl.DataFrame, name: str) -> None:
    for speaker, value in rows.iter_rows():
        if value and known.get(speaker) not in (None, value):
            raise ConfigError(f"speaker '{speaker}' has more than one {name} ('{known[speaker]}' and '{value}')")
        known[speaker] = value or known.get(speaker)
