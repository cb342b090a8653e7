"""From the answers of a panel to a run folder of findings, tables and notes, which reports read like any other."""

from __future__ import annotations

import io
import json
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from personare import __version__
from personare.core.errors import ConfigError
from personare.core.files import PRIVATE_FILE, kept_private, write_bytes, write_text
from personare.core.findings import Finding
from personare.core.tables import write_frame
from personare.panels.analysis import analyze
from personare.panels.collected import Answered, answers_frame, collect, inattentive
from personare.panels.folder import PanelFolder, read_panel
from personare.panels.store import AnswerStore, Evaluator
from personare.pipeline.folder import ARTEFACTS, findings_frame
from personare.pipeline.gate import row_of

ANALYSIS = "analysis"


@dataclass(frozen=True, eq=False)
class AnalyzedPanel:
    """What people found: findings, who failed a check of attention and which, and where everything was written."""

    folder: Path
    findings: tuple[Finding, ...]
    inattentive: dict[str, list[str]]
    notes: tuple[str, ...]


def analyze_panel(path: Path, *, out: Path | None = None, attentive_only: bool = False) -> AnalyzedPanel:
    """Analyze all answers; ``attentive_only`` leaves out evaluators who failed a check of attention."""
    panel = read_panel(path)
    rows, people = _answers(panel)
    failed = inattentive(panel.settings.test, rows)
    used = [row for row in rows if not attentive_only or row.evaluator not in failed]
    s = panel.settings
    native = {person.evaluator: person.native for person in people}
    found = analyze(s.test, used, systems=s.systems, seed=s.seed, native=native)
    notes = _notes(rows, people, failed, left_out=attentive_only)
    folder = out or path / ANALYSIS
    tables = dict(found.tables)
    if s.objective:
        tables["objective"] = pl.DataFrame([asdict(one) for one in s.objective])
    about = {
        "test": s.test,
        "evaluators": len({row.evaluator for row in used}),
        "answers": sum(not row.trial.check for row in used),
        "systems": list(s.systems),
    }
    with kept_private(folder):
        _write(folder, panel, found.findings, tables, notes, about)
    return AnalyzedPanel(folder, found.findings, failed, notes)


def export_panel(path: Path, file: Path) -> tuple[int, Literal["csv", "parquet"]]:
    """Write every answer with its trial to a CSV or Parquet file; gives how many, and which."""
    rows, _ = _answers(read_panel(path))
    frame = answers_frame(rows)
    if file.suffix.lower() == ".parquet":
        content = io.BytesIO()
        frame.write_parquet(content)
        write_bytes(file, content.getvalue(), mode=PRIVATE_FILE)
        return len(frame), "parquet"
    if file.suffix.lower() != ".csv":
        raise ConfigError(f"{file}: answers are written as .csv or .parquet, not as '{file.suffix}'")
    write_text(file, frame.write_csv(), mode=PRIVATE_FILE)
    return len(frame), "csv"


def _answers(panel: PanelFolder) -> tuple[list[Answered], list[Evaluator]]:
    if not panel.answers.is_file():
        return [], []
    store = AnswerStore(panel.answers)
    try:
        return collect(panel, store), store.evaluators()
    finally:
        store.close()


def _notes(
    rows: list[Answered], people: list[Evaluator], failed: dict[str, list[str]], *, left_out: bool
) -> tuple[str, ...]:
    """Say who failed a check, who did not confirm headphones, and who did not end."""
    done = "left out" if left_out else "kept; leave them out with --attentive-only"
    named = ", ".join(f"{who} ({', '.join(which)})" for who, which in sorted(failed.items()))
    notes = [f"failed a check of attention: {named}; {done}"] if failed else []
    answered = {row.evaluator for row in rows}
    without = sorted(p.evaluator for p in people if p.evaluator in answered and not p.headphones)
    if without:
        notes.append(f"did not pass the headphone check: {', '.join(without)}")
    return tuple(notes)


def _write(
    folder: Path,
    panel: PanelFolder,
    findings: tuple[Finding, ...],
    tables: dict[str, pl.DataFrame],
    notes: tuple[str, ...],
    about: dict[str, Any],
) -> None:
    s = panel.settings
    listed = []
    for kind, frame in tables.items():
        write_frame(frame, folder / ARTEFACTS / f"{kind}.parquet")
        listed.append({"kind": kind, "file": f"{ARTEFACTS}/{kind}.parquet", "conditions": {}})
    write_frame(findings_frame(findings), folder / "findings.parquet")
    environment = {"personare": __version__, "python": platform.python_version(), "platform": platform.system()}
    documents = {
        "findings.json": {"study": s.title, "findings": [row_of(f) for f in findings], "notes": list(notes)},
        "artefacts.json": listed,
        "environment.json": environment | {"seed": s.seed, "panel": about},
    }
    for name, content in documents.items():
        write_text(folder / name, json.dumps(content, indent=1, allow_nan=False) + "\n")
