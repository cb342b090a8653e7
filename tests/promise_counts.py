"""The counts that the page "What we promise" speaks of: tests add a line each, and the end of the run prints them.

A run of the slow tests also names what was not counted: a promise whose test was skipped, with the reason, or failed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

LINES: list[str] = []
PROMISES = (
    *("tests/crash/", "tests/engine/test_ray", "tests/test_fuzz.py", "tests/test_foreign_folder.py"),
    "tests/pipeline/test_long_recordings.py",
)


def counted(line: str) -> None:
    """Say how often something was tried, and how it ended."""
    LINES.append(line)


def summary(stats: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    """Give the lines that end a run; ``stats`` are pytest's reports by outcome."""
    yield from LINES
    for report in stats.get("skipped", ()):
        if report.nodeid.startswith(PROMISES):
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            yield f"not counted: {report.nodeid} ({reason.removeprefix('Skipped: ')})"
    broken = [report.nodeid for kind in ("failed", "error") for report in stats.get(kind, ())]
    held = [name for name in broken if name.startswith(PROMISES)]
    yield from (f"NOT HELD: {name}" for name in held)
    yield f"promises: {len(LINES)} counted, {len(held)} not held"
