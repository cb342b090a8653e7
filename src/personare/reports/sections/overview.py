"""All methods in one table: the strongest attacker's result of each risk, and what is left of words and quality."""

from __future__ import annotations

from collections.abc import Sequence

from personare.core.findings import Finding
from personare.core.text import number_text
from personare.reports.blocks import BulletList, ReportTable, Section
from personare.reports.finding_rows import attacker_or_listener
from personare.reports.run import Run
from personare.reports.sections.choosing import (
    fewest_utterances,
    gallery_size,
    groups,
    largest_gallery,
    method_label,
    of_risk,
    overall,
    protected,
    strongest,
    values,
)

COLUMNS = {
    "linkability": "linked",
    "singling_out": "singled out",
    "risk_over_control": "inferred",
    "eer": "EER",
    "wer": "WER",
    "cer": "CER",
    "f0_spearman": "F0 correlation",
    "dnsmos": "DNSMOS",
}
IN_THE_TOP_TABLE = {"linkability", "eer"}
TITLE = "All methods at a glance"


def overview_section(run: Run) -> Section:
    """Show all methods; left out where the table of attackers says the same."""
    every = overall(run.findings)
    columns = [name for name in COLUMNS if any(f.metric.name == name for f in every)]
    if len(values(protected(every), "anonymizer")) < 2 and set(columns) <= IN_THE_TOP_TABLE:
        return Section("overview", TITLE)
    several = len(values(every, "corpus")) > 1
    rows = []
    for (corpus, method), group in groups(every, "corpus", "anonymizer").items():
        cells = [_cell([f for f in group if f.metric.name == name], group) for name in columns]
        if any(cell != "-" for cell in cells):
            rows.append([f"{method_label(method)}{f' on {corpus}' if several else ''}", *cells])
    table = ReportTable(
        "overview",
        "By voice: strongest attacker of each risk in the largest gallery; 95 % intervals in brackets",
        ["method", *(COLUMNS[name] for name in columns)],
        rows,
        numbers=range(1, len(columns) + 1),
    )
    remarks = [_remark(name, [f for f in every if f.metric.name == name]) for name in columns]
    return Section("overview", TITLE, [table, BulletList([r for r in remarks if r], soft=True)])


def _cell(findings: Sequence[Finding], every: Sequence[Finding]) -> str:
    """Write the strongest attacker's result and who it was, or the first listener's."""
    attacks = of_risk((f for f in findings if "attacker" in f.conditions), "voice")
    best = strongest(attacks, every=every) if attacks else next(iter(fewest_utterances(findings)), None)
    if best is None:
        return "-"
    c = best.conditions
    who = ", ".join([str(c["attacker"]), *([f"L = {c['L']}"] if "L" in c else [])]) if "attacker" in c else ""
    return "\n".join(part for part in (best.text, who) if part)


def _remark(name: str, findings: Sequence[Finding]) -> str:
    """Say what a column holds where it needs saying."""
    shown = largest_gallery(findings)
    chance = [f.chance_level for f in shown if f.chance_level is not None]
    people = max(map(gallery_size, shown))
    card = findings[0].metric
    if not chance or "attacker" not in findings[0].conditions:
        if not findings[0].conditions.get("listener"):
            return ""
        return f"{COLUMNS[name]}: measured by {attacker_or_listener(findings[0])}; {card.better} is better."
    low, high = (number_text(v, card.unit) for v in (min(chance), max(chance)))
    if name == "risk_over_control":
        return f"{COLUMNS[name]}: {low} is what works on other people as well; see above for what was guessed."
    safer = f" {card.better.capitalize()} is safer." if card.better == "higher" else ""
    gallery = f" out of {people:,} people" if people else ""
    return f"{COLUMNS[name]}{gallery}: guessing gives {low if low == high else f'{low} to {high}'}.{safer}"
