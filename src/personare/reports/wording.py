"""Findings as rows that people read: who attacked or listened, under which conditions, with which outcome."""

from __future__ import annotations

from collections.abc import Sequence

from personare.core.findings import Finding

COUNTS = ("targets", "nontargets", "tests", "S", "D", "I", "references", "checked_to", "attack", "control", "baseline")
NAMED = ("anonymizer", "attacker", "listener", "knowledge", "embedder", "scorer", "corpus")
HEAD = ("anonymizer", "by", "metric", "under", "value [95 % interval]", "chance", "differs from chance", "n", "failed")
NUMBER_COLUMNS = (4, 5, 7, 8)


def condition(finding: Finding, *, without: Sequence[str] = (*NAMED, *COUNTS)) -> str:
    """Write a finding's conditions on one line, those with a column of their own and mere counts left out."""
    return ", ".join(f"{name} = {_plain(value)}" for name, value in finding.conditions.items() if name not in without)


def by(finding: Finding) -> str:
    """Name who attacked or listened."""
    c = finding.conditions
    who = c.get("attacker") or c.get("listener") or c.get("embedder") or "-"
    trained = c.get("listener_trained_on")
    return f"{who}, trained on {trained}" if trained not in (None, "original", "") else str(who)


def rows(findings: Sequence[Finding]) -> list[list[str]]:
    """Lay findings out under ``HEAD``; the corpus goes to the conditions where there are several."""
    corpora = {f.conditions.get("corpus") for f in findings}
    hidden = (*NAMED, *COUNTS, "listener_trained_on")
    shown = hidden if len(corpora) < 2 else tuple(name for name in hidden if name != "corpus")
    differs = {True: "yes", False: "no", None: "-"}
    return [
        [
            str(f.conditions.get("anonymizer", "-")),
            by(f),
            f.metric.title,
            condition(f, without=shown) or "-",
            f.text,
            f.chance_text,
            differs[f.differs_from_chance],
            f"{f.estimate.n:,}",
            f"{f.failed:,}",
        ]
        for f in findings
    ]


def _plain(value: str | int | float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}" if isinstance(value, float) else str(value)
