"""What personare anonymize says at its end: a table, what failed, and what of an earlier run had to be made again."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from personare.cli import show

if TYPE_CHECKING:
    from personare.pipeline.jobs.anonymize import AnonymizeSummary


def tell(
    summary: AnonymizeSummary,
    method: str,
    target: Path,
    *,
    source: Path,
    private: Path,
    key: Path | None = None,
    as_json: bool = False,
) -> None:
    """Print the summary of a corpus: one JSON object, or a table; notes and problems go to stderr."""
    show.failures(summary.failures)
    for line in notes(summary, target):
        show.aside(f"note: {line}")
    if as_json:
        show.json_object(summary, target=str(target), private=str(private))
    else:
        numbers = [str(summary.done), str(summary.kept), str(summary.failed), f"{summary.speech_s / 3600:.3f}"]
        factor = f"{summary.real_time_factor:.3g}" if summary.speech_s else "-"
        head = ["done", "kept from before", "failed", "hours", "real-time factor"]
        show.table(f"{method} -> {target}", head, [[*numbers, factor]])
        typer.echo(f"keep private: {private}{f' and the key {key}' if key else ''}")
        words = ["personare", "evaluate", source, target]
        words += (["--key", key] if key else []) + (["--method", method] if ":" in method else [])
        typer.echo(f"measure it: {shlex.join(map(str, words))}")
    if summary.unexplained:
        rest = f"{summary.unexplained} audio files in {target} belong to no utterance of {source}"
        show.aside(f"problem: {rest} (withdrawn since?); delete them or the folder")


def notes(summary: AnonymizeSummary, target: Path) -> list[str]:
    """Say what of an earlier run was not as it had been left."""
    lines = {
        f"{target} was not there any more; everything is made again": summary.vanished,
        f"{summary.changed} recordings have changed since they were anonymized, and were done again": summary.changed,
        f"{summary.missing} results of an earlier run were gone, and were made again": (
            summary.missing and not summary.vanished
        ),
        f"{summary.damaged} results of an earlier run were damaged, and were made again": summary.damaged,
        f"{summary.swept} half-written files of a run that was killed were removed": summary.swept,
    }
    return [line for line, holds in lines.items() if holds]
