"""personare verify: is an anonymized folder whole, unchanged, and nothing but what it should be?"""

from __future__ import annotations

from pathlib import Path

import typer

from personare.cli import show


def verify(
    target: Path = typer.Argument(..., metavar="DST", help="A folder that personare anonymize has written."),
    public: bool = typer.Option(False, "--public", help="Check with the folder alone, without DST-private."),
    key: Path | None = typer.Option(None, metavar="FILE", help="The key, where it is not DST-private/key."),
    jobs: int = typer.Option(1, "--jobs", "-j", min=1, help="How many processes work at once."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object instead of text."),
) -> None:
    """Check an anonymized folder: everything there, whole, unchanged, and nothing else.

    Every audio file is decoded to its end and its digest compared with the one
    in the journal (DST-private); manifest, card and folder must agree; foreign
    and temporary files are named. With --public the digests of DST/SHA256SUMS
    are compared, which whoever got the folder has too. Each problem is a line;
    the exit code is then 1.

    Examples:

        personare verify anonymous/ --jobs 2

        personare verify received/ --public
    """
    from personare.corpora.problems import plain
    from personare.engine import engine_for
    from personare.pipeline.jobs import verify as job

    with show.progress("decoding", job.count_files(target)) as tick:
        found = job.verify(target, public=public, key_file=key, engine=engine_for(jobs), watch=lambda _: tick(1))
    if as_json:
        show.json_object(found, target=str(target))
    else:
        numbers = [found.utterances, found.files, found.failures, len(found.problems)]
        row = [*map(str, numbers), f"{found.seconds / 3600:.3f}"]
        show.table(str(target), ["utterances", "files decoded", "failed before", "problems", "hours"], [row])
        for place, problem in found.problems:
            show.aside(plain(f"problem: {place}: {problem}"))
        if not found.problems:
            held = "SHA256SUMS" if public else "the journal"
            typer.echo(f"whole: every file is there, decodes, and is the one {held} tells of")
    if found.problems:
        raise typer.Exit(1)
