"""The layout of one or several panels with titles and a legend.

The width of a picture is given; its height follows from what it holds, so that no word is cut or covers another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from personare.reports.drawing.axes import Tick
from personare.reports.drawing.items import Note, Panel
from personare.reports.drawing.legend import PAD, legend
from personare.reports.drawing.lettering import LEADING, block_width, wrapped
from personare.reports.drawing.marks import Frame, clipped, height_of, lines_of, lines_upwards, on_top
from personare.reports.drawing.shapes import Clip, Polyline, Scene, Shape

TITLE_SIZE, LABEL_SIZE = 10.5, 10.0
GRID_OPACITY, GRID_WIDTH = 0.13, 0.6


@dataclass(frozen=True)
class _Margins:
    left: float
    right: float
    top: float
    bottom: float


def picture(
    panels: Sequence[Panel], *, width: float, height: float | None, title: str = "", widths: Sequence[float] = ()
) -> Scene:
    """Lay panels out side by side; every item with a label is named in a legend below.

    Parameters
    ----------
    width : of the whole picture, in points; height : of the plotted areas; None: as high as they are wide.
    widths : the share of the width each panel gets; none: all the same.
    """
    shares = [share / sum(widths) for share in widths] if widths else [1 / len(panels)] * len(panels)
    cells = [share * width for share in shares]
    if height is None:
        height = cells[0] - sum(_sides(panels[0], cells[0], cells[0]))
    panels = [replace(p, y=replace(p.y, label=wrapped(p.y.label, LABEL_SIZE, height))) for p in panels]
    sides = [_sides(panel, cell, height) for panel, cell in zip(panels, cells, strict=True)]
    panels = [_in_lines(p, cell, side) for p, cell, side in zip(panels, cells, sides, strict=True)]
    heading = wrapped(title, TITLE_SIZE, width - 2 * PAD, bold=True) if title else ""
    margins = [_margins(p, cell, side) for p, cell, side in zip(panels, cells, sides, strict=True)]
    top = max(m.top for m in margins) + (height_of(heading, TITLE_SIZE) + 6 if heading else 0)
    bottom = max(m.bottom for m in margins)
    shapes: list[Shape] = list(lines_of(heading, PAD, PAD, TITLE_SIZE, bold=True)) if heading else []
    start = 0.0
    for panel, cell, m in zip(panels, cells, margins, strict=True):
        frame = Frame(start + m.left, top, cell - m.left - m.right, height)
        shapes += _panel(panel, frame)
        start += cell
    below = top + height + bottom
    named, used = legend(panels, width, margins[0].left, below)
    return Scene(width, below + used + PAD, (*shapes, *named))


# the space that words around a panel need


def _sides(panel: Panel, cell: float, height: float) -> tuple[float, float]:
    """Give the left and the right margin: labels of the upright axis, words at the ends, the last label across."""
    axis = panel.y
    labels = [label for _, label in axis.ticks_over(height)]
    if panel.upright_labels:
        widest = axis.size * LEADING
    else:
        widest = max((block_width(label, axis.size) for label in labels), default=0.0)
    left = PAD + widest + axis.tick_pt + 3.5
    if axis.label:
        left += height_of(axis.label, LABEL_SIZE) + 4
    right = PAD
    for note in (item for item in panel.items if isinstance(item, Note) and item.anchor == "start"):
        at = panel.x.place(note.x)
        if at > 0:  # the words of this note begin at that share of the plotted width, and end within the margin
            needed = note.right + block_width(note.text, note.size, bold=note.bold) + PAD
            right = max(right, ((at - 1) * (cell - left) + needed) / at)
    inner = max(cell - left - right, 1.0)
    for value, label in panel.x.ticks_over(inner, across=True):
        over = block_width(label, panel.x.size) / 2 - (1 - panel.x.place(value)) * inner
        right = max(right, over + 1)
    return left, right


def _in_lines(panel: Panel, cell: float, side: tuple[float, float]) -> Panel:
    """Break the title and the name of the axis across into the lines they have space for."""
    title = wrapped(panel.title, TITLE_SIZE, cell - side[0] - PAD, bold=True)
    return replace(panel, title=title, x=replace(panel.x, label=wrapped(panel.x.label, LABEL_SIZE, cell - sum(side))))


def _margins(panel: Panel, cell: float, side: tuple[float, float]) -> _Margins:
    top = PAD + (height_of(panel.title, TITLE_SIZE) + 5 if panel.title else panel.y.size / 2)
    labels = [label for _, label in panel.x.ticks_over(cell - sum(side), across=True)]
    bottom = panel.x.tick_pt + 3 + max((height_of(label, panel.x.size) for label in labels), default=0.0)
    if panel.x.label:
        bottom += 3 + height_of(panel.x.label, LABEL_SIZE)
    return _Margins(side[0], side[1], top, bottom + 3)


def _panel(panel: Panel, frame: Frame) -> Iterator[Shape]:
    across = panel.x.ticks_over(frame.width, across=True)
    upright = panel.y.ticks_over(frame.height)
    yield from _grid(panel, frame, across, upright)
    inside = [shape for item in panel.items for shape in clipped(item, panel, frame)]
    half = 0.9  # of the thickest line: a curve along the edge is not cut in halves
    yield Clip(frame.x - half, frame.y - half, frame.width + 2 * half, frame.height + 2 * half, tuple(inside))
    if panel.framed:
        corners = (
            (frame.x, frame.y),
            (frame.x, frame.y + frame.height),
            (frame.x + frame.width, frame.y + frame.height),
        )
        yield Polyline(corners, width=0.8)
    for item in panel.items:
        yield from on_top(item, panel, frame)
    yield from _labels(panel, frame, across, upright)


def _grid(panel: Panel, frame: Frame, across: Sequence[Tick], upright: Sequence[Tick]) -> Iterator[Shape]:
    thin = Polyline((), width=GRID_WIDTH, opacity=GRID_OPACITY)
    for value, _ in across if panel.x.grid else ():
        x = frame.x + frame.width * panel.x.place(value)
        yield replace(thin, points=((x, frame.y), (x, frame.y + frame.height)))
    for value, _ in upright if panel.y.grid else ():
        y = frame.y + frame.height * (1 - panel.y.place(value))
        yield replace(thin, points=((frame.x, y), (frame.x + frame.width, y)))


def _labels(panel: Panel, frame: Frame, across: Sequence[Tick], upright: Sequence[Tick]) -> Iterator[Shape]:
    """Set the ticks, their labels, the names of the axes and the title."""
    x, y = panel.x, panel.y
    bottom = frame.y + frame.height
    for value, label in across:
        at = frame.x + frame.width * x.place(value)
        if x.tick_pt:
            yield Polyline(((at, bottom), (at, bottom + x.tick_pt)), width=0.8)
        if label:
            yield from lines_of(label, at, bottom + x.tick_pt + 2, x.size, anchor="middle")
    for value, label in upright:
        at = frame.y + frame.height * (1 - y.place(value))
        if y.tick_pt:
            yield Polyline(((frame.x, at), (frame.x - y.tick_pt, at)), width=0.8)
        edge = frame.x - y.tick_pt - 3.5
        if panel.upright_labels:
            yield from lines_upwards(label, edge, at, y.size)
        else:
            yield from lines_of(label, edge, at - height_of(label, y.size) / 2 + 0.02 * y.size, y.size, anchor="end")
    if x.label:
        heights = max((height_of(label, x.size) for _, label in across), default=0.0)
        top = bottom + x.tick_pt + 3 + heights + 3
        yield from lines_of(x.label, frame.x + frame.width / 2, top, LABEL_SIZE, anchor="middle")
    if y.label:
        widths = [y.size * LEADING if panel.upright_labels else block_width(label, y.size) for _, label in upright]
        edge = frame.x - y.tick_pt - 3.5 - max(widths, default=0.0) - 4
        yield from lines_upwards(y.label, edge, frame.y + frame.height / 2, LABEL_SIZE)
    if panel.title:
        top = frame.y - 5 - height_of(panel.title, TITLE_SIZE)
        yield from lines_of(panel.title, frame.x, top, TITLE_SIZE, bold=True)
