"""personare train: train what personare measures with, on speech of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from personare.cli import show
from personare.cli.train_expression import expression
from personare.cli.train_prosody import prosody
from personare.cli.train_reader import reader
from personare.cli.train_recognizer import how_many, recognizer
from personare.cli.train_synthesizer import synthesizer
from personare.cli.train_usc import usc

if TYPE_CHECKING:
    from personare.pipeline.jobs.train_embedder import EmbedderTrainingResult

app = typer.Typer(
    no_args_is_help=True,
    help="Train a speaker embedder, a recognizer, the neural voice or the codec, on one's own speech (extra 'neural').",
)


app.command()(recognizer)
app.command()(synthesizer)
app.command()(prosody)
app.command()(expression)
app.command()(reader)
app.command()(usc)


@app.callback()
def _train() -> None:
    """Train a speaker embedder, a recognizer, the neural voice or the codec, on speech of one's own."""


@app.command()
def embedder(
    corpus: Path = typer.Option(..., metavar="PATH", help="Speech to train on, in any known layout."),
    out: Path = typer.Option(..., metavar="DIR", help="A new folder for the model, its log and its checkpoints."),
    arch: str | None = typer.Option(None, help="ecapa or xvector.  [ecapa]"),
    part: str | None = typer.Option(None, help="The part of the corpus to train on, e.g. train."),
    config: Path | None = typer.Option(None, metavar="FILE.yaml", help="Settings.  [small ones, for a processor]"),
    init: str | None = typer.Option(None, help="'ecapa' begins with the published weights; 'new' from nothing."),
    resume: bool = typer.Option(False, "--resume", help="Go on with the training in DIR."),
    attacked: Path | None = typer.Option(
        None, metavar="PATH", help="The corpus that will be attacked; a speaker in both is refused."
    ),
    layout: str | None = typer.Option(None, help="Layout of the corpus, where several fit."),
    as_json: bool = show.JSON,
) -> None:
    """Train an embedder that tells speakers apart: on original speech, or on anonymized for an informed attacker.

    Some speakers are held out to validate on; the training ends early when they are told apart no better. The model can
    then be used by its path: --embedder trained:DIR/model.onnx. Interrupted? Run it again with --resume: the result is
    the same as without the interruption.

    Examples:

        personare train embedder --corpus in/ --part train --out my-embedder

        personare train embedder --init ecapa --corpus out/ --out e --attacked in/
    """
    from personare.core.config import coerce
    from personare.corpora import read_corpus
    from personare.pipeline.jobs.train_embedder import open_run, train_embedder
    from personare.pipeline.jobs.training_files import sources_of, system_of
    from personare.training.embedder.settings import Arch, Init, embedder_settings
    from personare.training.torch_extra import torch_for

    torch_for("personare train")
    settings = embedder_settings(
        None if arch is None else coerce(arch, Arch, where="--arch"),
        None if init is None else coerce(init, Init, where="--init"),
        config,
    )
    reading = read_corpus(corpus, layout=layout)
    show.problems(reading.problems)
    trial_speakers = read_corpus(attacked).corpus.speakers if attacked is not None else []
    with show.progress("reading", how_many(reading.corpus, part)) as tick:
        run = open_run(reading.corpus, settings, part=part, attacked=trial_speakers, watch=lambda _: tick(1))
    with show.progress("training", settings.plan.steps) as tick:
        result = train_embedder(
            run,
            out,
            sources=sources_of(reading.corpus, part),
            system=system_of(corpus),
            resume=resume,
            watch=lambda step: tick(min(step.step, 1)),
        )
    _show(result, as_json=as_json)


def _show(result: EmbedderTrainingResult, *, as_json: bool) -> None:
    from personare.core.text import number_text

    show.failures(result.failures)
    last = result.exported.validations[-1]
    best = min(result.exported.validations, key=lambda validation: validation.held_out)
    if as_json:
        counts = {"speakers": result.speakers, "utterances": result.utterances, "failed": len(result.failures)}
        steps = {"steps": last.step, "best_at": best.step, "loss": last.loss}
        eer = {"first_eer": result.first_eer, "eer": result.eer.to_dict()}
        show.json_object({**counts, **steps, **eer, "model": str(result.exported.model)})
        return
    show.table(
        f"trained on {result.speakers} speakers, {result.utterances} utterances ({len(result.failures)} failed)",
        ["steps", "best at", "loss", "held-out EER before", "held-out EER [95 %]"],
        [
            [
                str(last.step),
                str(best.step),
                f"{last.loss:.3f}",
                number_text(result.first_eer, "%"),
                result.eer.text("%"),
            ]
        ],
    )
    typer.echo(f"model: {result.exported.model} (use it as --embedder trained:{result.exported.model})")
