"""Risk over the number of people, drawn as in Fig. 1 of the legal paper: one panel per L, one curve per attacker."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from personare.core.errors import PersonareError
from personare.core.files import atomic_path
from personare.core.findings import Finding
from personare.reports.blocks import Figure
from personare.reports.figures import COLOURS, GREY, INK, MARKERS, PANEL_IN, drawing, drawn, spread

SMALL_IN = (3.6, 3.4)
FEW = 5
FORECAST = "population_linkability"


def save_curves(findings: Sequence[Finding], path: Path, *, title: str, paper_chance: float | None = None) -> None:
    """Draw findings with conditions attacker, L and N into a PNG or SVG file.

    Forecasts for populations are dotted; ``paper_chance`` is drawn beside the protocol's own chance level.
    """
    if not findings:
        raise PersonareError(f"{path}: nothing to draw")
    lengths = sorted({int(f.conditions["L"]) for f in findings})
    attackers = list(dict.fromkeys(str(f.conditions["attacker"]) for f in findings))
    with drawing(0.6 + SMALL_IN[0] * len(lengths), SMALL_IN[1] + 0.5, columns=len(lengths)) as (figure, axes):
        for axis, length in zip(axes, lengths, strict=True):
            here = [f for f in findings if f.conditions["L"] == length]
            _panel(axis, here, attackers, paper_chance)
            axis.set_title(f"L = {length}")
        axes[0].set_ylabel(f"{title}, %")
        named = {label: line for axis in axes for line, label in zip(*axis.get_legend_handles_labels(), strict=True)}
        figure.legend(named.values(), named.keys(), frameon=False, fontsize=8, loc="outside lower center", ncols=4)
        with atomic_path(path) as part:
            figure.savefig(part, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)


def curve_figure(
    findings: Sequence[Finding], *, attackers: Sequence[str], grey: str = "", name: str, title: str
) -> Figure:
    """Draw one L: a curve per attacker with its name at its end; the attacker called ``grey`` is the comparison."""
    with drawing(PANEL_IN, 3.8) as (figure, axes):
        axis, there = axes[0], {str(f.conditions["attacker"]) for f in findings}
        shown = [who for who in attackers if who in there]
        _panel(axis, findings, list(attackers), None, grey=grey)
        axis.set_title(title)
        axis.set_ylabel(f"{findings[0].metric.title}, %")
        _end_labels(axis, findings, shown, list(attackers), grey)
        curves = {who: [f for f in findings if f.conditions["attacker"] == who] for who in shown}
        words = "; ".join(f"{who}: {_ends_text(curve)}" for who, curve in curves.items())
        return drawn(figure, name=name, alt=f"{title}, {findings[0].metric.title} over the number of people. {words}.")


def _ends_text(findings: Sequence[Finding]) -> str:
    """Say where a curve begins and ends."""
    ends = [findings[0], findings[-1]] if len(findings) > 1 else findings
    return " to ".join(f"{f.value_text} of N = {f.conditions['N']:,}" for f in ends)


def _end_labels(axis: Any, findings: Sequence[Finding], shown: list[str], attackers: list[str], grey: str) -> None:
    """Name every curve at its right end, and the line of guessing, moved apart where they would overlap."""
    last = {who: [f for f in findings if f.conditions["attacker"] == who][-1] for who in shown}
    ends = [(who, 100 * f.estimate.value, _colour(who, attackers, grey)) for who, f in last.items()]
    chance = [(int(f.conditions["N"]), f.chance_level) for f in findings if f.chance_level is not None]
    if chance:
        ends.append(("guessing", 100 * float(max(chance)[1]), INK))
    places = spread([y for _, y, _ in ends], least=7.0, low=0.0, high=100.0)
    for (who, y, colour), place in zip(ends, places, strict=True):
        axis.annotate(
            who,
            (1.0, y),
            xycoords=("axes fraction", "data"),
            xytext=(1.02, place),
            textcoords=("axes fraction", "data"),
            va="center",
            fontsize=9,
            color=INK if colour == GREY else colour,
            annotation_clip=False,
        )


def _colour(who: str, attackers: list[str], grey: str) -> str:
    return GREY if who == grey else COLOURS[attackers.index(who) % len(COLOURS)]


def _panel(
    axis: Any, findings: Sequence[Finding], attackers: list[str], paper: float | None, *, grey: str = ""
) -> None:
    """Draw the curves of all attackers at one L, with their intervals, over a logarithmic N."""
    for name in attackers:
        mine = [f for f in findings if f.conditions["attacker"] == name]
        if not mine:
            continue
        colour, marker = _colour(name, attackers, grey), MARKERS[attackers.index(name) % len(MARKERS)]
        measured = [f for f in mine if f.metric.name != FORECAST]
        _curve(axis, measured, colour, label=name, marker=marker)
        if len(measured) < len(mine):
            ends = [f for f in mine if f.metric.name == FORECAST]
            _curve(axis, measured[-1:] + ends, colour, label=f"{name}, forecast", line=":", marker=marker)
    chance = sorted({(int(f.conditions["N"]), float(f.chance_level)) for f in findings if f.chance_level is not None})
    if chance:
        axis.plot(
            [n for n, _ in chance],
            [100 * c for _, c in chance],
            color=INK,
            linestyle="--",
            linewidth=1.1,
            label="guessing",
        )
    if paper is not None:
        axis.axhline(100 * paper, color=INK, linestyle=(0, (1, 2)), linewidth=1.0, label="exp(-1), the paper's chance")
    _logarithmic(axis, [int(f.conditions["N"]) for f in findings])
    axis.set_ylim(-2, 102)
    axis.set_xlabel("people N")
    axis.grid(alpha=0.25, linewidth=0.6)


def _logarithmic(axis: Any, people: Sequence[int]) -> None:
    """Count people in powers of ten; over a short range also 2 and 5 times those, as plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.set_xscale("log")
    sizes = sorted(set(people))
    if len(sizes) <= FEW:
        axis.set_xticks(sizes, [_short(n, None) for n in sizes])
        axis.xaxis.set_minor_locator(NullLocator())
        return
    axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if max(people) < 40 * min(people) else (1.0,)))
    axis.xaxis.set_major_formatter(FuncFormatter(_short))
    axis.xaxis.set_minor_locator(NullLocator())


def _short(value: float, _: object) -> str:
    """Write 1,000 and 10 k, 5 M."""
    for size, word in ((1e9, " G"), (1e6, " M"), (1e4, " k")):
        if value >= size:
            return f"{value / (1e3 if word == ' k' else size):,.0f}{word}"
    return f"{value:,.0f}"


def _curve(
    axis: Any, findings: Sequence[Finding], colour: str, *, label: str, line: str = "-", marker: str = "o"
) -> None:
    people = [int(f.conditions["N"]) for f in findings]
    values = [100 * f.estimate.value for f in findings]
    axis.plot(people, values, color=colour, linestyle=line, marker=marker, markersize=4, linewidth=1.8, label=label)
    low, high = [100 * f.estimate.low for f in findings], [100 * f.estimate.high for f in findings]
    axis.fill_between(people, low, high, color=colour, alpha=0.15, linewidth=0)
