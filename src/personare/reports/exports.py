"""The findings for a spreadsheet (CSV) and for a program (JSON): numbers as they are, with all their conditions."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from personare.core.findings import Finding
from personare.reports.page import Page

FIRST = ("metric", "title", "value", "low", "high", "n", "chance", "differs_from_chance")
REST = ("p_better", "p_worse", "failed", "better", "unit")


def as_csv(findings: Sequence[Finding]) -> str:
    r"""Write all findings; what is unknown stays empty, and no cell can be taken for a formula.

    >>> as_csv([]).startswith("metric,title,value,low,high")
    True
    """
    names = list(dict.fromkeys(name for finding in findings for name in finding.conditions))
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*FIRST, *REST, "cite", *names])
    for finding in findings:
        row = finding.as_row() | {"better": finding.metric.better, "unit": finding.metric.unit}
        writer.writerow(
            [_cell(row[name]) for name in (*FIRST, *REST, "cite")] + [_cell(finding.conditions.get(n)) for n in names]
        )
    return stream.getvalue()


def _cell(value: Any) -> Any:
    """Give a cell; text that a spreadsheet would run as a formula is quoted as text."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t"):
        return f"'{value}"
    return "" if value is None else value


def as_json(page: Page) -> str:
    """Write title, facts and findings as JSON."""
    rows: list[dict[str, Any]] = [finding.as_row() for finding in page.findings]
    document = {"title": page.title, "facts": page.facts, "findings": rows}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
