"""Every attacker in bars with intervals: who is linked, and error rates (VPC, figures 7 and 11); other measures."""

from __future__ import annotations

from collections.abc import Sequence

from personare.core.findings import Finding
from personare.reports.bar_figures import FindingBar, bar_figure
from personare.reports.blocks import Block, Figure, FigureRow, Section
from personare.reports.finding_rows import findings_table
from personare.reports.run import Run
from personare.reports.sections.choosing import (
    SeriesColours,
    gallery_size,
    groups,
    is_original,
    largest_gallery,
    overall,
    slug,
)

BARS = ("linkability", "eer", "eer_kaldi")
OTHERS = ("cllr", "min_cllr", "calibration_loss", "min_dcf", "dsys", "dsys_reference")
CAPTIONS = {
    "linkability": "Higher is worse. Whiskers: 95 % intervals; dashed ticks: an attacker who guesses.",
    "eer": "The attacker's errors: higher is safer. Whiskers: 95 % intervals; dashed ticks: an attacker who guesses.",
}


def attack_bars_section(run: Run, colours: SeriesColours) -> Section:
    """Draw linkability in the largest gallery, and EER, of every attacker; list the other measures on request."""
    blocks: list[Block] = []
    for name in BARS:
        attacks = [f for f in overall(run.findings, name) if "attacker" in f.conditions]
        figures = [
            _bars(largest_gallery(group), corpus, length, colours)
            for (corpus, length), group in groups(attacks, "corpus", "L").items()
        ]
        if figures:
            blocks.append(FigureRow(figures, CAPTIONS.get(name, CAPTIONS["eer"])))
    others = [f for f in overall(run.findings) if f.metric.name in OTHERS]
    if others:
        blocks.append(findings_table(others, name="detection", caption="Other detection measures"))
    measured = {f.metric.name for f in run.findings}
    titles = {"linkability": "linkability", "eer": "error rates (EER) of the attackers"}
    unmeasured = [title for name, title in titles.items() if name not in measured]
    return Section("attack-bars", "Every attacker in bars", blocks, unmeasured)


def _bars(findings: Sequence[Finding], corpus: str, length: str, colours: SeriesColours) -> Figure:
    """Draw one L: methods as groups, attackers as bars."""
    original = [f for f in findings if is_original(f)]
    bars = [FindingBar("no protection", who, f, None) for who, f in _without_protection(original)]
    for finding in findings:
        method, who = str(finding.conditions.get("anonymizer")), str(finding.conditions["attacker"])
        if not is_original(finding):
            bars.append(FindingBar(method, who, finding, colours.attacker(who)))
    first = findings[0]
    sizes = {"L": length, "N": f"{gallery_size(first):,}" if gallery_size(first) else ""}
    at = "".join(f", {name} = {value}" for name, value in sizes.items() if value)
    name = f"{first.metric.name}-bars-{slug(corpus)}-L{length or 1}".replace("_", "-")
    title = colours.titled(corpus, f"{first.metric.title}{at}")
    most = 1.0 if first.metric.name == "linkability" else 0.5
    return bar_figure(bars, name=name, title=title, most=most)


def _without_protection(findings: Sequence[Finding]) -> list[tuple[str, Finding]]:
    """Give each result on original speech once, with those who reach it: attackers differ by embedder and scorer."""
    same: dict[float, list[Finding]] = {}
    for finding in findings:
        same.setdefault(finding.estimate.value, []).append(finding)
    if len(same) == 1 and len(findings) > 1:
        return [("any attacker", findings[0])]
    return [(", ".join(str(f.conditions["attacker"]) for f in group), group[0]) for group in same.values()]
