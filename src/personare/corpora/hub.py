"""Hub-style folders: metadata.csv, .jsonl or .parquet with file_name, a speaker and what else is known.

The table lies at the top, or in each folder of a split (train/metadata.csv), whose name becomes the part.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from personare.core.errors import CorpusError
from personare.core.tables import read_frame
from personare.corpora.gathering import Reading, gather, orphans
from personare.corpora.listing import full_path, heading_of, json_lines, table_of
from personare.corpora.problems import plain
from personare.corpora.walking import folders_in, walk

TABLES = ("metadata.csv", "metadata.jsonl", "metadata.parquet")
# our word -> the words found for it, the first that is there is taken
WORDS = {
    "utterance": ("utterance", "utterance_id", "utt_id", "id"),
    "speaker": ("speaker_id", "speaker", "spk_id", "spk", "client_id"),
    "text": ("transcription", "text", "sentence", "transcript", "raw_transcription"),
    "gender": ("gender", "sex"),
    "part": ("part", "split"),
    "language": ("language", "lang", "locale", "lang_id"),
    "duration_s": ("duration_s", "duration", "seconds"),
}


@dataclass(frozen=True)
class Hub:
    """A folder with hub-style metadata beside the audio."""

    looks_for = "metadata.csv, metadata.jsonl or metadata.parquet with file_name, at the top or in each split's folder"

    def detects(self, path: Path) -> str | None:
        """Say why this is a hub-style folder, or None."""
        tables = _tables(path)
        if not tables:
            return None
        first = tables[0].relative_to(path) if path.is_dir() else tables[0].name
        more = f" and {len(tables) - 1} more" if len(tables) > 1 else ""
        return f"{first}{more} with file_name"

    def read(self, path: Path) -> Reading:
        """Read the tables at, or in, ``path``."""
        tables, evidence = _tables(path), self.detects(path)
        if evidence is None:
            raise CorpusError(f"{path}: layout 'hub' needs {self.looks_for}")
        split = path.is_dir() and tables[0].parent != path
        frame = pl.concat([_rows(t, part=t.parent.name if split else None) for t in tables], how="diagonal_relaxed")
        problems = []
        if path.is_dir():
            tree = walk(path.resolve())
            audio = [pl.Series(tree.audio(), dtype=pl.String)]
            problems += [*tree.problems, *orphans(str(tree.root), audio, [frame["audio"]], place=tables[0].name)]
        notes = [f"{t.name} is read, {n} beside it is not" for t in tables for n in TABLES if _beside(t, n)]
        if frame["utterance"].is_duplicated().any() and split:
            ids = [f"{p}/{u}" if u else u for p, u in frame.select("part", "utterance").iter_rows()]
            frame = frame.with_columns(pl.Series("utterance", ids, dtype=pl.String))
            notes.append("the same ids occur in several parts: the part is put before every id")
        place = tables[0].name
        return gather(frame, layout="hub", evidence=evidence, place=place, problems=problems, notes=notes)


def _beside(table: Path, name: str) -> bool:
    return name != table.name and table.name in TABLES and (table.parent / name).is_file()


def _tables(path: Path) -> list[Path]:
    """Find the table at the top, or one in each folder below (also below data/)."""
    if path.is_file():
        return [path] if path.suffix in (".csv", ".jsonl") and _has_file_name(path) else []
    for root in (path, path / "data"):
        for folders in ([root], [root / name for name in folders_in(root)]):
            candidates = [next((f / n for n in TABLES if (f / n).is_file()), None) for f in folders]
            tables = [t for t in candidates if t is not None and _has_file_name(t)]
            if tables:
                return tables
    return []


def _has_file_name(table: Path) -> bool:
    try:
        if table.suffix == ".csv":
            return "file_name" in heading_of(table, ",")
        if table.suffix == ".parquet":
            return "file_name" in pl.read_parquet_schema(table)
        return "file_name" in next(json_lines(table), {})
    except (CorpusError, OSError, pl.exceptions.PolarsError):
        return False


def _rows(table: Path, *, part: str | None) -> pl.DataFrame:
    """Read one table and bring its words to ours; other columns of plain values are carried along."""
    if table.suffix == ".csv":
        frame = table_of(table, ",")
    elif table.suffix == ".parquet":
        frame = read_frame(table)
    else:
        scalars = (str, int, float, bool)
        rows = [{k: v for k, v in row.items() if isinstance(v, scalars)} for row in json_lines(table)]
        frame = pl.DataFrame(rows, infer_schema_length=None, strict=False)
    ours = {word: next((c for c in theirs if c in frame.columns), None) for word, theirs in WORDS.items()}
    if ours["speaker"] is None:
        wanted = ", ".join(WORDS["speaker"])
        raise CorpusError(f"{table}: no column says who speaks ({wanted}); it has {plain(', '.join(frame.columns))}")
    renamed = {c: word for word, c in ours.items() if c is not None and c != word}
    frame = frame.drop(word for word in renamed.values() if word in frame.columns).rename(renamed)
    return _completed(frame, table.parent.resolve(), part=part)


def _completed(frame: pl.DataFrame, folder: Path, *, part: str | None) -> pl.DataFrame:
    """Add the audio's full path, an id where there is none, the part, and give text and numbers their types."""
    names = frame["file_name"].cast(pl.String)
    audio = [None if n is None else full_path(folder, n) for n in names]
    columns = [pl.Series("audio", audio, dtype=pl.String)]
    if "utterance" not in frame.columns:
        columns.append(names.str.replace(r"\.\w+$", "").alias("utterance"))
    if part is not None:
        columns.append(pl.Series("part", [part] * len(frame), dtype=pl.String))
    frame = frame.with_columns(columns).drop("file_name")
    words = [c for c in ("utterance", "speaker", "text", "gender", "part", "language") if c in frame.columns]
    frame = frame.with_columns(pl.col(words).cast(pl.String))
    if "duration_s" in frame.columns:
        frame = frame.with_columns(pl.col("duration_s").cast(pl.Float64, strict=False))
    return frame
