"""Reading a run folder: findings, tables for figures, sounds, the gate's outcome, failures and environment.

Only the files that a run promises are read, never its stages; a file that is not there is a note in the report.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from personare.core.errors import TableError
from personare.core.findings import Estimate, Finding, MetricCard
from personare.core.ledger import Ledger, read_ledger
from personare.core.tables import read_frame
from personare.metrics import CARDS, card

ESTIMATE = ("metric", "title", "value", "low", "high", "n", "chance", "differs_from_chance", "failed", "cite")
TESTS = ("p_better", "p_worse")  # runs of earlier versions have none
PLAIN = (*ESTIMATE, *TESTS, "better", "unit", "other")
ORIGINAL = "original"
Person = tuple[str, str]  # corpus, speaker


@dataclass(frozen=True)
class ArtefactFile:
    """A table for figures or a sound, as a file, and the conditions it holds under."""

    kind: str
    path: Path
    conditions: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Run:
    """One run, as its folder describes it.

    ``notes`` also name what could not be read; ``speaker_labels`` says how a report calls the speakers, and
    ``shows_names`` whether it may show names, ids and paths of the corpus. ``date`` is the day of the last measurement,
    ``command`` what was typed; both come from the log, and are empty where there is none. ``ledger`` counts the
    recordings from their folder to the attacks; None where nobody noted it.
    """

    folder: Path
    title: str
    findings: tuple[Finding, ...]
    artefacts: tuple[ArtefactFile, ...]
    gate: tuple[Mapping[str, Any], ...]
    failures: tuple[tuple[str, str, str], ...]
    environment: Mapping[str, Any]
    study: Mapping[str, Any]
    notes: tuple[str, ...]
    speaker_labels: Mapping[Person, str] = field(default_factory=dict)
    shows_names: bool = False
    date: str = ""
    command: str = ""
    ledger: Ledger | None = None

    def of_kind(self, kind: str) -> list[ArtefactFile]:
        """Give the artefacts of one kind."""
        return [artefact for artefact in self.artefacts if artefact.kind == kind]


def read_run(folder: Path) -> Run:
    """Read a run folder; what is no run folder is one clear line."""
    if not (folder / "findings.parquet").is_file():
        raise TableError(
            f"{folder}: is no run folder (it has no findings.parquet); make one with: personare evaluate ORIG ANON, "
            "or personare study run STUDY.yaml"
        )
    findings = findings_of(read_frame(folder / "findings.parquet"), folder / "findings.parquet")
    document = _json(folder / "findings.json", {})
    artefacts, absent = _artefacts(folder)
    date, command = _logged(folder / "log.txt")
    notes = [*document.get("notes", ()), *(f"{name} is listed in artefacts.json, but is not there" for name in absent)]
    return Run(
        folder,
        str(document.get("study") or folder.resolve().name),
        tuple(findings),
        tuple(artefacts),
        tuple(_json(folder / "gate.json", [])),
        tuple(_failures(folder / "failures.tsv")),
        _json(folder / "environment.json", {}),
        _json(folder / "study.json", {}),
        tuple(dict.fromkeys(str(note) for note in notes)),
        date=date,
        command=command,
        ledger=read_ledger(document.get("ledger")),
    )


def findings_of(frame: pl.DataFrame, path: Path) -> list[Finding]:
    """Make findings of a table; empty conditions fall away, a metric unknown here keeps what the table says of it."""
    missing = [name for name in ESTIMATE if name not in frame.columns]
    if missing:
        raise TableError(f"{path}: needs a column '{missing[0]}'; run the study again with this version of personare")
    names = [name for name in frame.columns if name not in PLAIN]
    return [_finding(row, names, path) for row in frame.iter_rows(named=True)]


def _finding(row: Mapping[str, Any], names: Sequence[str], path: Path) -> Finding:
    conditions = {name: row[name] for name in names if row[name] is not None}
    conditions |= json.loads(row.get("other") or "{}")
    value, low, high = (math.nan if row[k] is None else float(row[k]) for k in ("value", "low", "high"))
    try:
        estimate = Estimate(value, low, high, int(row["n"] or 0))
    except ValueError as error:
        raise TableError(f"{path}: {row['metric']}: {error}") from None
    chance = None if row["chance"] is None or math.isnan(row["chance"]) else float(row["chance"])
    tails = (None if row.get(k) is None else float(row[k]) for k in TESTS)
    return Finding(_card(row), estimate, conditions, int(row["failed"] or 0), chance, *tails)


def _card(row: Mapping[str, Any]) -> MetricCard:
    name, title = str(row["metric"]), str(row["title"])
    if name in CARDS:
        return card(name)
    plugin = MetricCard(name, title, "lower", (-math.inf, math.inf), None, str(row["cite"] or ""))
    plugin = replace(plugin, unit=str(row.get("unit") or ""))
    return replace(plugin, better="higher") if row.get("better") == "higher" else plugin


def _artefacts(folder: Path) -> tuple[list[ArtefactFile], list[str]]:
    """List artefacts, and those whose file is missing; a file outside the run folder is refused."""
    present, absent = [], []
    for entry in _json(folder / "artefacts.json", []):
        path = folder / str(entry["file"])
        if not path.resolve().is_relative_to(folder.resolve()):
            raise TableError(f"{folder / 'artefacts.json'}: '{entry['file']}' lies outside the run folder")
        if path.is_file():
            present.append(ArtefactFile(str(entry["kind"]), path, dict(entry.get("conditions", {}))))
        else:
            absent.append(str(entry["file"]))
    return present, absent


def _failures(path: Path) -> list[tuple[str, str, str]]:
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    cells = [[*line.split("\t", 2), "", ""] for line in lines if line.strip()]
    return [(row[0], row[1], row[2]) for row in cells]


def _logged(path: Path) -> tuple[str, str]:
    """Give the day on which something was measured last, and the last command that was typed."""
    date, command = "", ""
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        moment, _, said = line.partition(" ")
        day = moment.partition("T")[0]
        if said.startswith("command: "):
            command = said.removeprefix("command: ")
        elif re.fullmatch(r"\d{4}-\d\d-\d\d", day) and re.fullmatch(r"findings: .*stages done now: [1-9]\d*", said):
            date = day
    return date, command


def _json(path: Path, otherwise: Any) -> Any:
    if not path.is_file():
        return otherwise
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TableError(f"{path}: cannot be read as JSON ({error})") from None
    if not isinstance(content, type(otherwise)):
        raise TableError(f"{path}: must hold {'a list' if isinstance(otherwise, list) else 'names and values'}")
    return content
