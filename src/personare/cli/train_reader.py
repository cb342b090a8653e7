"""personare train reader: train the networks that read recognized words for the neural voice."""

from __future__ import annotations

from pathlib import Path

import typer

from personare.cli import show
from personare.cli.train_synthesizer import speech_of


def reader(
    corpus: list[Path] = typer.Option(
        ..., metavar="PATH", help="Speech whose words are read, in any known layout; repeatable."
    ),
    out: Path = typer.Option(..., metavar="DIR", help="A new folder for the voice, its readings, log and checkpoints."),
    part: str | None = typer.Option(None, help="The part of the corpora to take words from, e.g. train."),
    config: Path | None = typer.Option(None, metavar="FILE.yaml", help="Settings.  [those of the shipped reader]"),
    voice: Path | None = typer.Option(
        None, metavar="DIR", help="The trained voice it joins (see train synthesizer).  [the shipped one]"
    ),
    resume: bool = typer.Option(False, "--resume", help="Go on with the training in DIR."),
    jobs: int = typer.Option(2, min=1, help="Processes that recognize and read aloud."),
    layout: str | None = typer.Option(None, help="Layout of the corpora, where several fit."),
    as_json: bool = show.JSON,
) -> None:
    """Train the reader: sounds of words in; durations and content out, as synthetic readers have them.

    Pronunciation and rhythm give a speaker away, whatever voice they are spoken in. With a reader, cascade takes the
    words alone, and reads them anew. Nobody's voice is learnt: of the corpora only the recognized words are taken;
    Kokoro's voices read them, with rows of words from the dictionary. Every sentence is read once and kept. The folder
    then holds a whole voice with the new reader.
    Interrupted? Run it again with --resume: the result is the same as without the interruption.

    Examples:

        personare train reader --corpus recordings/ --part train --out my-voice

        personare train reader --corpus a/ --corpus b/ --out better --voice my-voice

        personare anonymize SRC DST --method cascade --set weights=better
    """
    from personare.core.config import load_yaml
    from personare.core.weights import require
    from personare.engine import engine_for
    from personare.pipeline.jobs.train_reader import MODELS, planned_sentences, read_sentences, train_reader
    from personare.training.reader.settings import ReaderSettings
    from personare.training.torch_extra import torch_for

    torch_for("personare train")
    require(*MODELS)
    settings = ReaderSettings() if config is None else load_yaml(ReaderSettings, config)
    speech, engine = speech_of(corpus, part, layout), engine_for(jobs)
    with show.progress("recognizing", len(speech)) as tick:
        sentences, failures = planned_sentences(speech, out, engine, seed=settings.seed, watch=tick)
    with show.progress("reading aloud", len(sentences)) as tick:
        run, unread = read_sentences(sentences, settings, engine, watch=tick)
    failures += unread
    show.failures(failures)
    with show.progress("training", settings.plan.steps) as tick:
        result = train_reader(run, speech, out, voice=voice, resume=resume, watch=lambda step: tick(min(step.step, 1)))
    measured = result.measured
    if as_json:
        show.json_object(
            {
                "sentences": len(run.readings),
                "failed": len(failures),
                "voice": result.folder,
                "megabytes": result.megabytes,
                **measured,
            }
        )
        return
    show.table(
        f"trained on {len(run.readings)} sentences",
        ["steps", "held-out distance of content", "usual error of a duration", "MB"],
        [
            [
                str(result.validations[-1].step),
                f"{measured['content_distance']:.3f}",
                f"{measured['duration_factor']:.2f} times",
                f"{result.megabytes:.1f}",
            ]
        ],
    )
    typer.echo(
        f"voice: {result.folder} (use it: personare anonymize SRC DST --method cascade --set weights={result.folder})"
    )
