"""Ranks of the right speaker over all speakers, as steps, with the percentiles of table 2 of USC."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.text import number_text
from personare.reports.blocks import Figure
from personare.reports.figures import COLOURS, GREY, INK, PANEL_IN, drawing, drawn

if TYPE_CHECKING:
    from numpy.typing import NDArray

STYLES = ("-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (5, 1.5, 1, 1.5)))


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
    with drawing(PANEL_IN, 3.7) as (figure, axes):
        axis = axes[0]
        for i, method in enumerate(methods):
            _steps(axis, method, people, STYLES[i % len(STYLES)])
        axis.axvline(
            guess, color=INK, linestyle=(0, (4, 2)), linewidth=1.1, label=f"guessing, p50 {number_text(guess)}"
        )
        axis.axhline(50, color=INK, alpha=0.3, linewidth=0.8)
        axis.set(xlim=(0.9, max(people, 2) * 1.02), ylim=(0, 103))
        axis.set_xlabel(f"mean rank of the right person among {people:,} (higher is safer)")
        axis.set_ylabel("speakers with at most this rank, %")
        axis.grid(color=INK, alpha=0.12, linewidth=0.6)
        axis.set_title(title)
        figure.legend(frameon=False, fontsize=8.5, loc="outside lower center", ncols=2)
        words = "; ".join(f"{m.label}: median {number_text(m.p50)}, p1 {number_text(m.p1)}" for m in methods)
        alt = f"{title}. {words}; guessing: median {number_text(guess)} of {people}."
        return drawn(figure, name=name, alt=alt)


def _steps(axis: Any, method: RankCurve, people: int, style: Any) -> None:
    ranks = np.sort(method.ranks)
    share = 100 * np.arange(1, len(ranks) + 1) / len(ranks)
    colour = GREY if method.series is None else COLOURS[method.series % len(COLOURS)]
    x, y = np.concatenate([[0.0], ranks, [people * 1.02]]), np.concatenate([[0.0], share, [100.0]])
    label = f"{method.label} (p50 {number_text(method.p50)}, p1 {number_text(method.p1)})"
    axis.step(x, y, where="post", color=colour, linestyle=style, linewidth=1.9, label=label)
