"""Pictures of what people said: violins of ratings, the trade of errors, how well recordings were put together.

After figures 16 to 19 of the VoicePrivacy 2020 paper; densities are Gaussian kernels that end where the scale ends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from personare.core.text import number_text
from personare.metrics.privacy.listener_groups import GroupMean, group_mean
from personare.reports.blocks import Figure
from personare.reports.drawing.axes import Axis, limits, rows_axis
from personare.reports.drawing.items import Band, Curve, Item, Level, Note, Panel, Whisker
from personare.reports.drawing.lettering import wrapped
from personare.reports.drawing.panels import picture
from personare.reports.figures import DASHES, GUESSING_DASH, PANEL_PT, series_colour
from personare.reports.score_plots import DetCurve, det_panel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

POINTS = 121
ROW_PT, WIDEST = 34.0, 0.42  # of a violin's row, and how far a violin reaches from its middle
LABEL_PT = 110.0


@dataclass(frozen=True, eq=False)
class ValueSeries:
    """Values from 0 to 1 of one kind of trial: its label, and whose colour it has (None: grey)."""

    label: str
    values: Floats
    series: int | None = 0

    @property
    def colour(self) -> str:
        """Its colour."""
        return series_colour(self.series)


def density(values: Floats, grid: Floats) -> Floats:
    """Estimate the density of values between 0 and 1; what would lie beyond an end is reflected at it.

    >>> grid = np.linspace(0, 1, 201)
    >>> round(float(np.trapezoid(density(np.array([0.2, 0.5, 0.9]), grid), grid)), 2)
    1.0
    """
    spread = float(np.std(values)) or 0.05
    width = max(0.03, 1.06 * spread * len(values) ** -0.2)  # Silverman's rule
    mirrored = np.concatenate([values, -values, 2 - values])
    kernels = np.exp(-0.5 * ((grid[:, None] - mirrored[None, :]) / width) ** 2)
    density_at: Floats = kernels.sum(axis=1) / (len(values) * width * np.sqrt(2 * np.pi))
    return density_at


def violin_figure(
    groups: Sequence[ValueSeries], *, name: str, title: str, axis: str, level: float | None = None
) -> Figure:
    """Draw one violin a row: its shape, its quartiles and median, and its mean in numbers; ``level`` a dotted line."""
    grid = np.linspace(0, 1, POINTS)
    shapes = [density(g.values, grid) for g in groups]
    tallest = max(float(shape.max()) for shape in shapes)
    items: list[Item] = [] if level is None else [Level(level, across=True, dash=GUESSING_DASH, opacity=0.7)]
    for row, (group, shape) in enumerate(zip(groups, shapes, strict=True)):
        reach = (WIDEST * shape / tallest).tolist()
        low, high = ([row + sign * r for r in reach] for sign in (1, -1))
        items.append(Band(grid.tolist(), low, high, group.colour, opacity=0.35))
        items += [Curve(grid.tolist(), edge, group.colour, width=1.1) for edge in (low, high)]
        first, middle, last = (float(q) for q in np.quantile(group.values, (0.25, 0.5, 0.75)))
        items.append(Curve([first, last], [row] * 2, group.colour, width=3.2, opacity=0.9))
        items.append(Curve([middle], [row], width=0, marker="circle", size=5.5))
        items.append(Note(1.0, row, number_text(float(np.mean(group.values))), right=7, size=8.5))
    labels = [wrapped(group.label, 9.0, LABEL_PT) for group in groups]
    y = rows_axis(labels)
    panel = Panel(Axis(0, 1, label=axis), y, tuple(items), title)
    scene = picture([panel], width=PANEL_PT, height=ROW_PT * (y.low - y.high))
    words = "; ".join(
        f"{g.label}: mean {number_text(float(np.mean(g.values)))}, median {number_text(float(np.median(g.values)))}"
        for g in groups
    )
    return Figure(scene, f"{title}. {words}.", name=name)


def people_det_figure(curves: Sequence[DetCurve], *, name: str, title: str) -> Figure:
    """Draw the trade of errors of ratings."""
    words = "; ".join(f"{one.name}: EER {number_text(one.eer, '%')}" for one in curves)
    scene = picture([det_panel(curves, title=title)], width=PANEL_PT, height=None)
    return Figure(scene, f"{title}. {words}.", name=name)


def density_figure(groups: Sequence[ValueSeries], *, name: str, title: str, axis: str) -> Figure:
    """Draw the densities of several groups over each other."""
    grid = np.linspace(0, 1, POINTS)
    items: list[Item] = []
    for i, group in enumerate(groups):
        shape = density(group.values, grid).tolist()
        items.append(Band(grid.tolist(), [0.0] * POINTS, shape, group.colour, opacity=0.12))
        label = f"{group.label} (mean {number_text(float(np.mean(group.values)), '%')})"
        items.append(Curve(grid.tolist(), shape, group.colour, dash=DASHES[i % len(DASHES)], label=label))
    tops = [value for item in items if isinstance(item, Curve) for value in item.y]
    y = Axis(*limits(tops, low=0.0), label="density", grid=False)
    scene = picture([Panel(Axis(0, 1, label=axis), y, tuple(items), title)], width=PANEL_PT, height=190)
    words = "; ".join(f"{g.label}: mean {number_text(float(np.mean(g.values)), '%')}" for g in groups)
    return Figure(scene, f"{title}. {words}.", name=name)


def cumulative_figure(groups: Sequence[ValueSeries], *, name: str, title: str, axis: str) -> Figure:
    """Draw which share of the trials reaches at most each value."""
    items: list[Item] = []
    for i, group in enumerate(groups):
        ordered = np.sort(group.values)
        x = [0.0, *np.repeat(ordered, 2).tolist(), 1.0]
        y = np.repeat(100 * np.arange(len(ordered) + 1) / len(ordered), 2).tolist()
        items.append(Curve(x, y, group.colour, dash=DASHES[i % len(DASHES)], label=group.label))
    panel = Panel(Axis(0, 1, label=axis), Axis(0, 103, label="trials, %"), tuple(items), title)
    scene = picture([panel], width=PANEL_PT, height=190)
    words = "; ".join(f"{g.label}: median {number_text(float(np.median(g.values)))}" for g in groups)
    return Figure(scene, f"{title}. {words}.", name=name)


def means_figure(groups: Sequence[ValueSeries], *, name: str, title: str, axis: str, mark: str = "") -> Figure:
    """Draw the mean of every group as a diamond with its standard error, one a row; ``mark`` stars of significance."""
    found = [group_mean(group.values) for group in groups]
    items: list[Item] = [Level(0.0, across=True, dash=GUESSING_DASH, opacity=0.7)]
    for row, (group, one) in enumerate(zip(groups, found, strict=True)):
        if math.isfinite(one.error):
            ends = ((one.mean - one.error, row), (one.mean + one.error, row))
            items.append(Whisker(*ends, group.colour, width=1.4))
        items.append(Curve([one.mean], [row], group.colour, width=0, marker="diamond", size=8))
    values = [v for one in found for v in (one.mean, one.mean - one.error, one.mean + one.error) if math.isfinite(v)]
    y = rows_axis([wrapped(f"{g.label} ({one.n})", 9.0, LABEL_PT) for g, one in zip(groups, found, strict=True)])
    panel = Panel(Axis(*limits([*values, 0.0], margin=0.12), label=axis), y, tuple(items), f"{title} {mark}".strip())
    scene = picture([panel], width=PANEL_PT, height=ROW_PT * (y.low - y.high))
    words = "; ".join(_mean_words(group.label, one) for group, one in zip(groups, found, strict=True))
    return Figure(scene, f"{title}. {words}.", name=name)


def _mean_words(label: str, one: GroupMean) -> str:
    error = f", standard error {number_text(one.error)}" if math.isfinite(one.error) else ""
    return f"{label}: mean {number_text(one.mean)}{error} ({one.n} evaluators)"
