"""personare audit: what in a folder that is about to be published could still tell who is who."""

from __future__ import annotations

from pathlib import Path

import typer

from personare.cli import show


def audit(
    target: Path = typer.Argument(..., metavar="DST", help="A folder of anonymized speech, of any tool."),
    original: Path | None = typer.Option(None, metavar="SRC", help="The originals: compare with them too."),
    key: Path | None = typer.Option(None, metavar="FILE", help="The key, where it is not DST-private/key."),
    layout: str | None = typer.Option(None, help="Layout of SRC, where several fit."),
    speaker_from: str | None = typer.Option(
        None,
        "--speaker-from",
        metavar="RULE",
        help="Who speaks in SRC, and in DST of another tool, as for personare anonymize.  [as DST was made]",
    ),
    most: int = typer.Option(500, min=1, metavar="N", help="How many recordings are listened to at most."),
    fail_on: str = typer.Option("high", "--fail-on", help="Exit code 1 from this severity on: high, medium or low."),
    out: Path | None = typer.Option(None, metavar="FILE", help="Write it as JSON, e.g. RUN/audit.json for the report."),
    jobs: int = typer.Option(1, "--jobs", "-j", min=1, help="How many processes work at once."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object instead of text."),
) -> None:
    """Look for what still tells who is who, before a data set is published.

    Looks into files and tables: tags, foreign and temporary files, absolute
    paths, identical files, identifiers in transcripts, offsets and exact
    silence. With --original also: ids of the originals, untouched channels, and
    how often a recording is found again by its length, loudness, words or
    samples (metrics relink_*). Findings have a severity; the exit code is 1
    where one is as bad as --fail-on says. An audit that finds nothing shows
    only that these checks found nothing.

    Examples:

        personare audit anonymous/

        personare audit anonymous/ --original recordings/ --out audit.json
    """
    import json
    from typing import Literal

    from personare.core.config import coerce
    from personare.core.files import write_text
    from personare.engine import engine_for
    from personare.pipeline.audit import audit as job

    worst = coerce(fail_on, Literal["high", "medium", "low"], where="--fail-on")
    with show.progress("listening", most) as tick:
        found = job.audit(
            target,
            original=original,
            key_file=key,
            layout=layout,
            speaker_from=speaker_from,
            most=most,
            engine=engine_for(jobs),
            watch=lambda _: tick(1),
        )
    document = json.dumps(found.as_document(), indent=2, ensure_ascii=False, default=str) + "\n"
    if out is not None:
        write_text(out, document)
    if as_json:
        typer.echo(document, nl=False)
    else:
        _tell(found, target)
    bad = job.SEVERITIES[: job.SEVERITIES.index(worst) + 1]
    if any(one.severity in bad for one in found.findings):
        raise typer.Exit(1)


def _tell(found: object, target: Path) -> None:
    from personare.core.text import interval_text, number_text
    from personare.pipeline.audit.audit import Audited

    assert isinstance(found, Audited)
    rows = [[one.severity, one.kind, f"{one.count:,}", one.examples[0], one.advice] for one in found.findings]
    if rows:
        show.table(f"{target}: audit", ["severity", "what", "places", "e.g.", "what helps"], rows)
    else:
        typer.echo(f"{target}: these checks found nothing in {found.files:,} files")
    if found.relinking:
        lines = [
            [
                one.metric.title,
                interval_text(one.estimate.value, one.estimate.low, one.estimate.high, one.metric.unit),
                str(one.conditions["N"]),
                number_text(one.chance, one.metric.unit),
            ]
            for one in found.relinking
        ]
        show.table("with the originals at hand", ["metric", "found again [95 %]", "N", "chance"], lines)
    for note in found.notes:
        show.aside(f"note: {note}")
