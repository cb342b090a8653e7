"""Findings as rows of a table: the method, who attacked or listened, under which conditions, with which outcome."""

from __future__ import annotations

from collections.abc import Sequence

from personare.core.findings import Finding
from personare.reports.blocks import ReportTable
from personare.reports.outcomes import outcome

COUNTS = (
    *("targets", "nontargets", "tests", "S", "D", "I", "references", "checked_to", "attack", "control", "baseline"),
    *("always_linked", "always_guessed"),
)
NAMED = ("anonymizer", "attacker", "listener", "knowledge", "embedder", "scorer", "corpus", "risk")
HEAD = ("method", "by", "metric", "under", "value [95 % interval]", "chance", "against chance", "n", "failed")
NUMBER_COLUMNS = (4, 5, 7, 8)


def findings_table(findings: Sequence[Finding], *, name: str, caption: str, folded: bool = True) -> ReportTable:
    """Lay findings out under ``HEAD``; the corpus goes to the conditions where there are several."""
    corpora = {f.conditions.get("corpus") for f in findings}
    elsewhere = (*NAMED, *COUNTS, "listener_trained_on")
    without = elsewhere if len(corpora) < 2 else tuple(name for name in elsewhere if name != "corpus")
    rows = [
        [
            str(f.conditions.get("anonymizer", "-")),
            attacker_or_listener(f),
            f.metric.title,
            conditions_text(f, without=without) or "-",
            f.text,
            f.chance_text,
            _against_chance(f),
            f"{f.estimate.n:,}",
            f"{f.failed:,}",
        ]
        for f in findings
    ]
    return ReportTable(name, caption, HEAD, rows, NUMBER_COLUMNS, folded)


def conditions_text(finding: Finding, *, without: Sequence[str] = (*NAMED, *COUNTS)) -> str:
    """Write a finding's conditions on one line, those with a column of their own and mere counts left out."""
    return ", ".join(f"{name} = {_plain(value)}" for name, value in finding.conditions.items() if name not in without)


def attacker_or_listener(finding: Finding) -> str:
    """Name who attacked or listened."""
    c = finding.conditions
    who = c.get("attacker") or c.get("listener") or c.get("embedder") or "-"
    trained = c.get("listener_trained_on")
    return f"{who}, trained on {trained}" if trained not in (None, "original", "") else str(who)


def _against_chance(finding: Finding) -> str:
    """Say what the interval shows: of an attack one-sided, of a measure of utility whether it differs from chance."""
    if finding.chance_level is None:
        return "-"
    if "attacker" in finding.conditions:
        return outcome(finding)
    return {True: "differs", False: "not shown", None: "-"}[finding.differs_from_chance]


def _plain(value: str | int | float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}" if isinstance(value, float) else str(value)
