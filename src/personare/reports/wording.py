"""Numbers and conditions as people read them: percentages, intervals, chance levels, who attacked under what."""

from __future__ import annotations

import math
from collections.abc import Sequence

from personare.core.findings import Finding

COUNTS = ("targets", "nontargets", "tests", "S", "D", "I", "references", "checked_to", "attack", "control", "baseline")
NAMED = ("anonymizer", "attacker", "listener", "knowledge", "embedder", "scorer", "corpus")
HEAD = ("anonymizer", "by", "metric", "under", "value", "95 % interval", "chance", "differs from chance", "n", "failed")
NUMBER_COLUMNS = (4, 5, 6, 8, 9)


def number(value: float | None, unit: str = "") -> str:
    """Write a number for people; percentages from shares.

    >>> number(0.0731, "%"), number(1.5), number(-0.25, "dB"), number(None), number(12345.6)
    ('7.3 %', '1.5', '-0.25 dB', '-', '12,346')
    """
    if value is None or math.isnan(value):
        return "-"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if unit == "%":
        return f"{100 * value:.1f} %"
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{text} {unit}".strip()


def interval(finding: Finding, *, to: str = " to ") -> str:
    """Write the ends of an interval.

    >>> from personare.core.findings import Estimate, MetricCard
    >>> card = MetricCard("eer", "EER", "higher", (0, 0.5), 0.5, "", unit="%")
    >>> interval(Finding(card, Estimate(0.2, 0.1, 0.3, 9)))
    '10.0 to 30.0 %'
    """
    low, high, unit = finding.estimate.low, finding.estimate.high, finding.metric.unit
    if math.isnan(low) or math.isnan(high):
        return "unknown"
    first = number(low, unit).removesuffix(unit).strip() if unit else number(low)
    return f"{first}{to}{number(high, unit)}"


def value_with_interval(finding: Finding) -> str:
    """Write ``45.0 %`` and below it ``[30.0 to 60.0 %]``."""
    return f"{number(finding.estimate.value, finding.metric.unit)}\n[{interval(finding)}]"


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
            number(f.estimate.value, f.metric.unit),
            interval(f),
            number(f.chance_level, f.metric.unit),
            differs[f.differs_from_chance],
            f"{f.estimate.n:,}",
            f"{f.failed:,}",
        ]
        for f in findings
    ]


def _plain(value: str | int | float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}" if isinstance(value, float) else str(value)
