"""personare evaluate: let attackers listen to an anonymized corpus and report what they achieve."""

from __future__ import annotations

from pathlib import Path

import typer

from personare.cli import given


def evaluate(
    original: Path = given.ORIGINAL,
    anonymized: Path = given.ANONYMIZED,
    out: Path | None = typer.Option(None, "--out", metavar="DIR", help="The run folder.  [ANON-run]"),
    key: Path | None = given.KEY,
    method: str | None = given.METHOD,
    settings: list[str] | None = given.SETTINGS,
    train: Path | None = given.TRAIN,
    embedder: str = given.EMBEDDER,
    lengths: str = typer.Option("1,3", "--lengths", metavar="L,L", help="Utterances the attacker hears at once."),
    seed: int = given.SEED,
    jobs: int = given.JOBS,
    guess_gender: bool = given.GUESS_GENDER,
    names: bool = typer.Option(False, "--names", help="Show names and ids of speakers in the report."),
    sounds: bool = typer.Option(False, "--sounds", help="Put original speech beside the anonymized in the report."),
) -> None:
    """Prove how well voices are hidden: who can still be recognised, by whom, how often.

    Attackers listen: one without any protection in their way, one who does not know that voices were changed, one who
    knows the method and anonymizes enrolment speech under keys of their own, and, where there is speech of other people
    (--train, or a part 'train' of ORIG), one who has learnt from it what the method does. Who is left out is said. The
    result is a table, a run folder, and the same page as personare report writes: people are numbers in it, and no
    original speech is heard.

    Examples:

        personare evaluate recordings/ anonymous/ --jobs 2

        personare evaluate recordings/ anonymous/ --train others/ --out evaluation/

        personare evaluate recordings/ other-tool/ --method mcadams --set alpha=0.8
    """
    from personare import api
    from personare.cli.anonymize import parse_settings

    result = given.watched(
        api.evaluate,
        original=original,
        anonymized=anonymized,
        out=out or given.run_folder(anonymized, "run"),
        key=key,
        method=method,
        parameters=parse_settings(settings),
        train=train,
        embedder=embedder,
        utterances_per_trial=given.parse_lengths(lengths),
        seed=seed,
        jobs=jobs,
        guess_gender=guess_gender,
    )
    given.tell(result, result.title)
    typer.echo(result.verdict)
    typer.echo(f"report: {result.report(names=names, sounds=sounds)}")
    if result.failures:
        raise typer.Exit(1)
