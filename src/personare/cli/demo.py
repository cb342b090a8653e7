"""personare demo: the whole path on invented voices, from nothing to a report."""

from __future__ import annotations

from pathlib import Path

import typer

from personare.cli import given, show

METHOD = {"alpha": [0.7, 0.9]}  # below 0.7 words get lost


def demo(
    folder: Path = typer.Argument(Path("personare-demo"), metavar="DIR", help="Where everything goes."),
    speakers: int = typer.Option(20, min=2, help="How many invented speakers."),
    utterances: int = typer.Option(6, min=2, help="How many utterances each."),
    jobs: int = typer.Option(2, "--jobs", "-j", min=1, help="How many processes work at once."),
) -> None:
    """Make voices, hide them, attack them, report: the whole path in a few minutes, without any data of yours.

    The voices are synthetic (Kokoro); the method is McAdams with one random coefficient per speaker. Run it again, and
    what is done is not done again.

    Example:

        personare demo my-demo --jobs 2
    """
    show.one_thread()
    from personare import api
    from personare.core.seeding import Key, load_or_make_key
    from personare.core.weights import files_of
    from personare.engine import engine_for
    from personare.pipeline.jobs import voices as speaking
    from personare.pipeline.jobs.anonymize import private_folder

    for model in ("kokoro", "ecapa"):
        files_of(model)
    source, target = folder / "voices", folder / "anonymized"
    wanted = speaking.Wanted(speakers, utterances, seed=1, rate_hz=16_000)
    with show.progress("1/3 making voices", speakers * utterances) as tick:
        made = speaking.make_voices(source, wanted, engine=engine_for(jobs), watch=lambda _: tick(1))
    typer.echo(
        f"1/3 voices: {made.speakers} speakers, {made.done} utterances, {made.speech_s / 60:.1f} min -> {source}"
    )
    show.failures(made.failures)
    # public on purpose: everybody's demo shows the same numbers
    load_or_make_key(private_folder(target) / "key", new=Key.from_seed("demo"))
    with show.progress("2/3 anonymizing", made.done) as tick:
        anonymized = api.anonymize_corpus(
            source, target, method="mcadams", parameters=METHOD, jobs=jobs, watch=lambda _: tick(1)
        )
    typer.echo(f"2/3 anonymized: {anonymized.done} done, {anonymized.failed} failed -> {target}")
    show.failures(anonymized.failures)
    typer.echo("3/3 attacking")
    out = folder / "run"
    result = given.watched(api.evaluate, original=source, anonymized=target, jobs=jobs, out=out)
    given.tell(result, result.title)
    typer.echo(f"report: {result.report()}")
    if result.failures:
        raise typer.Exit(1)
