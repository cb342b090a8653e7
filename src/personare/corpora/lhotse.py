"""Lhotse manifests: recordings with supervisions, or cuts, as JSON lines (also gzipped).

Every supervision is an utterance. Recordings that are commands, addresses on the net, or joined from several files are
refused or reported: only plain files are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from personare.core.errors import CorpusError
from personare.corpora.gathering import Reading, gather
from personare.corpora.listing import json_lines, located
from personare.corpora.problems import Problem, found

NAME = re.compile(r"^(?P<head>.*?)(?P<kind>recordings|supervisions|cuts)(?P<tail>.*)\.jsonl(\.gz)?$")
COLUMNS = {
    "utterance": pl.String(),
    "speaker": pl.String(),
    "audio": pl.String(),
    "start_s": pl.Float64(),
    "end_s": pl.Float64(),
    "duration_s": pl.Float64(),
    "gender": pl.String(),
    "text": pl.String(),
    "language": pl.String(),
    "channel": pl.Int64(),
}
Row = dict[str, Any]


@dataclass(frozen=True)
class Lhotse:
    """A folder of lhotse manifests, or one file of cuts."""

    looks_for = "*recordings*.jsonl with *supervisions*.jsonl, or *cuts*.jsonl (also .jsonl.gz)"

    def detects(self, path: Path) -> str | None:
        """Say why these are lhotse manifests, or None."""
        files, _ = _chosen(path)
        return " and ".join(f.name for f in files[:2]) if files else None

    def read(self, path: Path) -> Reading:
        """Read the manifests at, or in, ``path``."""
        (files, notes), evidence = _chosen(path), self.detects(path)
        if evidence is None:
            raise CorpusError(f"{path}: layout 'lhotse' needs {self.looks_for}")
        kinds = {f: _kind(f) for f in files}
        cuts = [row for f, kind in kinds.items() if kind == "cuts" for row in json_lines(f)]
        recordings = [row for f, kind in kinds.items() if kind == "recordings" for row in json_lines(f)]
        supervisions = [row for f, kind in kinds.items() if kind == "supervisions" for row in json_lines(f)]
        try:
            rows, problems = _from_cuts(cuts) if cuts else _from_pairs(recordings, supervisions)
        except CorpusError as error:
            raise CorpusError(f"{path}: {error}") from None
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise CorpusError(f"{path}: not as lhotse writes it ({type(error).__name__}: {error})") from None
        places = located({row["audio"] for row in rows}, files[0].parent)
        frame = pl.DataFrame([{**row, "audio": places[row["audio"]]} for row in rows], schema=COLUMNS)
        elsewhere = frame["channel"].fill_null(0).ne(0).sum()
        if elsewhere:
            notes = [*notes, f"{elsewhere:,} utterances are on a channel beside the first (column 'channel')"]
        else:
            frame = frame.drop("channel")
        return gather(frame, layout="lhotse", evidence=evidence, place=files[0].name, problems=problems, notes=notes)


def _kind(path: Path) -> str | None:
    match = NAME.match(path.name)
    return match["kind"] if match else None


def _chosen(path: Path) -> tuple[list[Path], list[str]]:
    """Choose the files to read: recordings with supervisions where both are there, else cuts."""
    if path.is_file():
        return ([path], []) if _kind(path) == "cuts" else ([], [])
    if not path.is_dir():
        return [], []
    files = sorted(f for f in path.iterdir() if _kind(f) is not None and f.is_file())
    cuts = [f for f in files if _kind(f) == "cuts"]
    both = [f for f in files if _kind(f) != "cuts"]
    if {_kind(f) for f in both} != {"recordings", "supervisions"}:
        return cuts, []
    skipped = f"not read: {', '.join(f.name for f in cuts)} (name a file of cuts itself to read it)"
    return both, [skipped] if cuts else []


def _source(recording: Row) -> str | None:
    """Give the one file of a recording; None where it is joined from several."""
    sources = recording["sources"]
    odd = next((s["type"] for s in sources if s["type"] != "file"), None)
    if odd is not None:
        rule = f"recording '{recording['id']}' is a {odd}, not a file"
        raise CorpusError(f"{rule}; write it to a file yourself and list that")
    return str(sources[0]["source"]) if len(sources) == 1 else None


def _word(value: Any) -> str | None:
    return None if value is None else str(value)


def _channel(value: Any) -> int | None:
    """Give the channel of a supervision, the first where it has several."""
    first = value[0] if isinstance(value, list) and value else value
    return first if isinstance(first, int) else None


def _row(recording: Row, supervision: Row, *, shift_s: float = 0.0) -> Row:
    """Make an utterance of a supervision; times only where it is not the whole recording."""
    start_s = float(supervision["start"]) + shift_s
    end_s = start_s + float(supervision["duration"])
    whole = abs(start_s) < 1e-3 and abs(end_s - float(recording["duration"])) < 2e-3
    return {
        "utterance": _word(supervision["id"]),
        "speaker": _word(supervision.get("speaker")),
        "audio": _source(recording),
        "start_s": None if whole else round(start_s, 6),
        "end_s": None if whole else round(end_s, 6),
        "duration_s": float(supervision["duration"]),
        "gender": _word(supervision.get("gender")),
        "text": _word(supervision.get("text")),
        "language": _word(supervision.get("language")),
        "channel": _channel(supervision.get("channel")),
    }


def _from_pairs(recordings: list[Row], supervisions: list[Row]) -> tuple[list[Row], list[Problem]]:
    known = {r["id"]: r for r in recordings}
    joined = {key for key, r in known.items() if _source(r) is None}
    named = [s["recording_id"] for s in supervisions]
    usable = known.keys() - joined
    rows = [_row(known[s["recording_id"]], s) for s in supervisions if s["recording_id"] in usable]
    problems = [
        *found("bad-line", "recordings (joined from several files)", sorted(joined)),
        *found("orphan-entry", "supervisions", (s["id"] for s in supervisions if s["recording_id"] not in known)),
        *found("orphan-audio", "recordings", sorted(known.keys() - set(named))),
    ]
    return rows, problems


def _from_cuts(cuts: list[Row]) -> tuple[list[Row], list[Problem]]:
    rows: list[Row] = []
    mixed: list[str] = []
    silent: list[str] = []
    for cut in cuts:
        simple = cut.get("type", "MonoCut") in ("MonoCut", "MultiCut", "Cut") and "recording" in cut
        if not simple or _source(cut["recording"]) is None:
            mixed.append(str(cut["id"]))
        elif not cut.get("supervisions"):
            silent.append(str(cut["id"]))
        else:
            rows += _supervised(cut)
    return rows, [*found("bad-line", "cuts (mixed or joined)", mixed), *found("no-speaker", "cuts", silent)]


def _supervised(cut: Row) -> Iterator[Row]:
    """Yield the utterances of a cut; their times are counted from the cut's start."""
    for supervision in cut["supervisions"]:
        yield _row(cut["recording"], supervision, shift_s=float(cut["start"]))
