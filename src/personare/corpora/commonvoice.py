"""Common Voice: one folder per language with clips/ and tables (validated.tsv, train.tsv, ...).

Read is validated.tsv, else train, dev and test together, or the table that is named itself. Beware: ``client_id`` is
an account or a browser, not a person.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from personare.core.errors import CorpusError
from personare.corpora.gathering import Reading, gather
from personare.corpora.listing import heading_of, table_of
from personare.corpora.problems import found
from personare.corpora.walking import stem_of, walk

PARTS = ("train", "dev", "test")
NEEDED = {"client_id", "path"}
CAVEAT = "client_id is an account or a browser, not a person: one person can be several speakers, several people one"


@dataclass(frozen=True)
class CommonVoice:
    """One language of Common Voice."""

    looks_for = "clips/ beside a .tsv with the columns client_id and path"

    def detects(self, path: Path) -> str | None:
        """Say why this is Common Voice, or None."""
        folder = path if path.is_dir() else path.parent
        tables = _tables(path)
        if not tables or not (folder / "clips").is_dir():
            return None
        return f"clips/ beside {tables[0].name} with the columns client_id and path"

    def read(self, path: Path) -> Reading:
        """Read the language folder, or the one table, at ``path``."""
        evidence = self.detects(path)
        if evidence is None:
            raise CorpusError(f"{path}: layout 'commonvoice' needs {self.looks_for}")
        folder = (path if path.is_dir() else path.parent).resolve()
        chosen = _chosen(path)
        frame = pl.concat([table_of(t, "\t") for t in chosen], how="diagonal").unique(maintain_order=True)
        clips = walk(folder / "clips")
        known = set(frame["path"].drop_nulls())
        for table in _tables(folder):
            known.update(table_of(table, "\t")["path"].drop_nulls())
        stray = [a for a in clips.audio() if a not in known and stem_of(a) not in known]
        problems = [*clips.problems, *found("orphan-audio", "clips", stray)]
        frame = _with_durations(_with_parts(_renamed(frame, folder), folder), folder)
        others = [t.name for t in _tables(folder) if t not in chosen]
        notes = [CAVEAT, f"read: {', '.join(t.name for t in chosen)}"]
        if others:
            notes[1] += f"; not read: {', '.join(others)}"
        return gather(
            frame,
            layout="commonvoice",
            evidence=evidence,
            place=" + ".join(t.name for t in chosen),
            problems=problems,
            notes=notes,
        )


def _tables(path: Path) -> list[Path]:
    """List the tables of clips at ``path``, the most useful first."""
    found_here = sorted(path.glob("*.tsv")) if path.is_dir() else [path] if path.suffix == ".tsv" else []
    clips = [t for t in found_here if set(heading_of(t, "\t")) >= NEEDED]
    order = {name: rank for rank, name in enumerate(("validated", *PARTS))}
    return sorted(clips, key=lambda t: (order.get(t.stem, len(order)), t.name))


def _chosen(path: Path) -> list[Path]:
    tables = _tables(path)
    parts = [t for t in tables if t.stem in PARTS]
    return tables[:1] if tables[0].stem == "validated" or not parts else parts


def _renamed(frame: pl.DataFrame, folder: Path) -> pl.DataFrame:
    """Bring their words to ours; old releases write paths without .mp3."""
    has_suffix = pl.col("path").str.contains(r"\.\w{2,4}$")
    clip = pl.when(has_suffix).then(pl.col("path")).otherwise(pl.col("path") + ".mp3")
    frame = frame.with_columns(
        clip=clip, utterance=pl.col("path").str.replace(r"\.\w{2,4}$", ""), speaker=pl.col("client_id")
    )
    frame = frame.with_columns(audio=pl.lit(f"{folder}/clips/") + pl.col("clip"))
    ours = {theirs: our for theirs, our in (("sentence", "text"), ("locale", "language")) if theirs in frame.columns}
    kept = [c for c in ("sentence", "gender", "age", "accents", "locale") if c in frame.columns]
    return frame.select("utterance", "speaker", "audio", "clip", *kept).rename(ours)


def _with_parts(frame: pl.DataFrame, folder: Path) -> pl.DataFrame:
    """Say which of train, dev and test a clip belongs to."""
    part: dict[str, str] = {}
    for name in PARTS:
        table = folder / f"{name}.tsv"
        if table.is_file() and "path" in heading_of(table, "\t"):
            part.update(dict.fromkeys((stem_of(p) for p in table_of(table, "\t")["path"].drop_nulls()), name))
    values = [part.get(u) for u in frame["utterance"]]
    return frame.with_columns(pl.Series("part", values, dtype=pl.String))


def _with_durations(frame: pl.DataFrame, folder: Path) -> pl.DataFrame:
    table = folder / "clip_durations.tsv"
    if not table.is_file() or len(heading_of(table, "\t")) != 2:
        return frame.drop("clip")
    times = table_of(table, "\t")
    times.columns = ["clip", "milliseconds"]
    times = times.unique("clip", keep="first", maintain_order=True)
    times = times.select("clip", duration_s=pl.col("milliseconds").cast(pl.Float64, strict=False) / 1000)
    return frame.join(times, on="clip", how="left", maintain_order="left").drop("clip")
