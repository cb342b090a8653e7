"""The legend below a picture: every labelled item once, with a sample of how it is drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from personare.reports.drawing.items import Band, Curve, Item, Level, Panel
from personare.reports.drawing.lettering import LEADING, block_width, wrapped
from personare.reports.drawing.marks import height_of, lines_of
from personare.reports.drawing.shapes import Polyline, Shape, box, marker

PAD = 4.0
LEGEND_SIZE = 9.0
SAMPLE_PT = 22.0  # the piece of line before a name in a legend
MOST_COLUMNS = 4


def legend(panels: Sequence[Panel], width: float, left: float, top: float) -> tuple[list[Shape], float]:
    """Name every labelled item once, in as many columns as fit; gives the shapes and the height they take."""
    named: dict[str, Item] = {}
    for item in (item for panel in panels for item in panel.items if _label(item)):
        named.setdefault(_label(item), item)
    if not named:
        return [], 0.0
    lead = SAMPLE_PT + 6
    widest = lead + max(block_width(label, LEGEND_SIZE) for label in named) + 14
    start = left if widest <= width - left else PAD
    columns = max(1, min(MOST_COLUMNS, len(named), int((width - start) // widest)))
    if len(named) > columns > 1:  # rows as even as they can be
        columns = math.ceil(len(named) / math.ceil(len(named) / columns))
    pitch = widest if columns > 1 else width - start
    texts = [wrapped(label, LEGEND_SIZE, max(pitch - lead - PAD, 40.0)) for label in named]
    shapes: list[Shape] = []
    y = top + 5
    for row in range(0, len(texts), columns):
        line = list(zip(texts, named, strict=True))[row : row + columns]
        for i, (text, label) in enumerate(line):
            x = start + i * pitch
            shapes += _sample(named[label], x, y + LEGEND_SIZE * LEADING / 2)
            shapes += lines_of(text, x + lead, y + 0.02 * LEGEND_SIZE, LEGEND_SIZE)
        y += max(height_of(text, LEGEND_SIZE) for text, _ in line) + 2.5
    return shapes, y - top


def _label(item: Item) -> str:
    return item.label if isinstance(item, Curve | Band | Level) else ""


def _sample(item: Item, x: float, y: float) -> Iterator[Shape]:
    """Show in the legend how an item is drawn."""
    ends = ((x, y), (x + SAMPLE_PT, y))
    if isinstance(item, Band):
        yield box(x, y - 4, SAMPLE_PT, 8, item.colour, item.opacity)
    elif isinstance(item, Level):
        yield Polyline(ends, item.colour, item.width, item.dash, item.opacity)
    elif isinstance(item, Curve):
        if item.width:
            yield Polyline(ends, item.colour, item.width, item.dash, item.opacity)
        if item.marker:
            yield marker(item.marker, x + SAMPLE_PT / 2, y, item.size, item.colour)
