"""Risk over the number of people, drawn as in Fig. 1 of the legal paper: one panel per L, one curve per attacker."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from personare.core.errors import PersonareError
from personare.core.findings import Finding
from personare.reports.blocks import Figure
from personare.reports.drawing.axes import Axis, limits, short_number
from personare.reports.drawing.items import Band, Curve, Item, Level, Note, Panel
from personare.reports.drawing.lettering import LEADING, wrapped
from personare.reports.drawing.panels import picture
from personare.reports.drawing.shapes import INK
from personare.reports.figures import (
    COLOURS,
    GREY,
    GUESSING_DASH,
    MARKERS,
    PANEL_PT,
    save_drawing,
    spread,
)

PANEL_OF_SEVERAL_PT = 270.0
HEIGHT_PT = 200.0
NAME_PT, NAME_SIZE = 90.0, 9.0  # names at the ends: longer ones take several lines
FEW = 5
DOTS = (1.8, 2.6)
SHARE = (-2.0, 102.0)
FORECAST = "population_linkability"


def save_curves(findings: Sequence[Finding], path: Path, *, title: str, paper_chance: float | None = None) -> None:
    """Draw findings with conditions attacker, L and N into an SVG or PDF file.

    Forecasts for populations are dotted; ``paper_chance`` is drawn beside the protocol's own chance level.
    """
    if not findings:
        raise PersonareError(f"{path}: nothing to draw")
    lengths = sorted({int(f.conditions["L"]) for f in findings})
    attackers = list(dict.fromkeys(str(f.conditions["attacker"]) for f in findings))
    panels = []
    for i, length in enumerate(lengths):
        of_length = [f for f in findings if f.conditions["L"] == length]
        items = tuple(_curves(of_length, attackers, paper=paper_chance))
        y = Axis(*SHARE, label="" if i else f"{title}, %")
        panels.append(Panel(_people_axis(of_length), y, items, f"L = {length}"))
    scene = picture(panels, width=30 + PANEL_OF_SEVERAL_PT * len(panels), height=HEIGHT_PT)
    save_drawing(scene, path, alt=f"{title} over the number of people")


def curve_figure(
    findings: Sequence[Finding], *, attackers: Sequence[str], grey: str = "", name: str, title: str
) -> Figure:
    """Draw one L: a curve per attacker with its name at its end; the attacker called ``grey`` is the comparison."""
    curves = {who: [f for f in findings if f.conditions["attacker"] == who] for who in attackers}
    curves = {who: curve for who, curve in curves.items() if curve}
    metric = findings[0].metric.title
    x = _people_axis(findings)
    drawn = [_unlabelled(item) for item in _curves(findings, attackers, grey=grey)]
    names, height = _end_names(findings, curves, attackers, grey, x.high)
    panel = Panel(x, Axis(*SHARE, label=f"{metric}, %"), (*drawn, *names), title)
    words = "; ".join(f"{who}: {_ends_text(curve)}" for who, curve in curves.items())
    alt = f"{title}, {metric} over the number of people. {words}."
    return Figure(picture([panel], width=PANEL_PT, height=height), alt, name=name)


def _unlabelled(item: Item) -> Item:
    """Take an item out of the legend."""
    return replace(item, label="") if isinstance(item, Curve | Level) else item


def _ends_text(findings: Sequence[Finding]) -> str:
    """Say where a curve begins and ends."""
    ends = [findings[0], findings[-1]] if len(findings) > 1 else findings
    return " to ".join(f"{f.value_text} of N = {f.conditions['N']:,}" for f in ends)


def _end_names(
    findings: Sequence[Finding], curves: dict[str, list[Finding]], attackers: Sequence[str], grey: str, right: float
) -> tuple[list[Note], float]:
    """Name every curve at its right end, and the line of guessing, moved apart where they would overlap.

    Gives the names and how high the panel is: higher than usual where many or long names need it.
    """
    ends = [(who, 100 * curve[-1].estimate.value, _colour(who, attackers, grey)) for who, curve in curves.items()]
    chance = [(int(f.conditions["N"]), f.chance_level) for f in findings if f.chance_level is not None]
    if chance:
        ends.append(("guessing", 100 * float(max(chance)[1]), INK))
    names = [wrapped(who, NAME_SIZE, NAME_PT) for who, _, _ in ends]
    heights = [1.05 * NAME_SIZE * LEADING * (name.count("\n") + 1) for name in names]
    height = max(HEIGHT_PT, sum(heights))
    share = (SHARE[1] - SHARE[0]) / height  # of the axis that a point on paper is
    places = spread([y for _, y, _ in ends], [share * h for h in heights], low=SHARE[0], high=SHARE[1])
    notes = [
        Note(right, place, name, right=6, size=NAME_SIZE, colour=INK if colour == GREY else colour)
        for name, (_, _, colour), place in zip(names, ends, places, strict=True)
    ]
    return notes, height


def _colour(who: str, attackers: Sequence[str], grey: str) -> str:
    return GREY if who == grey else COLOURS[attackers.index(who) % len(COLOURS)]


def _curves(
    findings: Sequence[Finding], attackers: Sequence[str], *, paper: float | None = None, grey: str = ""
) -> Iterator[Item]:
    """Give the curves of all attackers at one L, with their intervals, and the levels of guessing."""
    for i, name in enumerate(attackers):
        own = [f for f in findings if f.conditions["attacker"] == name]
        measured = [f for f in own if f.metric.name != FORECAST]
        look = Curve((), (), _colour(name, attackers, grey), marker=MARKERS[i % len(MARKERS)], label=name)
        if own:
            yield from _curve(measured, look)
        if len(measured) < len(own):
            forecast = [f for f in own if f.metric.name == FORECAST]
            yield from _curve(measured[-1:] + forecast, replace(look, dash=DOTS, label=f"{name}, forecast"))
    chance = sorted({(int(f.conditions["N"]), float(f.chance_level)) for f in findings if f.chance_level is not None})
    if chance:
        people, levels = [n for n, _ in chance], [100 * c for _, c in chance]
        yield Curve(people, levels, INK, width=1.1, dash=GUESSING_DASH, label="guessing")
    if paper is not None:
        yield Level(100 * paper, width=1.0, dash=(1.0, 2.0), label="exp(-1), the paper's chance")


def _curve(findings: Sequence[Finding], look: Curve) -> Iterator[Item]:
    people = [int(f.conditions["N"]) for f in findings]
    low, high = [100 * f.estimate.low for f in findings], [100 * f.estimate.high for f in findings]
    yield Band(people, low, high, look.colour)
    yield replace(look, x=people, y=[100 * f.estimate.value for f in findings])


def _people_axis(findings: Sequence[Finding]) -> Axis:
    """Count people in powers of ten; a few sizes are the ticks themselves."""
    sizes = sorted({int(f.conditions["N"]) for f in findings})
    ends = limits([math.log10(size) for size in sizes], margin=0.05)
    ticks = tuple((float(n), short_number(n)) for n in sizes) if len(sizes) <= FEW else None
    return Axis(10 ** ends[0], 10 ** ends[1], label="people N", scale="log", ticks=ticks)
