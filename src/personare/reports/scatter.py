"""Two measures of each method against each other: privacy against utility, DeID against G_VD (figure 14 of VPC)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from personare.core.findings import Finding
from personare.reports.blocks import Figure
from personare.reports.figures import COLOURS, GREY, INK, MARKERS, PANEL_IN, drawing, drawn, spread

HEIGHT_IN = 3.9


@dataclass(frozen=True)
class Point:
    """One method: its label, whose colour it has (None: grey), and its finding on each axis."""

    label: str
    x: Finding
    y: Finding
    series: int | None = 0


def scatter_figure(points: Sequence[Point], *, name: str, title: str) -> Figure:
    """Draw every method as a labelled point with both intervals; an arrow shows where one wants to be."""
    with drawing(PANEL_IN, HEIGHT_IN) as (figure, axes):
        axis = axes[0]
        for point in points:
            _point(axis, point)
        _chance(axis, points[0].y)
        _labelled(axis, points[0])
        axis.margins(0.16, 0.14)
        _within(axis, points[0])
        axis.grid(color=INK, alpha=0.12, linewidth=0.6)
        axis.set_title(title)
        _names(axis, points)
        words = "; ".join(f"{p.label}: {p.x.value_text}, {p.y.value_text}" for p in points)
        x, y = points[0].x.metric.title, points[0].y.metric.title
        return drawn(figure, name=name, alt=f"{title}: {x} (across) against {y} (upwards). {words}.")


def _scale(finding: Finding) -> float:
    return 100.0 if finding.metric.unit == "%" else 1.0


def _point(axis: Any, point: Point) -> None:
    colour = GREY if point.series is None else COLOURS[point.series % len(COLOURS)]
    marker = MARKERS[(point.series or 0) % len(MARKERS)]
    (x, *xs), (y, *ys) = (_ends(f) for f in (point.x, point.y))
    axis.errorbar(x, y, xerr=_whisker(x, *xs), yerr=_whisker(y, *ys), color=colour, alpha=0.45, capsize=2, linewidth=1)
    axis.plot(x, y, marker=marker, color=colour, markersize=8, linestyle="none")


def _ends(finding: Finding) -> tuple[float, float, float]:
    e, scale = finding.estimate, _scale(finding)
    return scale * e.value, scale * e.low, scale * e.high


def _whisker(value: float, low: float, high: float) -> Any:
    return None if math.isnan(low) or math.isnan(high) else [[max(0.0, value - low)], [max(0.0, high - value)]]


def _names(axis: Any, points: Sequence[Point]) -> None:
    """Write each point's name beside it, moved apart where names would overlap."""
    bottom, top = axis.get_ylim()
    left, right = axis.get_xlim()
    ys = spread([_ends(p.y)[0] for p in points], least=0.062 * (top - bottom), low=bottom, high=top)
    for point, y in zip(points, ys, strict=True):
        x = _ends(point.x)[0]
        beyond = x > left + 0.6 * (right - left)
        side, place = ("right", -8) if beyond else ("left", 8)
        colour = INK if point.series is None else COLOURS[point.series % len(COLOURS)]
        axis.annotate(
            point.label, (x, y), xytext=(place, 7), textcoords="offset points", ha=side, fontsize=9, color=colour
        )


def _chance(axis: Any, finding: Finding) -> None:
    level = finding.chance_level
    if level is not None:
        axis.axhline(_scale(finding) * level, color=INK, linestyle=(0, (4, 2)), linewidth=1.1)
        axis.annotate(
            "guessing",
            (1, _scale(finding) * level),
            xycoords=("axes fraction", "data"),
            xytext=(0, 3),
            textcoords="offset points",
            ha="right",
            fontsize=8.5,
        )


def _within(axis: Any, point: Point) -> None:
    """Do not draw what cannot be: no axis goes below the smallest possible value."""
    for finding, get, put in ((point.x, axis.get_xlim, axis.set_xlim), (point.y, axis.get_ylim, axis.set_ylim)):
        low, high = get()
        least, most = (_scale(finding) * bound for bound in finding.metric.bounds)
        room = 0.04 * (high - low)
        put(max(low, least - room), min(high, most + 2 * room))


def _labelled(axis: Any, point: Point) -> None:
    for card, put in ((point.x.metric, axis.set_xlabel), (point.y.metric, axis.set_ylabel)):
        unit = f", {card.unit}" if card.unit else ""
        put(f"{card.title}{unit}\n({card.better} is better)", fontsize=9.5)
