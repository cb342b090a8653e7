"""The shapes of a panel's items, at their places on the sheet, and lines of words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from personare.reports.drawing.items import Band, Cells, Curve, Item, Level, Note, Panel, Ring, Whisker
from personare.reports.drawing.lettering import LEADING
from personare.reports.drawing.shapes import (
    INK,
    Anchor,
    Circle,
    PlotPoint,
    Polygon,
    Polyline,
    Raster,
    Shape,
    Words,
    marker,
)

Numbers = TypeVar("Numbers", bound=tuple[float, ...])


@dataclass(frozen=True)
class Frame:
    """Where the plotted area of a panel is on the sheet."""

    x: float
    y: float
    width: float
    height: float

    def point(self, panel: Panel, x: float, y: float) -> PlotPoint:
        """Give the place of two values on the sheet."""
        return self.x + self.width * panel.x.place(x), self.y + self.height * (1 - panel.y.place(y))


def height_of(text: str, size: float) -> float:
    """Give the height of lines of words of this size."""
    return size * LEADING * (text.count("\n") + 1)


def lines_of(
    text: str, x: float, top: float, size: float, *, colour: str = INK, anchor: Anchor = "start", bold: bool = False
) -> Iterator[Words]:
    """Set lines below each other, the first one right below ``top``."""
    for i, line in enumerate(text.split("\n")):
        yield Words(x, top + size * (0.92 + LEADING * i), line, size, colour, anchor, bold)


def lines_upwards(text: str, right: float, middle: float, size: float) -> Iterator[Words]:
    """Set lines that are read from below, the last one left of ``right``."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        x = right - size * (0.25 + LEADING * (len(lines) - 1 - i))
        yield Words(x, middle, line, size, anchor="middle", upwards=True)


# one panel


def clipped(item: Item, panel: Panel, frame: Frame) -> Iterator[Shape]:
    """Give the shapes that end at the edge of the panel."""
    if isinstance(item, Cells):
        yield Raster(frame.x, frame.y, frame.width, frame.height, item.columns, item.rows, item.rgb)
    elif isinstance(item, Curve) and item.width:
        for run in _runs(frame.point(panel, x, y) for x, y in zip(item.x, item.y, strict=True)):
            if len(run) > 1:
                yield Polyline(tuple(run), item.colour, item.width, item.dash, item.opacity)
    elif isinstance(item, Band):
        edges = zip(item.x, item.low, item.high, strict=True)
        both = ((*frame.point(panel, x, low), *frame.point(panel, x, high)) for x, low, high in edges)
        for area in _runs(both):
            if len(area) > 1:
                lower, upper = [(x, y) for x, y, _, _ in area], [(x, y) for _, _, x, y in reversed(area)]
                yield Polygon((*lower, *upper), item.colour, item.opacity)
    elif isinstance(item, Level):
        axis = panel.x if item.across else panel.y
        at = axis.place(item.value)
        if math.isfinite(at):
            x, y = frame.x + frame.width * at, frame.y + frame.height * (1 - at)
            ends = ((x, frame.y), (x, frame.y + frame.height))
            ends = ends if item.across else ((frame.x, y), (frame.x + frame.width, y))
            yield Polyline(ends, item.colour, item.width, item.dash, item.opacity)
    elif isinstance(item, Whisker):
        yield from _whisker(item, panel, frame)


def _runs(points: Iterable[Numbers]) -> Iterator[list[Numbers]]:
    """Divide points where one of their numbers is not finite; such points are left out."""
    run: list[Numbers] = []
    for point in points:
        if all(map(math.isfinite, point)):
            run.append(point)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _whisker(item: Whisker, panel: Panel, frame: Frame) -> Iterator[Shape]:
    ends = [frame.point(panel, *point) for point in (item.start, item.end)]
    if not all(math.isfinite(v) for point in ends for v in point):
        return
    yield Polyline(tuple(ends), item.colour, item.width, (), item.opacity)
    aside, along = (0.0, item.cap) if item.start[1] == item.end[1] else (item.cap, 0.0)
    for x, y in ends if item.cap else ():
        cap = ((x - aside, y - along), (x + aside, y + along))
        yield Polyline(cap, item.colour, item.width, (), item.opacity)


def on_top(item: Item, panel: Panel, frame: Frame) -> Iterator[Shape]:
    """Give the shapes that may reach over the edge: markers of values in the panel, and words."""
    if isinstance(item, Curve) and item.marker:
        for x, y in zip(item.x, item.y, strict=True):
            if all(-1e-6 <= at <= 1 + 1e-6 for at in (panel.x.place(x), panel.y.place(y))):
                yield marker(item.marker, *frame.point(panel, x, y), item.size, item.colour)
    elif isinstance(item, Ring):
        x, y = frame.point(panel, item.x, item.y)
        if math.isfinite(x) and math.isfinite(y):
            yield Circle(x, y, item.size / 2, item.colour, width=1.1)
    elif isinstance(item, Note):
        x, y = frame.point(panel, item.x, item.y)
        if math.isfinite(x) and math.isfinite(y):
            top = y - item.up - height_of(item.text, item.size) / 2 + 0.02 * item.size
            yield from lines_of(
                item.text, x + item.right, top, item.size, colour=item.colour, anchor=item.anchor, bold=item.bold
            )
