"""Same speaker or not: error rates of every attacker as bars with intervals (VPC, figures 7 and 11)."""

from __future__ import annotations

from collections.abc import Sequence

from personare.core.findings import Finding
from personare.reports.bar_figures import FindingBar, bar_figure
from personare.reports.blocks import Block, Figure, FigureRow, Section
from personare.reports.finding_rows import findings_table
from personare.reports.run import Run
from personare.reports.sections.choosing import SeriesColours, groups, is_original, overall, slug

BARS = ("eer", "eer_kaldi")
OTHERS = ("cllr", "min_cllr", "calibration_loss", "min_dcf", "dsys", "dsys_reference")
CAPTION = "Whiskers: 95 % intervals; dashed ticks: an attacker who guesses."


def detection_section(run: Run, colours: SeriesColours) -> Section:
    """Draw EER bars of every attacker; list the other measures on request."""
    blocks: list[Block] = []
    for name in BARS:
        rates = [f for f in overall(run.findings, name) if "attacker" in f.conditions]
        figures = [
            _bars(group, corpus, length, colours) for (corpus, length), group in groups(rates, "corpus", "L").items()
        ]
        if figures:
            blocks.append(FigureRow(figures, CAPTION))
    unmeasured = [] if blocks else ["error rates (EER) of the attackers"]
    others = [f for f in overall(run.findings) if f.metric.name in OTHERS]
    if others:
        blocks.append(findings_table(others, name="detection", caption="Other detection measures"))
    return Section("detection", "Same speaker or not", blocks, unmeasured)


def _bars(findings: Sequence[Finding], corpus: str, length: str, colours: SeriesColours) -> Figure:
    """Draw one L: methods as groups, attackers as bars."""
    original = [f for f in findings if is_original(f)]
    bars = [FindingBar("no protection", who, f, None) for who, f in _without_protection(original)]
    for finding in findings:
        method, who = str(finding.conditions.get("anonymizer")), str(finding.conditions["attacker"])
        if not is_original(finding):
            bars.append(FindingBar(method, who, finding, colours.attacker(who)))
    at = f", L = {length}" if length else ""
    name = f"{findings[0].metric.name}-{slug(corpus)}-L{length or 1}".replace("_", "-")
    title = colours.titled(corpus, f"{findings[0].metric.title}{at}")
    return bar_figure(bars, name=name, title=title, most=0.5)


def _without_protection(findings: Sequence[Finding]) -> list[tuple[str, Finding]]:
    """Give each result on original speech once, with those who reach it: attackers differ by embedder and scorer."""
    same: dict[float, list[Finding]] = {}
    for finding in findings:
        same.setdefault(finding.estimate.value, []).append(finding)
    if len(same) == 1 and len(findings) > 1:
        return [("any attacker", findings[0])]
    return [(", ".join(str(f.conditions["attacker"]) for f in group), group[0]) for group in same.values()]
