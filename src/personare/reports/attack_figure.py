"""The picture of an evaluation: what each attacker achieves, with intervals, against the line of pure guessing."""

from __future__ import annotations

from collections.abc import Sequence

from personare.core.findings import Finding
from personare.reports.bars import Bar, bar_figure
from personare.reports.blocks import Gallery


def attack_figure(findings: Sequence[Finding], *, panels: Sequence[str]) -> Gallery:
    """Draw one panel per metric name in ``panels``, one bar per finding, grouped by the number of utterances."""
    attackers = list(dict.fromkeys(str(f.conditions.get("attacker", "")) for f in findings))
    figures = []
    for name in panels:
        group = sorted((f for f in findings if f.metric.name == name), key=lambda f: int(f.conditions.get("L", 1)))
        if group:
            bars = [_bar(f, attackers) for f in group]
            figures.append(bar_figure(bars, name=name, title=group[0].metric.title, most=group[0].metric.bounds[1]))
    return Gallery(figures, "Bars: estimate; whiskers: 95 % interval; dashed: an attacker who guesses.")


def _bar(finding: Finding, attackers: list[str]) -> Bar:
    length, who = finding.conditions.get("L", 1), str(finding.conditions.get("attacker", ""))
    heard = "from one utterance" if length == 1 else f"from {length} utterances"
    return Bar(heard, who, finding, attackers.index(who))
