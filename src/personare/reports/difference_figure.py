"""The same measure in two runs: two points with intervals joined by a line, one row for each method and attacker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from personare.core.findings import Finding
from personare.reports.bar_figures import LABEL_PT, row_pt
from personare.reports.blocks import Figure
from personare.reports.drawing.axes import Axis, limits, rows_axis
from personare.reports.drawing.items import Curve, Item, Panel
from personare.reports.drawing.lettering import wrapped
from personare.reports.drawing.panels import picture
from personare.reports.drawing.shapes import MarkerName
from personare.reports.figures import COLOURS, GREY, PANEL_PT


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
    items: list[Item] = []
    for place, row in enumerate(rows):
        ends = [scale * f.estimate.value for f in (row.first, row.second)]
        items.append(Curve(ends, [place - 0.13, place + 0.13], GREY, width=1.4))
        items += _point(row.first, place - 0.13, scale, COLOURS[0], "circle", "run 1")
        items += _point(row.second, place + 0.13, scale, COLOURS[1], "square", "run 2")
    estimates = [f.estimate for row in rows for f in (row.first, row.second)]
    ends = [scale * v for e in estimates for v in (e.value, e.low, e.high)]
    unit = f"{card.unit}, " if card.unit else ""
    x = Axis(*limits(ends), label=f"{unit}{card.better} is better")
    labels = [wrapped(row.label, 9.0, LABEL_PT) for row in rows]
    y = rows_axis(labels)
    height = row_pt(labels, least=29.0) * (y.low - y.high)
    scene = picture([Panel(x, y, tuple(items), title)], width=PANEL_PT, height=height)
    words = "; ".join(f"{p.label}: {p.first.value_text} and {p.second.value_text}" for p in rows)
    return Figure(scene, f"{title}, run 1 and run 2. {words}.", name=name)


def _point(finding: Finding, place: float, scale: float, colour: str, marker: MarkerName, label: str) -> Iterator[Item]:
    e = finding.estimate
    yield Curve([scale * e.low, scale * e.high], [place] * 2, colour, width=2.4, opacity=0.45)
    yield Curve([scale * e.value], [place], colour, width=0, marker=marker, size=7, label=label)
