"""Curves over the number of people as rows of a table, as lines of text, and as one JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from personare.core.text import number_text

if TYPE_CHECKING:
    from personare.core.findings import Finding
    from personare.pipeline.curves import RiskCurves, SpeakerRisk

HEAD = ("attacker", "L", "N", "risk [95 % interval]", "guessing", "speakers", "verdict")


def curve_rows(findings: Sequence[Finding]) -> tuple[Sequence[str], list[list[str]]]:
    """Give the head and one row per finding; forecasts for populations are marked."""
    rows = []
    for f in findings:
        conditions = [str(f.conditions["attacker"]), str(f.conditions["L"]), f"{f.conditions['N']:,}"]
        rows.append([*conditions, f.text, f.chance_text, str(f.estimate.n), verdict(f)])
    return HEAD, rows


def verdict(finding: Finding) -> str:
    """Say whether the attacker does better than guessing, or how far a forecast was checked."""
    from personare.reports.outcomes import outcome

    if finding.metric.name == "population_linkability":
        beyond = int(finding.conditions["N"]) > int(finding.conditions["checked_to"])
        return "unchecked forecast" if beyond else "forecast"
    return outcome(finding)


def risk_lines(risks: Sequence[SpeakerRisk], who: int) -> Iterator[str]:
    """Name the speakers at the greatest risk, the worst first."""
    for risk in risks if who else ():
        worst = sorted(risk.speakers.items(), key=lambda pair: (-pair[1], pair[0]))[:who]
        names = ", ".join(f"{speaker} {number_text(share, '%')}" for speaker, share in worst)
        yield f"{risk.attacker}, L = {risk.length}, N = {risk.people}: greatest risk {names}"


def as_document(curves: RiskCurves) -> dict[str, Any]:
    """Put findings, notes and every speaker's risk into one JSON document."""
    return {
        "findings": [f.as_row() for f in curves.findings],
        "risks": [asdict(risk) for risk in curves.risks],
        "notes": list(curves.notes),
    }
