"""Privacy against utility: each method as a point, the strongest attacker's success against words or quality kept."""

from __future__ import annotations

from collections.abc import Sequence

from personare.core.findings import Finding
from personare.reports.blocks import Figure, FigureRow, Section
from personare.reports.run import ORIGINAL, Run
from personare.reports.scatter import Point, scatter_figure
from personare.reports.sections.choosing import (
    SeriesColours,
    fewest_utterances,
    groups,
    method_label,
    of_risk,
    overall,
    slug,
    strongest,
    values,
)

RISKS = {"linkability": "Linked", "eer": "Errors of the attacker"}
UTILITY = ("wer", "cer", "dnsmos", "visqol", "pesq", "estoi", "f0_spearman")
MOST_PANELS = 2
TITLE = "Privacy against utility"
CAPTION = "Each point: one method, the strongest attacker by voice with the fewest utterances. Crosses: 95 % intervals."


def tradeoff_section(run: Run, colours: SeriesColours) -> Section:
    """Draw the strongest attacker's success against what is left of the speech."""
    every = overall(run.findings)
    figures: list[Figure] = []
    for corpus in values(every, "corpus") or [""]:
        here = [f for f in every if str(f.conditions.get("corpus", "")) == corpus]
        measured = {f.metric.name for f in here}
        risk = next((name for name in RISKS if name in measured), None)
        for utility in [name for name in UTILITY if name in measured][:MOST_PANELS] if risk else ():
            panel = _panel(here, str(risk), utility, corpus, colours)
            figures += [panel] if panel is not None else []
    if not figures:
        return Section("tradeoff", TITLE, unmeasured=["privacy against utility"])
    return Section("tradeoff", TITLE, [FigureRow(figures, CAPTION)])


def _panel(findings: Sequence[Finding], risk: str, utility: str, corpus: str, colours: SeriesColours) -> Figure | None:
    points = []
    for (method,), group in groups(findings, "anonymizer").items():
        attacks = of_risk((f for f in group if f.metric.name == risk and "attacker" in f.conditions), "voice")
        attack = strongest(fewest_utterances(attacks))
        same = [f for f in group if f.metric.name == utility]
        measured = [f for f in same if f.conditions.get("listener_trained_on", ORIGINAL) == ORIGINAL]
        if attack is not None and measured:
            points.append(Point(method_label(method), measured[0], attack, colours.method(method)))
    if not points:
        return None
    title = colours.titled(corpus, f"{RISKS[risk]}, against {points[0].x.metric.title}")
    return scatter_figure(points, name=f"tradeoff-{slug(corpus)}-{risk}-{utility}", title=title)
