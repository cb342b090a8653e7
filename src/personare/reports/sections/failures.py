"""What failed and what a reader must know: every failure counted by stage and reason, and the notes of the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from personare.reports.blocks import Block, BulletList, Paragraph, ReportTable, Section
from personare.reports.run import Run

MOST_REASONS = 50
TITLE = "What failed, and notes"
LEDGER_CAPTION = "Recordings, from those found to those attacked"


def failures_section(run: Run) -> Section:
    """Count what failed, by stage and reason; a failure is never dropped silently."""
    blocks: list[Block] = ledger_blocks(run)
    if run.failures:
        count = f"{len(run.failures):,} items failed; numbers that miss them say so in the column “failed”."
        blocks += [Paragraph(count), _reasons(run.failures)]
    else:
        blocks.append(Paragraph("Nothing failed in the evaluation."))
    if run.shows_names and run.failures:
        first = [list(row) for row in run.failures[:MOST_REASONS]]
        caption = f"The first {len(first)} failures; all are in failures.tsv"
        blocks.append(ReportTable("failed-items", caption, ["stage", "item", "why"], first, folded=True))
    if run.notes:
        blocks += [Paragraph("Notes of the run:"), BulletList(run.notes)]
    return Section("failures", TITLE, blocks)


def ledger_blocks(run: Run) -> list[Block]:
    """Account for every recording that was found; the lines up to “anonymized” add up to the first."""
    if run.ledger is None:
        return []
    rows = [[name, f"{count:,}"] for name, count in run.ledger.rows]
    table = ReportTable("ledger", LEDGER_CAPTION, ["recordings", "count"], rows, numbers=(1,))
    lines = (run.ledger.speakers_line, run.ledger.languages_line)
    return [table, *(Paragraph(line) for line in lines if line)]


def _reasons(failures: Sequence[tuple[str, str, str]]) -> ReportTable:
    reasons = Counter((stage, why) for stage, _, why in failures)
    rows = [[stage, why, f"{count:,}"] for (stage, why), count in reasons.most_common(MOST_REASONS)]
    more = "" if len(reasons) <= MOST_REASONS else f", the {MOST_REASONS} most frequent"
    caption = f"Failures by stage and reason{more}; failures.tsv in the run folder names every item"
    return ReportTable("failures", caption, ["stage", "why", "failures"], rows, numbers=(2,))
