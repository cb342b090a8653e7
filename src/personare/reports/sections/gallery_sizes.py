"""Risk over the number of people: curves over N for each L and attacker, with the chance line (legal paper, fig. 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from personare.core.findings import Finding
from personare.reports.blocks import Block, Figure, FigureRow, Paragraph, Section
from personare.reports.risk_curves import FORECAST, curve_figure
from personare.reports.run import Run
from personare.reports.sections.choosing import (
    SeriesColours,
    gallery_size,
    groups,
    is_original,
    of_risk,
    overall,
    slug,
    strongest,
    values,
)

METRICS = {"linkability": ("linkability", FORECAST), "singling_out": ("singling_out",)}
NO_PROTECTION = "no protection"
READING = "The more people an attacker must tell apart, the harder it becomes, also by guessing."


def gallery_section(run: Run, colours: SeriesColours) -> Section:
    """Draw linkability and singling out of every method; grey: the same speech without protection."""
    blocks: list[Block] = []
    unmeasured = []
    for metric, names in METRICS.items():
        curves = [f for f in overall(run.findings) if f.metric.name in names and {"N", "L"} <= set(f.conditions)]
        figures = [
            figure
            for corpus in (values(curves, "corpus") or [""])
            for method in colours.anonymizers
            for figure in _panels(curves, corpus, method, metric, colours)
        ]
        if len({gallery_size(f) for f in curves}) < 2:  # one size is a number, not a curve
            unmeasured.append(f"{metric.replace('_', ' ')} over the number of people")
        elif figures:
            blocks.append(FigureRow(figures, _caption(curves)))
    first: list[Block] = [Paragraph(READING)] if blocks else []
    return Section("gallery-sizes", "Risk over the number of people", [*first, *blocks], unmeasured)


def _caption(findings: Sequence[Finding]) -> str:
    forecast = " Dotted: forecast for larger populations, not measured."
    return (
        "One panel per number L of utterances at once; bands: 95 % intervals; dashed: guessing; grey: without "
        "protection, whoever does best there." + (forecast if any(f.metric.name == FORECAST for f in findings) else "")
    )


def _panels(findings: Sequence[Finding], corpus: str, method: str, metric: str, colours: SeriesColours) -> list[Figure]:
    """Draw one method: a panel for each L."""
    here = [f for f in findings if str(f.conditions.get("corpus", "")) == corpus]
    attacks = [f for f in here if f.conditions.get("anonymizer") == method and not is_original(f)]
    figures = []
    for (length,), same in sorted(groups(attacks, "L").items(), key=lambda entry: int(entry[0][0])):
        original = _without_protection([f for f in here if str(f.conditions["L"]) == length], metric)
        ordered = sorted([*same, *original], key=gallery_size)
        title = colours.titled(corpus, f"{method}, L = {length}")
        name = f"{metric}-{slug(corpus)}-{slug(method)}-L{length}".replace("_", "-")
        attackers = [*colours.attackers, NO_PROTECTION]
        figures.append(curve_figure(ordered, attackers=attackers, grey=NO_PROTECTION, name=name, title=title))
    return figures


def _without_protection(findings: Sequence[Finding], metric: str) -> list[Finding]:
    """Give the curve of original speech: of the attacker who does best there, without forecasts."""
    original = [f for f in of_risk(findings, "voice") if is_original(f) and f.metric.name == metric]
    best = strongest(original)
    same = [f for f in original if best is not None and f.conditions.get("attacker") == best.conditions.get("attacker")]
    return [replace(f, conditions={**f.conditions, "attacker": NO_PROTECTION}) for f in same]
