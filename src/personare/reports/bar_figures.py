"""Bars against the level of guessing: findings with intervals (as figures 7, 10, 11 of VPC), and speakers by share."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from personare.core.findings import Finding
from personare.core.text import number_text
from personare.reports.blocks import Figure
from personare.reports.drawing.axes import Axis, rows_axis
from personare.reports.drawing.items import Band, Curve, Item, Level, Note, Panel, Whisker
from personare.reports.drawing.lettering import LEADING, block_width, wrapped
from personare.reports.drawing.panels import picture
from personare.reports.figures import GUESSING_DASH, PANEL_PT, series_colour

ROW_PT = 19.0
LABEL_PT = 120.0  # longer labels take several lines
LEAST_PLOT_PT = 130.0  # bars have at least so much space
CHANCE_DASH = (3.0, 1.8)


@dataclass(frozen=True)
class FindingBar:
    """One bar: the group it stands in, its own label, whose colour it has (None: grey), and its finding."""

    group: str
    label: str
    finding: Finding
    series: int | None = 0


def bar_figure(bars: Sequence[FindingBar], *, name: str, title: str, most: float | None = None) -> Figure:
    """Draw the bars of one metric from top to bottom, a heading over each group; ``most`` ends the axis."""
    scale = 100.0 if bars[0].finding.metric.unit == "%" else 1.0
    items: list[Item] = []
    labels: list[tuple[int, str]] = []
    x = _across(bars, scale, most)
    place = 0
    for group in dict.fromkeys(bar.group for bar in bars):
        heading = wrapped(group, 9.5, 1.5 * LABEL_PT, bold=True)
        items.append(Note(max(0.0, x.low), place, heading, right=4, size=9.5, bold=True))
        for bar in (b for b in bars if b.group == group):
            place += 1
            items += _bar(place, bar, scale, per_pt=(x.high - x.low) / LEAST_PLOT_PT)
            labels.append((place, wrapped(bar.label, 9.0, LABEL_PT)))
        place += 1
    if x.low < 0:
        items.append(Level(0.0, across=True, width=0.8))
    y = rows_axis([label for _, label in labels], places=[at for at, _ in labels])
    texts = [item.text for item in items if isinstance(item, Note)] + [label for _, label in labels]
    scene = picture([Panel(x, y, tuple(items), title)], width=PANEL_PT, height=row_pt(texts) * (y.low - y.high))
    return Figure(scene, _words(title, bars), name=name)


def row_pt(labels: Sequence[str], *, least: float = ROW_PT, size: float = 9.0) -> float:
    """Give the height of rows so that the label with the most lines fits into one."""
    lines = max((label.count("\n") + 1 for label in labels), default=1)
    return max(least, size * LEADING * lines + 6)


def _bar(place: int, bar: FindingBar, scale: float, *, per_pt: float) -> Iterator[Item]:
    """One bar, its whisker, and the guesser's level as a dashed tick, because it may differ between bars.

    The number stands at the end of its bar, behind the tick only where the tick would cross it; ``per_pt`` is how much
    of the axis a point takes at the most.
    """
    value, low, high = (scale * x for x in _numbers(bar.finding))
    yield Band([0.0, value], [place + 0.33] * 2, [place - 0.33] * 2, series_colour(bar.series), opacity=0.78)
    if not math.isnan(low):
        yield Whisker((min(low, value), place), (max(high, value), place))
    level = bar.finding.chance_level
    if level is not None:
        ends = [place - 0.5, place + 0.5]
        yield Curve([scale * level] * 2, ends, width=1.5, dash=CHANCE_DASH, label="guessing")
    end = max((v for v in (value, high) if math.isfinite(v)), default=0.0)
    words = (5 + block_width(bar.finding.value_text, 8.5) + 4) * per_pt
    if level is not None and end - 3 * per_pt < scale * level < end + words:
        end = max(end, scale * level)
    yield Note(end, place, bar.finding.value_text, right=5, size=8.5)


def _numbers(finding: Finding) -> tuple[float, float, float]:
    return finding.estimate.value, finding.estimate.low, finding.estimate.high


def _across(bars: Sequence[FindingBar], scale: float, most: float | None) -> Axis:
    numbers = (x for b in bars for x in (*_numbers(b.finding), b.finding.chance_level or 0.0))
    ends = [scale * x for x in numbers if math.isfinite(x)]
    top = max([*ends, 0.0]) if most is None else max(most * scale, *ends)
    low = min([*ends, 0.0])
    card, finding = bars[0].finding.metric, bars[0].finding
    safer = "safer" if finding.chance_level is not None or "attacker" in finding.conditions else "better"
    unit = f"{card.unit}, " if card.unit else ""  # the title names the metric
    return Axis(low, top if top > low else low + 1.0, label=f"{unit}{card.better} is {safer}", grid=False)


def _words(title: str, bars: Sequence[FindingBar]) -> str:
    values = "; ".join(
        f"{b.group}, {b.label}: {b.finding.value_text}"
        + (f" (guessing {b.finding.chance_text})" if b.finding.chance_level else "")
        for b in bars
    )
    return f"{title}. {values}."


def exposed_figure(
    speakers: Sequence[tuple[str, float]], *, everybody: int, chance: float, series: int | None, name: str, title: str
) -> Figure:
    """Draw (speaker, share of tests linked), the most exposed of ``everybody``; ``chance`` is one in N."""
    colour = series_colour(series)
    items: list[Item] = []
    for place, (_, share) in enumerate(speakers):
        items.append(Curve([0, 100 * share], [place] * 2, colour, width=1.6, opacity=0.6))
        items.append(Curve([100 * share], [place], colour, marker="circle", size=6))
        items.append(Note(100 * share, place, number_text(share, "%"), right=8))
    items.append(Level(100 * chance, across=True, dash=GUESSING_DASH, label="guessing"))
    labels = [wrapped(who, 9.0, LABEL_PT) for who, _ in speakers]
    x = Axis(0, 100, label=f"tests linked, % ({len(speakers)} of {everybody:,} speakers)", grid=False)
    y = rows_axis(labels)
    height = row_pt(labels, least=18.5) * (y.low - y.high)
    scene = picture([Panel(x, y, tuple(items), title)], width=PANEL_PT, height=height)
    words = "; ".join(f"{who} {number_text(share, '%')}" for who, share in speakers)
    alt = f"{title}, share of tests linked: {words}; guessing {number_text(chance, '%')}."
    return Figure(scene, alt, name=name)
