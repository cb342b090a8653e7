"""Who is least hidden: how often each speaker is linked, the most exposed first, against the line of guessing."""

from __future__ import annotations

from collections.abc import Sequence

from personare.reports.blocks import Figure
from personare.reports.figures import COLOURS, GREY, INK, PANEL_IN, drawing, drawn


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
            axis.annotate(
                f"{100 * share:.0f} %", (100 * share, place), xytext=(8, 0), textcoords="offset points", va="center"
            )
        axis.axvline(100 * chance, color=INK, linestyle=(0, (4, 2)), linewidth=1.1, label="guessing")
        axis.set_yticks(range(len(speakers)), [who for who, _ in speakers], fontsize=9)
        axis.tick_params(axis="y", length=0)
        axis.set_ylim(len(speakers) - 0.4, -0.6)
        axis.set_xlim(0, 114)
        axis.set_xticks([0, 25, 50, 75, 100])
        axis.set_xlabel(f"tests linked, % ({len(speakers)} of {everybody:,} speakers)")
        figure.legend(frameon=False, fontsize=8.5, loc="outside lower right")
        axis.set_title(title)
        words = "; ".join(f"{who} {100 * share:.0f} %" for who, share in speakers)
        return drawn(figure, name=name, alt=f"{title}, share of tests linked: {words}; guessing {100 * chance:.1f} %.")
