"""Risk over the size of the crowd: curves over N for each L and attacker, with the chance line (legal paper, 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from personare.core.findings import Finding
from personare.reports.blocks import Block, Figure, Gallery, Missing, Section, Words
from personare.reports.embedding_plots import FORECAST, curve_figure
from personare.reports.run import ORIGINAL, Run
from personare.reports.sections.choosing import Palette, groups, overall, strongest, values, word

METRICS = {"linkability": ("linkability", FORECAST), "singling_out": ("singling_out",)}
BARE = "no protection"


def crowds_section(run: Run, palette: Palette) -> Section:
    """Draw linkability and singling out of every method; grey: the same speech without protection."""
    blocks: list[Block] = []
    for metric, names in METRICS.items():
        found = [f for f in overall(run.findings) if f.metric.name in names and {"N", "L"} <= set(f.conditions)]
        figures = [
            figure
            for corpus in (values(found, "corpus") or [""])
            for method in palette.anonymizers
            for figure in _panels(found, corpus, method, metric, palette)
        ]
        if figures:
            blocks.append(Gallery(figures, _caption(found)))
        else:
            said = "singling out" if metric == "singling_out" else metric
            blocks.append(Missing(f"Not measured: {said} over the number of people N."))
    reading = (
        "A crowd hides people: the more people the attacker must tell apart, the harder it becomes, also by guessing."
    )
    return Section("crowds", "Risk over the size of the crowd", [Words(reading), *blocks])


def _caption(found: Sequence[Finding]) -> str:
    foretold = (
        " Dotted: foretold for larger populations, not measured."
        if any(f.metric.name == FORECAST for f in found)
        else ""
    )
    return (
        "One panel per number L of utterances heard at once; bands: 95 % intervals; dashed: guessing; grey: without "
        f"protection, whoever does best there.{foretold}"
    )


def _panels(found: Sequence[Finding], corpus: str, method: str, metric: str, palette: Palette) -> list[Figure]:
    """Draw one method: a panel for each L."""
    here = [f for f in found if str(f.conditions.get("corpus", "")) == corpus]
    mine = [f for f in here if f.conditions.get("anonymizer") == method]
    figures = []
    for (length,), same in sorted(groups(mine, "L").items(), key=lambda entry: int(entry[0][0])):
        bare = _bare([f for f in here if str(f.conditions["L"]) == length], metric)
        ordered = sorted([*same, *bare], key=lambda f: int(f.conditions["N"]))
        title = palette.titled(corpus, f"{method}, L = {length}")
        name = f"{metric}-{word(corpus)}-{word(method)}-L{length}".replace("_", "-")
        attackers = [*palette.attackers, BARE]
        figures.append(curve_figure(ordered, attackers=attackers, grey=BARE, name=name, title=title))
    return figures


def _bare(found: Sequence[Finding], metric: str) -> list[Finding]:
    """Give the curve of original speech: of the attacker who does best there, without forecasts."""
    original = [f for f in found if f.conditions.get("anonymizer") == ORIGINAL and f.metric.name == metric]
    best = strongest(original)
    same = [f for f in original if best is not None and f.conditions.get("attacker") == best.conditions.get("attacker")]
    return [replace(f, conditions={**f.conditions, "attacker": BARE}) for f in same]
