"""What an audit of the published folder found: audit.json of the run folder, written by personare audit --out."""

from __future__ import annotations

import json
from typing import Any

from personare.core.text import interval_text, number_text
from personare.reports.blocks import Block, Paragraph, ReportTable, Section
from personare.reports.run import Run

FILE = "audit.json"
TITLE = "What else could tell who is who (audit)"
WORDS = (
    "Voices are one way to recognize people; names, tags, lengths and words are others. While originals exist, the "
    "result is pseudonymous (GDPR, Art. 4(5)): whoever has them can compare. An audit that finds nothing shows only "
    "that its checks found nothing."
)


def audit_section(run: Run) -> Section:
    """Show the findings by severity, and relinking where the originals were compared; nothing without an audit."""
    try:
        document = json.loads((run.folder / FILE).read_text(encoding="utf-8"))
        findings, relinking = list(document["findings"]), list(document["relinking"])
        rows = [[str(f["severity"]), str(f["kind"]), f"{int(f['count']):,}", str(f["advice"])] for f in findings]
        again = [_relinked(one) for one in relinking]
    except (OSError, ValueError, KeyError, TypeError):
        return Section("audit", TITLE)
    blocks: list[Block] = [Paragraph(WORDS)]
    if rows:
        head = ["severity", "what", "places", "what helps"]
        blocks.append(ReportTable("audit", "Findings of the audit, the worst first", head, rows, numbers=(2,)))
    else:
        blocks.append(Paragraph(f"The checks found nothing in {int(document.get('files', 0)):,} files."))
    if again:
        head = ["metric", "found again [95 %]", "N", "guessing"]
        caption = "How many recordings are found again by somebody who has the originals"
        blocks.append(ReportTable("relinking", caption, head, again, numbers=(1, 2, 3)))
    return Section("audit", TITLE, blocks)


def _relinked(row: dict[str, Any]) -> list[str]:
    interval = interval_text(float(row["value"]), float(row["low"]), float(row["high"]), "%")
    return [str(row["title"]), interval, str(row["conditions"]["N"]), number_text(float(row["chance"]), "%")]
