"""The findings as CSV, one row each, for a spreadsheet: numbers as they are, every condition in its own column."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from personare.core.findings import Finding

FIRST = ("metric", "title", "value", "low", "high", "n", "chance", "differs_from_chance", "failed", "better", "unit")


def as_csv(findings: Sequence[Finding]) -> str:
    r"""Write all findings; what is unknown stays empty, and no cell can be taken for a formula.

    >>> as_csv([]).startswith("metric,title,value,low,high")
    True
    """
    names = list(dict.fromkeys(name for finding in findings for name in finding.conditions))
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*FIRST, "cite", *names])
    for finding in findings:
        row = finding.as_row() | {"better": finding.metric.better, "unit": finding.metric.unit}
        writer.writerow(
            [_cell(row[name]) for name in (*FIRST, "cite")] + [_cell(finding.conditions.get(n)) for n in names]
        )
    return stream.getvalue()


def _cell(value: Any) -> Any:
    """Give a cell; text that a spreadsheet would run as a formula is quoted as text."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t"):
        return f"'{value}"
    return "" if value is None else value
