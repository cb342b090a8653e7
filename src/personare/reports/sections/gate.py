"""The privacy gate: whether the acceptable risks that a study states are kept, each with the number it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from personare.core.text import number_text
from personare.reports.blocks import Paragraph, ReportTable, Section, Statement, Statements
from personare.reports.run import Run

TITLE = "The privacy gate"
NOTE = "Unless the study says otherwise, the unfavourable end of the interval is tested: no evidence is no proof."
HEAD = ["outcome", "bound", "on", "tested", "value", "limit"]


def gate_section(run: Run) -> Section:
    """List every stated bound, the broken ones first."""
    if not run.gate:
        return Section("gate", TITLE, unmeasured=["the privacy gate (no bounds are stated)"])
    broken = [entry for entry in run.gate if not entry.get("held")]
    if broken:
        closed = f"{len(broken)} of {len(run.gate)} bounds are not kept: the gate is closed."
        statement = Statement(closed, "broken")
    else:
        statement = Statement(f"All {len(run.gate)} bounds are kept: the gate is open.", "kept")
    rows = [_row(entry) for entry in sorted(run.gate, key=lambda e: bool(e.get("held")))]
    table = ReportTable("gate", "Every stated bound, the broken ones first", HEAD, rows, numbers=(4, 5))
    return Section("gate", TITLE, [Statements([statement]), table, Paragraph(NOTE, soft=True)])


def _row(entry: Mapping[str, Any]) -> list[str]:
    bound, finding = entry.get("bound", {}), entry.get("finding") or {}
    unit = str(finding.get("unit", ""))
    rule = "at most" if bound.get("at_most") is not None else "at least"
    names = ("corpus", "anonymizer", "attacker", "listener", "gender", "L", "N")
    where = finding.get("conditions") or bound
    on = ", ".join(f"{name} {where[name]}" for name in names if where.get(name) is not None)
    tested = {"high": "upper end", "low": "lower end", "value": "value"}.get(str(entry.get("tested")), "")
    value = entry.get("value")
    shown = "not measured" if not finding else number_text(value, unit) if value is not None else "unknown"
    title = str(finding.get("title") or bound.get("metric", ""))
    outcome = "kept" if entry.get("held") else "NOT kept"
    return [outcome, f"{title} {rule}", on, tested, shown, number_text(entry.get("limit"), unit)]
