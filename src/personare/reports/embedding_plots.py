"""Risk over the size of the crowd, drawn as in Fig. 1 of the legal paper: one panel per L, one curve per attacker."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from personare.core.errors import PersonareError
from personare.core.files import atomic_path
from personare.core.findings import Finding
from personare.reports.figures import COLOURS, INK, drawing

PANEL_IN = (3.6, 3.4)
FORECAST = "population_linkability"


def save_curves(findings: Sequence[Finding], path: Path, *, title: str, paper_chance: float | None = None) -> None:
    """Draw findings with conditions attacker, L and N into a PNG or SVG file.

    Forecasts for populations are dotted; ``paper_chance`` is drawn beside the protocol's own chance level.
    """
    if not findings:
        raise PersonareError(f"{path}: nothing to draw")
    lengths = sorted({int(f.conditions["L"]) for f in findings})
    attackers = list(dict.fromkeys(str(f.conditions["attacker"]) for f in findings))
    with drawing(0.6 + PANEL_IN[0] * len(lengths), PANEL_IN[1] + 0.5, columns=len(lengths)) as (figure, axes):
        for axis, length in zip(axes, lengths, strict=True):
            here = [f for f in findings if f.conditions["L"] == length]
            _panel(axis, here, attackers, length, paper_chance)
        axes[0].set_ylabel(f"{title}, %")
        named = {label: line for axis in axes for line, label in zip(*axis.get_legend_handles_labels(), strict=True)}
        figure.legend(named.values(), named.keys(), frameon=False, fontsize=8, loc="outside lower center", ncols=4)
        with atomic_path(path) as part:
            figure.savefig(part, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)


def _panel(axis: Any, findings: Sequence[Finding], attackers: list[str], length: int, paper: float | None) -> None:
    """Draw the curves of all attackers at one L, with their intervals, over a logarithmic N."""
    for name in attackers:
        mine = [f for f in findings if f.conditions["attacker"] == name]
        colour = COLOURS[attackers.index(name) % len(COLOURS)]
        measured = [f for f in mine if f.metric.name != FORECAST]
        _curve(axis, measured, colour, label=name)
        if len(measured) < len(mine):
            ends = [f for f in mine if f.metric.name == FORECAST]
            _curve(axis, measured[-1:] + ends, colour, label=f"{name}, forecast", line=":")
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
    axis.set_title(f"L = {length}", fontsize=10)
    axis.set_xlabel("people N")
    axis.grid(alpha=0.25, linewidth=0.6)


def _logarithmic(axis: Any, people: Sequence[int]) -> None:
    """Count people in powers of ten; over a short range also 2 and 5 times those, as plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.set_xscale("log")
    if max(people) < 2000 * min(people):
        axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if max(people) < 40 * min(people) else (1.0,)))
        axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axis.xaxis.set_minor_locator(NullLocator())


def _curve(axis: Any, findings: Sequence[Finding], colour: str, *, label: str, line: str = "-") -> None:
    people = [int(f.conditions["N"]) for f in findings]
    values = [100 * f.estimate.value for f in findings]
    axis.plot(people, values, color=colour, linestyle=line, marker="o", markersize=3, linewidth=1.6, label=label)
    low, high = [100 * f.estimate.low for f in findings], [100 * f.estimate.high for f in findings]
    axis.fill_between(people, low, high, color=colour, alpha=0.15, linewidth=0)
