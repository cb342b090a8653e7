"""What is drawn in the values of two axes: curves, bands, levels, whiskers, rings, notes, cells; and their panel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from personare.reports.drawing.axes import Axis
from personare.reports.drawing.shapes import INK, Anchor, MarkerName, PlotPoint


@dataclass(frozen=True)
class Curve:
    """A line through values, markers at values, or both; it breaks where a value is not finite."""

    x: Sequence[float]
    y: Sequence[float]
    colour: str = INK
    width: float = 1.8
    dash: tuple[float, ...] = ()
    opacity: float = 1.0
    marker: MarkerName | None = None
    size: float = 4.5
    label: str = ""


@dataclass(frozen=True)
class Band:
    """The area between two curves."""

    x: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    colour: str = INK
    opacity: float = 0.15
    label: str = ""


@dataclass(frozen=True)
class Level:
    """A line through the whole panel at one value of ``across`` (a vertical line) or else of the upright axis."""

    value: float
    across: bool = False
    colour: str = INK
    width: float = 1.1
    dash: tuple[float, ...] = ()
    opacity: float = 1.0
    label: str = ""


@dataclass(frozen=True)
class Whisker:
    """An interval: a line between two points with a cap of ``cap`` points to both sides of each end."""

    start: PlotPoint
    end: PlotPoint
    colour: str = INK
    width: float = 1.1
    cap: float = 2.5
    opacity: float = 1.0


@dataclass(frozen=True)
class Ring:
    """A ring around a point that stands out."""

    x: float
    y: float
    colour: str = INK
    size: float = 8.0


@dataclass(frozen=True)
class Note:
    """Words beside a point, moved by (``right``, ``up``) points; lines are centred on their height."""

    x: float
    y: float
    text: str
    right: float = 0.0
    up: float = 0.0
    size: float = 9.0
    colour: str = INK
    anchor: Anchor = "start"
    bold: bool = False


@dataclass(frozen=True)
class Cells:
    """A table of coloured cells over the whole panel: three bytes a cell, row by row from the top."""

    columns: int
    rows: int
    rgb: bytes


Item = Curve | Band | Level | Whisker | Ring | Note | Cells


@dataclass(frozen=True)
class Panel:
    """Two axes and what is drawn between them, from back to front."""

    x: Axis
    y: Axis
    items: tuple[Item, ...]
    title: str = ""
    framed: bool = True  # lines along both axes
    upright_labels: bool = False  # labels of the upright axis are read from below
