"""Curves over the number of people as rows of a table, as lines of text, and as one JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from personare.core.findings import Finding
    from personare.pipeline.curves import RiskCurves, SpeakerRisk

HEAD = ("attacker", "L", "N", "risk", "95 % interval", "guessing", "speakers", "verdict")


def curve_rows(findings: Sequence[Finding]) -> tuple[Sequence[str], list[list[str]]]:
    """Give the head and one row per finding; forecasts for populations are marked."""
    rows = []
    for f in findings:
        e = f.estimate
        conditions = [str(f.conditions["attacker"]), str(f.conditions["L"]), f"{f.conditions['N']:,}"]
        numbers = [percent(e.value), f"{percent(e.low)} to {percent(e.high)}", percent(f.chance_level), str(e.n)]
        rows.append([*conditions, *numbers, verdict(f)])
    return HEAD, rows


def verdict(finding: Finding) -> str:
    """Say whether the attacker does better than guessing, or how far a forecast was checked."""
    if finding.metric.name == "population_linkability":
        beyond = int(finding.conditions["N"]) > int(finding.conditions["checked_to"])
        return "unchecked forecast" if beyond else "forecast"
    if finding.differs_from_chance is None:
        return "too few speakers to tell"
    if not finding.differs_from_chance:
        return "not told from chance"
    return "above guessing" if finding.estimate.value > (finding.chance_level or 0.0) else "below guessing"


def percent(value: float | None) -> str:
    """Write a share for a reader: two digits behind the point, more where it would read as zero.

    >>> percent(0.5), percent(0.000012), percent(0.0)
    ('50.00 %', '0.0012 %', '0.00 %')
    """
    if value is None or value != value:
        return "-"
    shown = 100 * value
    return f"{shown:.2g} %" if 0 < shown < 0.005 else f"{shown:.2f} %"


def risk_lines(risks: Sequence[SpeakerRisk], who: int) -> Iterator[str]:
    """Name the speakers at the greatest risk, the worst first."""
    for risk in risks if who else ():
        worst = sorted(risk.speakers.items(), key=lambda pair: (-pair[1], pair[0]))[:who]
        names = ", ".join(f"{speaker} {percent(share)}" for speaker, share in worst)
        yield f"{risk.attacker}, L = {risk.length}, N = {risk.people}: greatest risk {names}"


def as_document(found: RiskCurves) -> dict[str, Any]:
    """Put findings, notes and every speaker's risk into one JSON document."""
    return {
        "findings": [f.as_row() for f in found.findings],
        "risks": [asdict(risk) for risk in found.risks],
        "notes": list(found.notes),
    }
