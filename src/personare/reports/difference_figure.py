"""The same measure in two runs: two points with intervals joined by a line, one row for each method and attacker."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from personare.core.findings import Finding
from personare.reports.blocks import Figure
from personare.reports.figures import COLOURS, GREY, INK, PANEL_IN, drawing, drawn


@dataclass(frozen=True)
class DifferenceRow:
    """One row: its label and the finding of each run."""

    label: str
    first: Finding
    second: Finding


def difference_figure(rows: Sequence[DifferenceRow], *, name: str, title: str) -> Figure:
    """Draw rows from top to bottom; run 1 round, run 2 square."""
    card = rows[0].first.metric
    scale = 100.0 if card.unit == "%" else 1.0
    with drawing(PANEL_IN, 1.3 + 0.42 * len(rows)) as (figure, axes):
        axis = axes[0]
        for place, row in enumerate(rows):
            ends = [scale * f.estimate.value for f in (row.first, row.second)]
            axis.plot(ends, [place, place], color=GREY, linewidth=1.4)
            _point(axis, row.first, place - 0.13, scale, COLOURS[0], "o", "run 1" if not place else None)
            _point(axis, row.second, place + 0.13, scale, COLOURS[1], "s", "run 2" if not place else None)
        axis.set_yticks(range(len(rows)), [row.label for row in rows], fontsize=9)
        axis.tick_params(axis="y", length=0)
        axis.set_ylim(len(rows) - 0.4, -0.6)
        axis.grid(axis="x", color=INK, alpha=0.12, linewidth=0.6)
        axis.set_xlabel(f"{f'{card.unit}, ' if card.unit else ''}{card.better} is better")
        axis.set_title(title)
        figure.legend(frameon=False, fontsize=9, loc="outside lower right", ncols=2)
        words = "; ".join(f"{p.label}: {p.first.value_text} and {p.second.value_text}" for p in rows)
        return drawn(figure, name=name, alt=f"{title}, run 1 and run 2. {words}.")


def _point(
    axis: Any, finding: Finding, place: float, scale: float, colour: str, marker: str, label: str | None
) -> None:
    e = finding.estimate
    if not math.isnan(e.low) and not math.isnan(e.high):
        axis.plot([scale * e.low, scale * e.high], [place, place], color=colour, linewidth=2.4, alpha=0.45)
    axis.plot(scale * e.value, place, marker, color=colour, markersize=7, label=label)
