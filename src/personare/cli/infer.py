"""personare infer: see whether anonymized voices still tell gender, age group, accent or another attribute."""

from __future__ import annotations

from pathlib import Path

import typer

from personare.cli import given, show


def infer(
    original: Path = given.ORIGINAL,
    anonymized: Path = given.ANONYMIZED,
    train: Path = typer.Option(..., metavar="CORPUS", help="Speech of other people with these attributes."),
    attribute: str = typer.Option(
        "gender", "--attribute", "-a", metavar="NAME,NAME", help="Columns of the corpus, or of its speakers.tsv."
    ),
    out: Path | None = typer.Option(None, "--out", metavar="DIR", help="Keep the run folder.  [none is kept]"),
    key: Path | None = given.KEY,
    method: str | None = given.METHOD,
    settings: list[str] | None = given.SETTINGS,
    embedder: str = given.EMBEDDER,
    speaker_from: str | None = given.SPEAKER_FROM,
    language: str | None = given.LANGUAGE,
    seed: int = given.SEED,
    jobs: int = given.JOBS,
    as_json: bool = show.JSON,
) -> None:
    """Guess an attribute of every speaker from anonymized speech, and compare with guessing.

    The attacker learns from other people, whose speech they anonymize by the same method, and hears all anonymized
    utterances of a speaker. Beside the attack stand the majority guess, and the same attack on somebody else's voice
    (the control); the risk is what the anonymized voice adds to the latter.

    Examples:

        personare infer recordings/ anonymous/ --train others/

        personare infer in/ out/ --train others/ --attribute gender,age_group,accent
    """
    from personare import api
    from personare.cli.settings import parse_settings

    result = given.watched(
        api.infer,
        original=original,
        anonymized=anonymized,
        train=train,
        attributes=given.words(attribute),
        out=out,
        key=key,
        method=method,
        parameters=parse_settings(settings),
        embedder=embedder,
        speaker_from=speaker_from,
        language=language,
        seed=seed,
        jobs=jobs,
    )
    given.tell(result, f"What anonymized voices tell about people, {embedder}", as_json=as_json)
    if result.failures:
        raise typer.Exit(1)
