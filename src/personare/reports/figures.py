"""How our pictures look: one width, one set of colours, markers and dashes; and the files they are written to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from personare.core.errors import OutputError
from personare.core.files import write_bytes, write_text
from personare.reports.drawing.pdf import pdf_bytes
from personare.reports.drawing.shapes import MarkerName, Scene
from personare.reports.drawing.svg import file_svg
from personare.reports.palette import NEUTRAL, SERIES

COLOURS = SERIES
GREY = NEUTRAL
MARKERS: tuple[MarkerName, ...] = ("circle", "square", "triangle", "diamond", "turned-triangle", "plus")
DASHES: tuple[tuple[float, ...], ...] = ((), (9.0, 3.0), (3.0, 2.0), (9.0, 3.0, 2.0, 3.0))  # to tell lines apart
GUESSING_DASH = (4.0, 2.2)
PANEL_PT = 316.0  # as wide as a panel may be for its words to stay readable on a phone


def series_colour(series: int | None) -> str:
    """Give the colour of a series; None is what the others are compared with."""
    return GREY if series is None else COLOURS[series % len(COLOURS)]


def save_drawing(scene: Scene, path: Path, *, alt: str = "") -> Path:
    """Write a picture as SVG, with what it shows in words, or as PDF, as the name of the file says; gives the path."""
    if path.suffix.lower() == ".svg":
        write_text(path, file_svg(scene, alt=alt))
    elif path.suffix.lower() == ".pdf":
        write_bytes(path, pdf_bytes(scene))
    else:
        raise OutputError(
            f"{path}: pictures are drawn as .svg (for pages) or .pdf (for papers), not as '{path.suffix}'"
        )
    return path


def spread(places: Sequence[float], heights: Sequence[float], *, low: float, high: float) -> list[float]:
    """Move labels of these heights, centred on these places, apart; they stay within ``low`` to ``high``, in order.

    >>> spread([1.0, 1.1, 5.0], [1.0, 1.0, 1.0], low=0.0, high=6.0)
    [1.0, 2.0, 5.0]
    >>> spread([6.0, 5.9], [1.0, 2.0], low=0.0, high=6.0)
    [5.5, 4.0]
    """
    order = sorted(range(len(places)), key=lambda i: (places[i], -i))
    moved = list(places)
    bottom, top = low, high
    for i in order:
        moved[i] = max(moved[i], bottom + heights[i] / 2)
        bottom = moved[i] + heights[i] / 2
    for i in reversed(order):
        moved[i] = min(moved[i], top - heights[i] / 2)
        top = moved[i] - heights[i] / 2
    return moved
