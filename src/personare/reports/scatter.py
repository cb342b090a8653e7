"""Two measures of each method against each other: privacy against utility, DeID against G_VD (figure 14 of VPC)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from personare.core.findings import Finding
from personare.reports.blocks import Figure
from personare.reports.drawing.axes import Axis, limits
from personare.reports.drawing.items import Curve, Item, Level, Note, Panel, Whisker
from personare.reports.drawing.lettering import LEADING, wrapped
from personare.reports.drawing.panels import picture
from personare.reports.drawing.shapes import INK
from personare.reports.figures import GUESSING_DASH, MARKERS, PANEL_PT, series_colour, spread

HEIGHT_PT = 205.0
NAME_PT = 110.0  # longer names take several lines
NAME_SIZE = 9.0


@dataclass(frozen=True)
class Point:
    """One method: its label, whose colour it has (None: grey), and its finding on each axis."""

    label: str
    x: Finding
    y: Finding
    series: int | None = 0


def scatter_figure(points: Sequence[Point], *, name: str, title: str) -> Figure:
    """Draw every method as a labelled point with both intervals, and the level of guessing."""
    level = points[0].y.chance_level
    x = _axis([p.x for p in points], margin=0.16)
    y = _axis([p.y for p in points], margin=0.14, also=() if level is None else (level,))
    items: list[Item] = [item for point in points for item in _point(point)]
    if level is not None:
        at = _scale(points[0].y) * level
        items.append(Level(at, dash=GUESSING_DASH))
        items.append(Note(x.high, at, "guessing", up=7, size=8.5, anchor="end"))
    panel = Panel(x, y, (*items, *_names(points, x, y)), title)
    words = "; ".join(f"{p.label}: {p.x.value_text}, {p.y.value_text}" for p in points)
    across, upwards = points[0].x.metric.title, points[0].y.metric.title
    alt = f"{title}: {across} (across) against {upwards} (upwards). {words}."
    return Figure(picture([panel], width=PANEL_PT, height=HEIGHT_PT), alt, name=name)


def _scale(finding: Finding) -> float:
    return 100.0 if finding.metric.unit == "%" else 1.0


def _axis(findings: Sequence[Finding], *, margin: float, also: Sequence[float] = ()) -> Axis:
    """Give an axis around findings and their intervals that does not show what cannot be."""
    scale, card = _scale(findings[0]), findings[0].metric
    estimates = [f.estimate for f in findings]
    low, high = limits(
        (scale * v for v in (*(v for e in estimates for v in (e.value, e.low, e.high)), *also)), margin=margin
    )
    least, most = (scale * bound for bound in card.bounds)
    room = 0.04 * (high - low)
    unit = f", {card.unit}" if card.unit else ""
    label = f"{card.title}{unit}\n({card.better} is better)"
    return Axis(max(low, least - room), min(high, most + 2 * room), label=label)


def _point(point: Point) -> Iterator[Item]:
    colour = series_colour(point.series)
    marker = MARKERS[(point.series or 0) % len(MARKERS)]
    (x, *xs), (y, *ys) = (_ends(f) for f in (point.x, point.y))
    yield Whisker((xs[0], y), (xs[1], y), colour, width=1, cap=2, opacity=0.6)
    yield Whisker((x, ys[0]), (x, ys[1]), colour, width=1, cap=2, opacity=0.6)
    yield Curve([x], [y], colour, width=0, marker=marker, size=8)


def _ends(finding: Finding) -> tuple[float, float, float]:
    e, scale = finding.estimate, _scale(finding)
    return scale * e.value, scale * e.low, scale * e.high


def _names(points: Sequence[Point], x: Axis, y: Axis) -> Iterator[Note]:
    """Write each point's name beside it, moved apart where names would overlap."""
    names = [wrapped(point.label, NAME_SIZE, NAME_PT) for point in points]
    line = NAME_SIZE * LEADING * (y.high - y.low) / HEIGHT_PT  # the height of one, in values of the axis
    heights = [line * (name.count("\n") + 1) for name in names]
    places = spread([_ends(p.y)[0] for p in points], heights, low=y.low, high=y.high - line)
    for point, name, place in zip(points, names, places, strict=True):
        at = _ends(point.x)[0]
        beyond = x.place(at) > 0.6
        colour = INK if point.series is None else series_colour(point.series)
        yield Note(
            at,
            place,
            name,
            right=-7 if beyond else 7,
            up=8,
            size=NAME_SIZE,
            colour=colour,
            anchor="end" if beyond else "start",
        )
