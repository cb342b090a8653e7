"""How every number is defined, with its source; the list of all findings, and of what was not measured."""

from __future__ import annotations

from collections.abc import Sequence

from personare.core.findings import MetricCard
from personare.metrics.literature import REFERENCES, keys_in
from personare.reports.blocks import Block, BulletList, Notice, Paragraph, Section
from personare.reports.finding_rows import findings_table
from personare.reports.run import Run

INTERVALS = (
    "Intervals are at 95 % and redraw speakers, not utterances, where speakers are known. An attack is “better than "
    "guessing” when its whole interval lies on the attacker's side of the level that a guesser reaches on the very "
    "same trials; where nothing can be learnt, about one result in 40 should do so by luck."
)


def definitions_section(run: Run) -> Section:
    """Explain every metric that was used, with its definition's source."""
    cards = list({f.metric.name: f.metric for f in run.findings}.values())
    keys = sorted({key for card in cards for key in keys_in(card.cite)})
    cited = [f"{key}: {REFERENCES[key]}" for key in keys if key in REFERENCES]
    blocks: list[Block] = [Paragraph(INTERVALS), BulletList([_explained(card) for card in cards])]
    if cited:
        blocks += [Paragraph("Literature:"), BulletList(cited)]
    return Section("definitions", "How every number is defined", blocks)


def _explained(card: MetricCard) -> str:
    if not card.reading:
        return card.title
    return f"{card.title}: {card.reading.rstrip('.')}. Caution: {card.caution.rstrip('.')}. [{card.cite}]"


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
