"""personare fit-targets: measure voices to aim at on a corpus of one's own."""

from __future__ import annotations

from pathlib import Path

import typer

from personare.cli import show


def fit_targets(
    source: Path = typer.Argument(..., metavar="SRC", help="A corpus in any known layout."),
    target: Path = typer.Argument(..., metavar="TABLE", help="The table to write (.tsv or .parquet)."),
    layout: str | None = typer.Option(None, help="Layout of SRC, where several fit."),
    most: int = typer.Option(10, min=1, help="Utterances to measure per speaker."),
    jobs: int = typer.Option(1, "--jobs", "-j", min=1, help="How many processes work at once."),
    as_json: bool = show.JSON,
) -> None:
    """Measure the average pitch and formants of every speaker, as voices for the method 'formants' to aim at.

    The table holds no names, but each row is a measurement of a real person: use a corpus whose speakers allow it.

    Examples:

        personare fit-targets public-speech/ targets.tsv --jobs 2

        personare anonymize in/ out/ --method formants --set targets=targets.tsv
    """
    from personare.core.errors import OutputError
    from personare.corpora import read_corpus
    from personare.engine import engine_for
    from personare.pipeline.jobs import fit_targets as study

    if target.suffix not in (".tsv", ".parquet"):
        raise OutputError(f"{target}: a table of targets ends in .tsv or .parquet")
    reading = read_corpus(source, layout=layout)
    show.problems(reading.problems)
    with show.progress("measuring", len(reading.corpus.speakers)) as tick:
        found, failed = study.fit_targets(
            reading.corpus, target, engine=engine_for(jobs), most=most, watch=lambda: tick(1)
        )
    show.failures(failed)
    rows: list[list[str]] = []
    for gender in sorted({t.gender for t in found}):
        some = [t for t in found if t.gender == gender]
        pitches = sorted(t.f0_hz for t in some)
        rows.append([gender or "unknown", str(len(some)), f"{pitches[0]:.0f}", f"{pitches[-1]:.0f}"])
    head = ["gender", "targets", "lowest F0 in Hz", "highest F0 in Hz"]
    if as_json:
        kinds = ["gender", "targets", "lowest_f0_hz", "highest_f0_hz"]
        numbers = [[gender, *map(int, others)] for gender, *others in rows]
        show.json_object({"target": str(target), "genders": show.records(kinds, numbers)}, failed=len(failed))
    else:
        show.table(str(target), head, rows)
    if failed:
        raise typer.Exit(1)
