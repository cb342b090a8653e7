"""Ranks of the right speaker over all speakers, as steps, with the percentiles of table 2 of USC."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from personare.core.text import number_text
from personare.reports.blocks import Figure
from personare.reports.drawing.axes import Axis
from personare.reports.drawing.items import Curve, Level, Panel
from personare.reports.drawing.panels import picture
from personare.reports.figures import DASHES, GUESSING_DASH, PANEL_PT, series_colour

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIRST = 0.9  # where the axis begins: a little before the best rank


@dataclass(frozen=True, eq=False)
class RankCurve:
    """The mean ranks [speakers] of one method, whose colour it has (None: grey), and its (p50, p1)."""

    label: str
    ranks: NDArray[np.float64]
    p50: float
    p1: float
    series: int | None = 0


def rank_figure(methods: Sequence[RankCurve], *, people: int, guess: float, name: str, title: str) -> Figure:
    """Draw which share of the speakers has at most that rank; far to the right and steep is safer."""
    last = max(people, 2) * 1.02
    curves = [_steps(method, last, DASHES[i % len(DASHES)]) for i, method in enumerate(methods)]
    half = Level(50, width=0.8, opacity=0.3)
    guessing = Level(guess, across=True, dash=GUESSING_DASH, label=f"guessing, p50 {number_text(guess)}")
    x = Axis(FIRST, last, label=f"mean rank of the right person among {people:,} (higher is safer)")
    y = Axis(0, 103, label="speakers with at most this rank, %")
    scene = picture([Panel(x, y, (half, *curves, guessing), title)], width=PANEL_PT, height=190)
    words = "; ".join(f"{m.label}: median {number_text(m.p50)}, p1 {number_text(m.p1)}" for m in methods)
    return Figure(scene, f"{title}. {words}; guessing: median {number_text(guess)} of {people}.", name=name)


def _steps(method: RankCurve, last: float, dash: tuple[float, ...]) -> Curve:
    """Go up by one speaker's share at each rank."""
    ranks = np.sort(method.ranks)
    share = 100 * np.arange(1, len(ranks) + 1) / len(ranks)
    x = [FIRST, *np.repeat(ranks, 2).tolist(), last]
    y = np.repeat([0.0, *share], 2).tolist()
    label = f"{method.label} (p50 {number_text(method.p50)}, p1 {number_text(method.p1)})"
    return Curve(x, y, series_colour(method.series), width=1.9, dash=dash, label=label)
