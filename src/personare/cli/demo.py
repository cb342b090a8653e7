"""personare demo: the whole path on invented voices, from nothing to a report."""

from __future__ import annotations

from pathlib import Path

import typer

from personare.cli import show

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
    from personare.cli.evaluate import run
    from personare.core.seeding import Key, load_or_make_key
    from personare.core.tables import Corpus
    from personare.core.weights import files_of
    from personare.engine import engine_for
    from personare.pipeline.jobs import anonymize as hiding
    from personare.pipeline.jobs import voices as speaking
    from personare.pipeline.old_evaluate import read_pair
    from personare.pipeline.system import System

    for model in ("kokoro", "ecapa"):
        files_of(model)
    engine = engine_for(jobs)
    source, target = folder / "voices", folder / "anonymized"
    wanted = speaking.Wanted(speakers, utterances, seed=1, rate_hz=16_000)
    with show.progress("1/3 making voices", speakers * utterances) as tick:
        made = speaking.make_voices(source, wanted, engine=engine, watch=lambda _: tick(1))
    typer.echo(
        f"1/3 voices: {made.speakers} speakers, {made.done} utterances, {made.speech_s / 60:.1f} min -> {source}"
    )
    show.failures(made.failures)
    corpus = Corpus.load(source / speaking.MANIFEST)
    system = System("mcadams", METHOD)
    key_file = hiding.private_folder(target) / "demo.key"
    load_or_make_key(key_file, new=Key.from_seed("demo"))  # public on purpose: everybody's demo shows the same numbers
    with show.progress("2/3 anonymizing", len(corpus)) as tick:
        hidden = hiding.anonymize(corpus, target, system, engine=engine, key_file=key_file, watch=lambda _: tick(1))
    typer.echo(f"2/3 anonymized: {hidden.done} done, {hidden.failed} failed -> {target}")
    show.failures(hidden.failures)
    typer.echo("3/3 attacking")
    pairs, known, _ = read_pair(source, target, key_file)
    run(pairs, known, folder / "report", embedder="ecapa", lengths=[1, 3], seed=1, jobs=jobs)
