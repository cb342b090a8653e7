"""The counts that the page "What we promise" speaks of: tests add a line each, and the end of the run prints them."""

from __future__ import annotations

LINES: list[str] = []


def counted(line: str) -> None:
    """Say how often something was tried, and how it ended."""
    LINES.append(line)
