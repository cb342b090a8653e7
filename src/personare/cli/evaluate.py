"""personare evaluate: let attackers listen to an anonymized corpus and report what they achieve."""

from __future__ import annotations

from pathlib import Path

import typer

from personare.cli import given, show


def evaluate(
    original: Path = given.ORIGINAL,
    anonymized: Path = given.ANONYMIZED,
    out: Path | None = typer.Option(None, "--out", metavar="DIR", help="The run folder.  [ANON-run]"),
    key: Path | None = given.KEY,
    method: str | None = given.METHOD,
    settings: list[str] | None = given.SETTINGS,
    train: Path | None = given.TRAIN,
    embedder: str | None = given.ANY_EMBEDDER,
    quick: bool = given.QUICK,
    lengths: str = typer.Option("1,3", "--lengths", metavar="L,L", help="Utterances the attacker hears at once."),
    speaker_from: str | None = given.SPEAKER_FROM,
    language: str | None = given.LANGUAGE,
    seed: int = given.SEED,
    jobs: int = given.JOBS,
    engine: str = given.ENGINE,
    address: str | None = given.ADDRESS,
    guess_gender: bool = given.GUESS_GENDER,
    names: bool = typer.Option(False, "--names", help="Show names and ids of speakers in the report."),
    sounds: bool = typer.Option(False, "--sounds", help="Put original speech beside the anonymized in the report."),
    as_json: bool = show.JSON,
) -> None:
    """Prove how well voices are hidden: who can still be recognised, by whom, how often.

    Attackers listen: one without any protection in their way, one who does not know that voices were changed, one who
    knows the method and anonymizes enrolment speech under keys of their own, and one who has learnt what the method
    does: from speech of other people (--train, or a part 'train' of ORIG), and from the other people of ORIG itself.
    Together they hear voices, phonetic habits, energy, rhythm, F0 and spectrum, as far as models are there; --quick
    hears voices only. Where ORIG has texts, another attacker hears nothing and reads the words. Skipped attackers are
    listed with the reason. The result gives two risks, by voice and by words, as a verdict, a
    table, a run folder, and the same page as personare report writes: people are numbers in it, and no original speech
    is heard.

    Examples:

        personare evaluate recordings/ anonymous/ --jobs 2

        personare evaluate recordings/ anonymous/ --train others/ --out evaluation/

        personare evaluate recordings/ anonymous/ --quick

        personare evaluate recordings/ other-tool/ --method mcadams --set alpha=0.8
    """
    from personare import api
    from personare.cli.settings import parse_settings
    from personare.engine import engine_named

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
        quick=quick,
        utterances_per_trial=given.parse_lengths(lengths),
        speaker_from=speaker_from,
        language=language,
        seed=seed,
        jobs=jobs,
        engine=engine_named(engine, jobs, address),
        guess_gender=guess_gender,
    )
    page = result.report(names=names, sounds=sounds)
    given.tell(result, result.title, as_json=as_json, folder=result.folder, report=page)
    if not as_json:
        typer.echo(f"report: {page}")
    if result.failures:
        raise typer.Exit(1)
