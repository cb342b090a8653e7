"""What a picture is made of: a few kinds of shapes on a sheet, in points (1/72 inch) from its upper left corner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

INK = "ink"  # the page's own colour of words: dark on light, light on dark
PlotPoint = tuple[float, float]
Anchor = Literal["start", "middle", "end"]
MarkerName = Literal["circle", "square", "triangle", "diamond", "turned-triangle", "plus"]


@dataclass(frozen=True)
class Polyline:
    """A line through points; ``dash`` are lengths of strokes and gaps in points."""

    points: tuple[PlotPoint, ...]
    colour: str = INK
    width: float = 1.0
    dash: tuple[float, ...] = ()
    opacity: float = 1.0


@dataclass(frozen=True)
class Polygon:
    """A filled area."""

    points: tuple[PlotPoint, ...]
    colour: str = INK
    opacity: float = 1.0


@dataclass(frozen=True)
class Circle:
    """A disc, or a ring of that line ``width`` where one is given."""

    x: float
    y: float
    radius: float
    colour: str = INK
    width: float = 0.0


@dataclass(frozen=True)
class Words:
    """One line of text; (x, y) is on its baseline, at its ``anchor``; ``upwards`` when it is read from below."""

    x: float
    y: float
    text: str
    size: float = 10.0
    colour: str = INK
    anchor: Anchor = "start"
    bold: bool = False
    upwards: bool = False


@dataclass(frozen=True)
class Raster:
    """A table of coloured cells stretched over a box; ``rgb`` holds three bytes a cell, row by row from the top."""

    x: float
    y: float
    width: float
    height: float
    columns: int
    rows: int
    rgb: bytes


@dataclass(frozen=True)
class Clip:
    """Shapes of which only what lies in a box is shown."""

    x: float
    y: float
    width: float
    height: float
    shapes: tuple[Shape, ...]


Shape = Polyline | Polygon | Circle | Words | Raster | Clip


@dataclass(frozen=True)
class Scene:
    """A sheet and what is on it, from back to front."""

    width: float
    height: float
    shapes: tuple[Shape, ...]


def box(x: float, y: float, width: float, height: float, colour: str = INK, opacity: float = 1.0) -> Polygon:
    """Give a filled rectangle."""
    return Polygon(((x, y), (x + width, y), (x + width, y + height), (x, y + height)), colour, opacity)


_CROSS = ((-1, -3), (1, -3), (1, -1), (3, -1), (3, 1), (1, 1), (1, 3), (-1, 3), (-1, 1), (-3, 1), (-3, -1), (-1, -1))
_OUTLINES: dict[str, tuple[PlotPoint, ...]] = {  # around (0, 0), as large as a disc of diameter 1
    "square": ((-0.45, -0.45), (0.45, -0.45), (0.45, 0.45), (-0.45, 0.45)),
    "triangle": ((0.0, -0.58), (0.53, 0.4), (-0.53, 0.4)),
    "turned-triangle": ((0.0, 0.58), (-0.53, -0.4), (0.53, -0.4)),
    "diamond": ((0.0, -0.6), (0.6, 0.0), (0.0, 0.6), (-0.6, 0.0)),
    "plus": tuple((0.18 * a, 0.18 * b) for a, b in _CROSS),
}


def marker(name: MarkerName, x: float, y: float, size: float, colour: str) -> Circle | Polygon:
    """Give the sign of a point, ``size`` points across."""
    if name == "circle":
        return Circle(x, y, size / 2, colour)
    return Polygon(tuple((x + size * a, y + size * b) for a, b in _OUTLINES[name]), colour)
