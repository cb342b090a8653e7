"""Bars against the level of guessing: findings with intervals (as figures 7, 10, 11 of VPC), and speakers by share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from personare.core.findings import Finding
from personare.core.text import number_text
from personare.reports.blocks import Figure
from personare.reports.figures import COLOURS, GREY, INK, PANEL_IN, drawing, drawn

ROW_IN, HEAD_IN = 0.27, 1.0


@dataclass(frozen=True)
class FindingBar:
    """One bar: the group it stands in, its own label, whose colour it has (None: grey), and its finding."""

    group: str
    label: str
    finding: Finding
    series: int | None = 0


def bar_figure(bars: Sequence[FindingBar], *, name: str, title: str, most: float | None = None) -> Figure:
    """Draw the bars of one metric from top to bottom, a heading over each group; ``most`` ends the axis."""
    groups = list(dict.fromkeys(bar.group for bar in bars))
    rows = len(bars) + len(groups)
    scale = 100.0 if bars[0].finding.metric.unit == "%" else 1.0
    with drawing(PANEL_IN, HEAD_IN + ROW_IN * rows) as (figure, axes):
        axis, place, ticks = axes[0], 0, []
        for group in groups:
            axis.text(0, place, f" {group}", va="center", weight="bold", fontsize=9.5)
            place += 1
            for bar in (b for b in bars if b.group == group):
                _bar(axis, place, bar, scale)
                ticks.append((place, bar.label))
                place += 1
        axis.set_yticks([at for at, _ in ticks], [label for _, label in ticks], fontsize=9)
        axis.tick_params(axis="y", length=0)
        axis.set_ylim(rows - 0.4, -0.6)
        _limits(axis, bars, scale, most)
        axis.set_title(title)
        _finish(axis, bars)
        return drawn(figure, name=name, alt=_words(title, bars))


def _bar(axis: Any, place: int, bar: FindingBar, scale: float) -> None:
    """One bar, its whisker, and the guesser's level as a dashed tick, because it may differ between bars."""
    value, low, high = (scale * x for x in _numbers(bar.finding))
    colour = GREY if bar.series is None else COLOURS[bar.series % len(COLOURS)]
    axis.barh(place, value, color=colour, height=0.66, alpha=0.78)
    if not math.isnan(low):
        whisker = [[max(0.0, value - low)], [max(0.0, high - value)]]
        axis.errorbar(value, place, xerr=whisker, color=INK, capsize=2.5, linewidth=1.1)
    if bar.finding.chance_level is not None:
        level = scale * bar.finding.chance_level
        axis.plot([level, level], [place - 0.5, place + 0.5], color=INK, linestyle=(0, (2, 1.2)), linewidth=1.5)
    end = max(v for v in (value, high, scale * (bar.finding.chance_level or 0.0)) if not math.isnan(v))
    shown = bar.finding.value_text
    axis.annotate(shown, (end, place), xytext=(5, 0), textcoords="offset points", va="center", fontsize=8.5)


def _numbers(finding: Finding) -> tuple[float, float, float]:
    return finding.estimate.value, finding.estimate.low, finding.estimate.high


def _limits(axis: Any, bars: Sequence[FindingBar], scale: float, most: float | None) -> None:
    ends = [scale * x for b in bars for x in (*_numbers(b.finding), b.finding.chance_level or 0.0) if not math.isnan(x)]
    top = max(ends) if most is None else max(most * scale, max(ends))
    low = min(0.0, *ends)
    axis.set_xlim(low, low + 1.22 * (top - low or 1.0))  # space for the numbers at the ends
    bound = scale * bars[0].finding.metric.bounds[1]
    axis.set_xticks([tick for tick in axis.get_xticks() if low <= tick <= bound])
    axis.set_xlim(low, low + 1.22 * (top - low or 1.0))
    if low < 0:
        axis.axvline(0, color=INK, linewidth=0.8)


def _finish(axis: Any, bars: Sequence[FindingBar]) -> None:
    card = bars[0].finding.metric
    safer = (
        "safer" if bars[0].finding.chance_level is not None or "attacker" in bars[0].finding.conditions else "better"
    )
    axis.set_xlabel(f"{f'{card.unit}, ' if card.unit else ''}{card.better} is {safer}")  # the title names the metric
    if any(b.finding.chance_level is not None for b in bars):
        axis.plot([], [], color=INK, linestyle=(0, (2, 1.2)), linewidth=1.5, label="guessing")
        axis.legend(frameon=False, fontsize=8.5, loc="upper right", borderaxespad=0, bbox_to_anchor=(1, 1.0))


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
    colour = GREY if series is None else COLOURS[series % len(COLOURS)]
    with drawing(PANEL_IN, 1.1 + 0.26 * len(speakers)) as (figure, axes):
        axis = axes[0]
        for place, (_, share) in enumerate(speakers):
            axis.plot([0, 100 * share], [place, place], color=colour, linewidth=1.6, alpha=0.6)
            axis.plot(100 * share, place, "o", color=colour, markersize=6)
            at = (100 * share, place)
            axis.annotate(number_text(share, "%"), at, xytext=(8, 0), textcoords="offset points", va="center")
        axis.axvline(100 * chance, color=INK, linestyle=(0, (4, 2)), linewidth=1.1, label="guessing")
        axis.set_yticks(range(len(speakers)), [who for who, _ in speakers], fontsize=9)
        axis.tick_params(axis="y", length=0)
        axis.set_ylim(len(speakers) - 0.4, -0.6)
        axis.set_xlim(0, 122)
        axis.set_xticks([0, 25, 50, 75, 100])
        axis.set_xlabel(f"tests linked, % ({len(speakers)} of {everybody:,} speakers)")
        figure.legend(frameon=False, fontsize=8.5, loc="outside lower right")
        axis.set_title(title)
        words = "; ".join(f"{who} {number_text(share, '%')}" for who, share in speakers)
        alt = f"{title}, share of tests linked: {words}; guessing {number_text(chance, '%')}."
        return drawn(figure, name=name, alt=alt)
