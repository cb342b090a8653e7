"""How our pictures look: one style, SVG that follows the page's light or dark ink, the same bytes every time."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from typing import Any

INK = "#010203"  # drawn in this colour, then handed over to the page's own ink
COLOURS = ("#3b7dd8", "#d9722e", "#2f9e6e", "#9a5bc4", "#c9473f")


@contextlib.contextmanager
def drawing(width_in: float, height_in: float, columns: int = 1) -> Iterator[tuple[Any, list[Any]]]:
    """Give a figure and its axes in our style; no window, no global state left behind."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    style = {
        "svg.hashsalt": "personare",
        "svg.fonttype": "path",
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK),
    }
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(width_in, height_in), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(1, columns, squeeze=False)[0]
        yield figure, list(axes)


def as_svg(figure: Any) -> str:
    """Turn a figure into SVG text to put into a page: no dates, transparent, in the page's ink."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = stream.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = text.replace(INK, "currentColor")
    return (
        re.sub(r'(<svg[^>]*?) width="[^"]*" height="[^"]*"', r"\1", text, count=1) if "viewBox" in text[:600] else text
    )
