"""What one measurement gives: findings, tables for pictures, notes; and how they are written to a stage and read."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from personare.core.files import write_text
from personare.core.findings import Estimate, Finding, MetricCard
from personare.core.tables import write_frame
from personare.metrics import CARDS, card

FINDINGS = "findings.json"
Value = str | int | float


@dataclass(frozen=True, eq=False)
class Artefact:
    """A table for pictures: its kind (scores, similarity, ranks, exposed) and the conditions it holds under."""

    kind: str
    frame: pl.DataFrame
    conditions: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Measured:
    """Findings with their own conditions (L, N, gender, ...); labels of the study are added later."""

    findings: tuple[Finding, ...]
    artefacts: tuple[Artefact, ...] = ()
    notes: tuple[str, ...] = ()

    def save(self, folder: Path) -> None:
        """Write everything below ``folder``."""
        listed = []
        for number, artefact in enumerate(self.artefacts):
            name = f"{artefact.kind}-{number}.parquet"
            write_frame(artefact.frame, folder / name)
            listed.append({"kind": artefact.kind, "file": name, "conditions": dict(artefact.conditions)})
        told = {"findings": [as_row(f) for f in self.findings], "artefacts": listed, "notes": list(self.notes)}
        write_text(folder / FINDINGS, json.dumps(told, indent=1) + "\n")


@dataclass(frozen=True, eq=False)
class Saved:
    """A measurement read back: artefacts are (kind, file, conditions)."""

    findings: tuple[Finding, ...]
    artefacts: tuple[tuple[str, Path, dict[str, Value]], ...]
    notes: tuple[str, ...]


def load(folder: Path) -> Saved:
    """Read what ``save`` wrote."""
    told = json.loads((folder / FINDINGS).read_text(encoding="utf-8"))
    artefacts = tuple((a["kind"], folder / a["file"], a["conditions"]) for a in told["artefacts"])
    return Saved(tuple(from_row(row) for row in told["findings"]), artefacts, tuple(told["notes"]))


def as_row(finding: Finding) -> dict[str, Any]:
    """Flatten, exactly: Python's JSON keeps NaN and infinity. A metric that is not built in brings its card along."""
    e, name = finding.estimate, finding.metric.name
    return {
        "metric": name,
        "card": None if name in CARDS else asdict(finding.metric),
        "estimate": [e.value, e.low, e.high, e.n],
        "conditions": dict(finding.conditions),
        "failed": finding.failed,
        "chance": finding.chance,
        "p": [finding.p_better, finding.p_worse],
    }


def from_row(row: Mapping[str, Any]) -> Finding:
    """Make the finding again.

    >>> told = Finding(card("eer"), Estimate(0.1, math.nan, math.nan, 1), {"L": 1}, failed=2, chance=0.45)
    >>> as_row(from_row(json.loads(json.dumps(as_row(told))))).keys() == as_row(told).keys()
    True
    """
    value, low, high, n = row["estimate"]
    estimate = Estimate(value, low, high, n)
    return Finding(_card(row), estimate, row["conditions"], row["failed"], row["chance"], *row.get("p", ()))


def _card(row: Mapping[str, Any]) -> MetricCard:
    own = row.get("card")
    return card(row["metric"]) if own is None else MetricCard(**{**own, "bounds": tuple(own["bounds"])})


def finite(value: float | None) -> float | None:
    """Give None for what JSON cannot say."""
    return None if value is None or not math.isfinite(value) else value
