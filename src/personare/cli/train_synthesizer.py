"""personare train synthesizer: train the neural voice that `anonymize --method xvector` speaks with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from personare.cli import show
from personare.cli.train_recognizer import how_many

if TYPE_CHECKING:
    from personare.core.findings import Estimate


def synthesizer(
    corpus: Path = typer.Option(..., metavar="PATH", help="Speech to train on, in any known layout, with genders."),
    out: Path = typer.Option(..., metavar="DIR", help="A new folder for the voice, its features, log and checkpoints."),
    part: str | None = typer.Option(None, help="The part of the corpus to train on, e.g. train."),
    config: Path | None = typer.Option(None, metavar="FILE.yaml", help="Settings.  [those of the shipped voice]"),
    start: Path | None = typer.Option(
        None, metavar="DIR", help="Start from the network of an earlier training instead of a new one."
    ),
    resume: bool = typer.Option(False, "--resume", help="Go on with the training in DIR."),
    jobs: int = typer.Option(2, min=1, help="Processes that extract features."),
    layout: str | None = typer.Option(None, help="Layout of the corpus, where several fit."),
) -> None:
    """Train the neural voice: content, pitch and a speaker vector in, speech out.

    Every utterance is prepared once (pitch, energy, speaker vector, and what is said, encoded from the speech and from
    three copies in other voices), then two processes train with averaged gradients. Some speakers are held out to
    validate on, by the content a recognizer's encoder finds. The shipped voice took two and a half hours on two
    busy cores, in two trainings: a new network, then a second one that started from it with lower rates (--start).
    Interrupted? Run it again with --resume: the result is the same as without the interruption.

    Examples:

        personare train synthesizer --corpus recordings/ --part train --out my-voice

        personare train synthesizer --corpus recordings/ --part train --out better --start my-voice --config second.yaml

        personare anonymize SRC DST --method xvector --set weights=better
    """
    from personare.core.config import load_yaml
    from personare.corpora import read_corpus
    from personare.engine import engine_for
    from personare.pipeline.jobs.train_synthesizer import open_run, train_synthesizer
    from personare.pipeline.jobs.training_files import sources_of
    from personare.training.synthesizer.settings import SynthesizerSettings
    from personare.training.torch_extra import torch_for

    torch_for("personare train")
    settings = SynthesizerSettings() if config is None else load_yaml(SynthesizerSettings, config)
    reading = read_corpus(corpus, layout=layout)
    show.problems(reading.problems)
    with show.progress("preparing", how_many(reading.corpus, part)) as tick:
        run, failures = open_run(reading.corpus, settings, out, engine_for(jobs), part=part, watch=tick, start=start)
    show.failures(failures)
    with show.progress("training", settings.plan.steps) as tick:
        result = train_synthesizer(
            run,
            reading.corpus,
            out,
            sources=sources_of(reading.corpus, part),
            resume=resume,
            watch=lambda step: tick(min(step.step, 1)),
        )
    show.table(
        f"trained on {len({item.speaker for item in run.utterances})} speakers, {len(run.utterances)} utterances",
        ["steps", "loss", "held-out distance of contents", "WER original [95 %]", "WER in other voices [95 %]", "MB"],
        [
            [
                str(result.validations[-1].step),
                f"{result.validations[-1].loss:.3f}",
                f"{min(validation.held_out for validation in result.validations):.3f}",
                _percent(result.wer_original),
                _percent(result.wer),
                f"{result.megabytes:.1f}",
            ]
        ],
    )
    typer.echo(
        f"voice: {result.folder} (use it: personare anonymize SRC DST --method xvector --set weights={result.folder})"
    )


def _percent(rate: Estimate | None) -> str:
    return "no texts" if rate is None else rate.text("%")
