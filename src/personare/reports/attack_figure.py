"""The picture of an evaluation: what each attacker achieves, with intervals, against the line of pure guessing."""

from __future__ import annotations

from collections.abc import Sequence

from personare.core.findings import Finding
from personare.reports.figures import COLOURS, INK, as_svg, drawing
from personare.reports.page import Figure, number


def attack_figure(findings: Sequence[Finding], *, panels: Sequence[str]) -> Figure:
    """Draw one panel per metric name in ``panels``, one bar per finding, in the findings' order."""
    groups = [[f for f in findings if f.metric.name == name] for name in panels]
    groups = [group for group in groups if group]
    with drawing(9.0, 0.9 + 0.42 * max(len(g) for g in groups), columns=len(groups)) as (figure, axes):
        for axis, group in zip(axes, groups, strict=True):
            _panel(axis, group)
        svg = as_svg(figure)
    words = "; ".join(
        f"{f.metric.title}, {_label(f)}: {number(f.estimate.value, f.metric.unit)}" for g in groups for f in g
    )
    return Figure(svg, words, "Bars: estimate; whiskers: 95 % interval; dashed: an attacker who guesses.")


def _label(finding: Finding) -> str:
    rest = [f"{k} = {v}" for k, v in finding.conditions.items() if k == "L"]
    return ", ".join([str(finding.conditions.get("attacker", "")), *rest])


def _panel(axis: object, group: Sequence[Finding]) -> None:
    """One bar per finding; the guesser's level as a dashed tick on each bar, because it may differ between them."""
    from typing import Any, cast

    ax = cast(Any, axis)
    attackers = list(dict.fromkeys(str(f.conditions.get("attacker", "")) for f in group))
    for place, finding in enumerate(group):
        value, low, high = (100 * v for v in (finding.estimate.value, finding.estimate.low, finding.estimate.high))
        colour = COLOURS[attackers.index(str(finding.conditions.get("attacker", ""))) % len(COLOURS)]
        ax.barh(place, value, color=colour, height=0.62, alpha=0.85)
        whisker = [[max(0.0, value - low)], [max(0.0, high - value)]]
        ax.errorbar(value, place, xerr=whisker, color=INK, capsize=3, linewidth=1.2)
        if finding.chance_level is not None:
            level = 100 * finding.chance_level
            ax.plot([level, level], [place - 0.42, place + 0.42], color=INK, linestyle=(0, (2, 1.5)), linewidth=1.4)
    ax.set_yticks(range(len(group)), [_label(f) for f in group])
    ax.invert_yaxis()
    ax.set_xlim(0, 100 * group[0].metric.bounds[1] if group[0].metric.name != "eer" else 60)
    direction = "higher is safer" if group[0].metric.better == "higher" else "lower is safer"
    ax.set_xlabel(f"{group[0].metric.title}, % ({direction})")
