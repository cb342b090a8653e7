"""personare listen: what stays useful after anonymization, by machine listeners."""

from __future__ import annotations

from pathlib import Path

import typer

from personare.cli import given, show


def listen(
    original: Path = given.ORIGINAL,
    anonymized: Path = given.ANONYMIZED,
    listeners: str | None = typer.Option(
        None,
        metavar="NAME,NAME",
        show_default="moonshine (whisper-base where it is not English), pitch, pesq, stoi, estoi, dnsmos",
        help="Also: emotion, emotion-spectrum, expression, whisper, whisper-base, ctc:DIR, pitch-swift, visqol (slow), "
        "affect:FILE, module:Class.",
    ),
    settings: list[str] | None = typer.Option(
        None, "--set", metavar="NAME.KEY=VALUE", help="A parameter of a listener; may be repeated."
    ),
    by: str | None = typer.Option(None, metavar="COLUMN", help="Rows for each value too: gender, age_group, part, ..."),
    guess: bool = typer.Option(
        False, "--guess", help="Guess gender and age group where not noted; marked as predicted."
    ),
    out: Path | None = typer.Option(None, "--out", metavar="DIR", help="Keep the run folder.  [none is kept]"),
    key: Path | None = given.KEY,
    method: str | None = given.METHOD,
    speaker_from: str | None = given.SPEAKER_FROM,
    language: str | None = given.LANGUAGE,
    seed: int = given.SEED,
    jobs: int = given.JOBS,
    engine: str = given.ENGINE,
    address: str | None = given.ADDRESS,
    as_json: bool = show.JSON,
) -> None:
    """Measure what anonymization leaves useful: words, F0, quality, each with an interval over speakers.

    What cannot be measured is counted as failed and named on stderr, never averaged as zero. Values of a model of
    affect are compared by concordance (CCC), categories by average recall (UAR). Words are recognized in the language
    of the corpus (column language, or --language); several languages give a row each. Use a recognizer that the method
    does not use.

    Examples:

        personare listen recordings/ anonymous/ --jobs 2

        personare listen recordings/ anonymous/ --listeners moonshine,whisper --json

        personare listen aufnahmen/ anonym/ --language de --listeners whisper-base

        personare listen in/ out/ --listeners pitch --set pitch.method=harvest

        personare listen recordings/ anonymous/ --by gender --guess
    """
    from personare import api
    from personare.cli.settings import parse_member_settings
    from personare.engine import engine_named

    result = given.watched(
        api.listen,
        original=original,
        anonymized=anonymized,
        listeners=None if listeners is None else given.words(listeners),
        parameters=parse_member_settings(settings, kind="listener", example="pitch.method=harvest"),
        by=by,
        guess=("gender", "age_group") if guess else (),
        key=key,
        method=method,
        speaker_from=speaker_from,
        language=language,
        seed=seed,
        jobs=jobs,
        engine=engine_named(engine, jobs, address),
        out=out,
    )
    given.tell(result, "What is left of the speech", as_json=as_json)
    if result.failures:
        raise typer.Exit(1)
