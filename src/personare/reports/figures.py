"""How our pictures look: one style, SVG that follows the page's light or dark ink, the same bytes every time."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from personare.reports.blocks import Figure
from personare.reports.palette import NEUTRAL, SERIES, as_light, as_variables

INK = "#010203"  # drawn in this colour, then handed over to the page's own ink
COLOURS = SERIES
GREY = NEUTRAL
MARKERS = ("o", "s", "^", "D", "v", "P")
PANEL_IN = 4.7  # as wide as a panel may be for its words to stay readable on a phone
PNG_DPI = 150


@contextlib.contextmanager
def drawing(width_in: float, height_in: float, columns: int = 1) -> Iterator[tuple[Any, list[Any]]]:
    """Give a figure and its axes in our style; no window, no global state left behind."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    style = {
        "svg.hashsalt": "personare",
        "svg.fonttype": "none",  # words stay words: they can be found, copied and read aloud
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlesize": 10.5,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.unicode_minus": False,
        **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK),
    }
    with matplotlib.rc_context(style):
        figure = Canvas(figsize=(width_in, height_in), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(1, columns, squeeze=False)[0]
        yield figure, list(axes)


def drawn(figure: Any, *, name: str, alt: str, caption: str = "") -> Figure:
    """Finish a picture: PNG for a text processor, SVG for the page, and what it shows in words.

    The places of things are computed once, with the PNG; the SVG keeps them.
    """
    stream = io.BytesIO()
    figure.set_dpi(PNG_DPI)
    figure.canvas.print_png(stream, metadata={"Software": None})
    figure.set_layout_engine("none")
    return Figure(as_svg(figure, name=name), alt, caption, name=name, png=stream.getvalue())


def as_svg(figure: Any, *, name: str = "") -> str:
    """Turn a figure into SVG text to put into a page: no dates, transparent, in the page's ink.

    ``name`` goes before every id, because one page holds many pictures.
    """
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    for patch in (figure.patch, *(axis.patch for axis in figure.axes)):
        patch.set_facecolor("none")
    stream = io.StringIO()
    FigureCanvasSVG(figure).print_svg(stream, metadata={"Date": None, "Creator": None})
    text = stream.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = as_variables(text.replace(INK, "currentColor"))
    if name:
        text = re.sub(r'(\bid="|xlink:href="#|url\(#)', rf"\g<1>{name}-", text)
    return re.sub(r'(<svg[^>]*?) width="[^"]*" height="[^"]*"', r"\1", text, count=1)


def renamed(figure: Figure, name: str) -> Figure:
    """Give a picture and everything in it another name."""
    ids = rf'(\bid="|xlink:href="#|url\(#){re.escape(figure.name)}-'
    return replace(figure, svg=re.sub(ids, rf"\g<1>{name}-", figure.svg), name=name)


def standalone(svg: str) -> str:
    """Make a page's SVG a file of its own, in light colours on white."""
    return '<?xml version="1.0" encoding="utf-8"?>\n' + as_light(svg).replace(
        "<svg ", '<svg style="background: #ffffff" ', 1
    )


def spread(places: list[float], *, least: float, low: float, high: float) -> list[float]:
    """Move labels apart so that each keeps ``least`` from the next, within ``low`` to ``high``; order is kept.

    >>> spread([1.0, 1.1, 5.0], least=1.0, low=0.0, high=6.0)
    [1.0, 2.0, 5.0]
    >>> spread([6.0, 5.9], least=1.0, low=0.0, high=6.0)
    [6.0, 5.0]
    """
    order = sorted(range(len(places)), key=lambda i: (places[i], -i))
    moved = [places[i] for i in order]
    for i in range(1, len(moved)):
        moved[i] = max(moved[i], moved[i - 1] + least)
    top = high
    for i in reversed(range(len(moved))):
        moved[i] = max(min(moved[i], top), low)
        top = moved[i] - least
    spread_places = [0.0] * len(places)
    for place, i in zip(moved, order, strict=True):
        spread_places[i] = place
    return spread_places
