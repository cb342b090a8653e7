"""What personare anonymize says at its end: a table, what failed, and what of an earlier run had to be made again."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from personare.cli import show
from personare.cli.study_progress import duration

if TYPE_CHECKING:
    from personare.core.tables import Corpus
    from personare.pipeline.jobs.anonymize import AnonymizeSummary
    from personare.pipeline.jobs.speaker_check import CheckedCorpus
    from personare.pipeline.system import System


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
    from personare.pipeline.jobs.least_certain import LEAST_CERTAIN

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
        typer.echo(f"{summary.ledger.line}\n{summary.ledger.speakers_line}")
        speech = summary.speech
        for line in (summary.ledger.languages_line, speech.other_speaker_line, speech.length_line):
            if line:
                typer.echo(line)
        if summary.least_certain:
            typer.echo(f"listen to the least certain recordings first: {private / LEAST_CERTAIN}")
        typer.echo(f"keep private: {private}{f' and the key {key}' if key else ''}")
        for line in _next_step(summary, method, target, source=source, private=private, key=key):
            typer.echo(line)
    if summary.unexplained:
        rest = f"{summary.unexplained} audio files in {target} belong to no utterance of {source}"
        show.aside(f"problem: {rest} (withdrawn since?); delete them or the folder")


def _next_step(
    summary: AnonymizeSummary, method: str, target: Path, *, source: Path, private: Path, key: Path | None
) -> list[str]:
    """Name what to do next: measure the result or, where there is none, read why every recording failed."""
    from personare.pipeline.jobs.published import FAILURES

    if not summary.done:
        return [f"nothing was anonymized; read why: {private / FAILURES}"] if summary.failed else []
    words = ["personare", "evaluate", source, target]
    words += (["--key", key] if key else []) + (["--method", method] if ":" in method else [])
    return [f"measure it: {shlex.join(map(str, words))}"]


def notes(summary: AnonymizeSummary, target: Path) -> list[str]:
    """Say what of an earlier run was not as it had been left."""
    several = len(summary.several_speakers)
    lines = {
        f"{several} recordings have more than one speaker, who got the same new voice": several,
        f"{target} was not there any more; everything is made again": summary.vanished,
        f"{summary.changed} recordings have changed since they were anonymized, and were done again": summary.changed,
        f"{summary.missing} results of an earlier run were gone, and were made again": (
            summary.missing and not summary.vanished
        ),
        f"{summary.damaged} results of an earlier run were damaged, and were made again": summary.damaged,
        f"{summary.swept} half-written files of a run that was killed were removed": summary.swept,
    }
    return [line for line, holds in lines.items() if holds]


def _length(factor: float | None, hours: float) -> str:
    """Say how long the result will be."""
    if factor is None:
        return "unknown: nothing could be anonymized"
    if abs(factor - 1) < 0.005:
        return "the same"
    return f"about {factor * hours:.2f} hours ({100 * (factor - 1):+.0f} %, by a sample)"


def tell_plan(
    corpus: Corpus,
    source: Path,
    target: Path,
    system: System,
    *,
    jobs: int,
    key: Path | None,
    as_json: bool,
    speakers: CheckedCorpus | None,
) -> None:
    """Print the plan of a dry run."""
    from personare.pipeline.jobs.rehearsal import rehearse_corpus
    from personare.pipeline.jobs.target import KEY, private_folder

    with show.progress("reading headers", corpus.frame["audio"].n_unique()) as tick:
        plan = rehearse_corpus(corpus, system, jobs=jobs, speakers=speakers, watch=lambda _: tick(1))
    show.failures(plan.unreadable)
    if as_json:
        show.json_object(plan, method=system.method, parameters=dict(system.parameters), target=str(target))
        return
    shared = len({*plan.several_speakers, *plan.person_on_each_channel})
    rows = {
        "people": f"{plan.people:,}",
        "utterances": f"{plan.utterances:,}" + (f" ({len(plan.unreadable)} unreadable)" if plan.unreadable else ""),
        "speech": f"{plan.hours:.2f} hours",
        "new length": _length(plan.length_factor, plan.hours),
        "two speakers": f"{shared:,} of {plan.speakers_checked:,} checked" if plan.speakers_checked else "not checked",
        "method": system.describe(),
        "result": str(target),
        "key": str(key or private_folder(target) / KEY),
        "takes about": "unknown: nothing could be read"
        if plan.expected_s is None
        else duration(max(1.0, plan.expected_s)),
    }
    typer.echo(f"{source} -> {target}: a dry run, nothing is written")
    for name, value in rows.items():
        typer.echo(f"  {name:<12} {value}")
