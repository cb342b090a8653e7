"""How every number is defined; the list of all findings, of what was not measured, and of all that is cited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from personare.core.findings import MetricCard
from personare.metrics.literature import REFERENCES, keys_in
from personare.reports.blocks import Block, BulletList, Notice, Paragraph, Section
from personare.reports.finding_rows import findings_table
from personare.reports.run import Run
from personare.reports.sections.environment import FAMILIES

INTERVALS = (
    "Intervals are at 95 % and redraw speakers, not utterances, where speakers are known. An attack is “better than "
    "guessing” when a guesser does as well on the very same trials in at most 2.5 % of cases, by a test that is exact "
    "for few people; a metric without such a test when its whole interval lies on the attacker's side of what a "
    "guesser reaches. Where nothing can be learnt, about one result in 40 should do so by luck."
)


def definitions_section(run: Run, *, intervals: str = INTERVALS) -> Section:
    """Explain every metric that was used, with its definition's source; ``intervals`` says what is redrawn."""
    cards = list({f.metric.name: f.metric for f in run.findings}.values())
    blocks: list[Block] = [Paragraph(intervals), BulletList([_explained(card) for card in cards])]
    return Section("definitions", "How every number is defined", blocks)


def _explained(card: MetricCard) -> str:
    if not card.reading:
        return card.title
    return f"{card.title}: {card.reading.rstrip('.')}. Caution: {card.caution.rstrip('.')}. [{card.cite}]"


def literature_section(run: Run) -> Section:
    """List everything that the page cites: the definitions of its metrics, and the papers of what was compared."""
    cites = {f.metric.cite for f in run.findings}
    keys = sorted({key for cite in cites for key in keys_in(cite)} & set(REFERENCES))
    families = [run.environment.get(family) for family in FAMILIES]
    described = [entry for family in families if isinstance(family, Mapping) for entry in family.values()]
    papers = {str(entry.get("paper") or "") for entry in described if isinstance(entry, Mapping)}
    others = sorted({paper.strip() for joined in papers for paper in joined.split(";") if paper.strip()})
    sentences = [*(f"{key}: {REFERENCES[key]}" for key in keys), *(f"{paper.rstrip('.')}." for paper in others)]
    return Section("literature", "Literature", [BulletList(sentences)] if sentences else [])


def numbers_section(run: Run) -> Section:
    """List every finding."""
    if not run.findings:
        return Section("numbers", "Every number", [Notice("Nothing was measured.")])
    return Section("numbers", "Every number", [findings_table(run.findings, name="findings", caption="All findings")])


def unmeasured_section(sections: Sequence[Section]) -> Section:
    """Say in one line what this run did not measure, for those who look for it."""
    missing = list(dict.fromkeys(name for section in sections for name in section.unmeasured))
    line = Paragraph(f"Not measured in this run: {'; '.join(missing)}.", soft=True)
    return Section("unmeasured", "What is not in this report", [line] if missing else [])
