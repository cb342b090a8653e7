"""personare train: train what personare measures with, on speech of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from personare.cli import show
from personare.cli.train_recognizer import how_many, recognizer
from personare.cli.train_synthesizer import synthesizer

if TYPE_CHECKING:
    from personare.pipeline.jobs.train_embedder import Trained

app = typer.Typer(
    no_args_is_help=True,
    help="Train an attacker's ear, a friendly one, or the neural voice, on one's own speech (extra 'neural').",
)


app.command()(recognizer)
app.command()(synthesizer)


@app.callback()
def _train() -> None:
    """Train an attacker's ear, a friendly one, or the neural voice, on speech of one's own."""


@app.command()
def embedder(
    corpus: Path = typer.Option(..., metavar="PATH", help="Speech to learn from, in any known layout."),
    out: Path = typer.Option(..., metavar="DIR", help="A new folder for the model, its log and its checkpoints."),
    arch: str | None = typer.Option(None, help="ecapa or xvector.  [ecapa]"),
    part: str | None = typer.Option(None, help="The part of the corpus to learn from, e.g. train."),
    config: Path | None = typer.Option(None, metavar="FILE.yaml", help="Settings.  [small ones, for a processor]"),
    init: str | None = typer.Option(None, help="'ecapa' learns on from the published weights; 'new' from nothing."),
    resume: bool = typer.Option(False, "--resume", help="Go on with the training in DIR."),
    attacked: Path | None = typer.Option(
        None, metavar="PATH", help="The corpus that will be attacked; a speaker in both is refused."
    ),
    layout: str | None = typer.Option(None, help="Layout of the corpus, where several fit."),
) -> None:
    """Train an ear that tells speakers apart: on original speech, or on anonymized speech for an informed attacker.

    Some training speakers are held out and judge the network; it ends early when they are told apart no better. The
    model can then be used by its path: --embedder trained:DIR/model.onnx. Interrupted? Run it again with --resume: the
    result is the same as without the interruption.

    Examples:

        personare train embedder --arch ecapa --corpus recordings/ --part train --out my-ear

        personare train embedder --init ecapa --corpus anonymous/ --out informed-ear --attacked trials/
    """
    from personare.attackers.training.settings import Arch, Init, chosen
    from personare.core.config import coerce
    from personare.corpora import read_corpus
    from personare.nn.torch_extra import torch_for
    from personare.pipeline.jobs import train_embedder as study

    torch_for("personare train")
    settings = chosen(
        None if arch is None else coerce(arch, Arch, where="--arch"),
        None if init is None else coerce(init, Init, where="--init"),
        config,
    )
    reading = read_corpus(corpus, layout=layout)
    show.problems(reading.problems)
    trial_speakers = read_corpus(attacked).corpus.speakers if attacked is not None else []
    with show.progress("reading", how_many(reading.corpus, part)) as tick:
        course = study.open_course(
            reading.corpus, settings, part=part, attacked=trial_speakers, watch=lambda _: tick(1)
        )
    with show.progress("learning", settings.plan.steps) as tick:
        done = study.train_embedder(
            course,
            out,
            sources=study.sources_of(reading.corpus, part),
            system=study.system_of(corpus),
            resume=resume,
            watch=lambda learnt: tick(min(learnt.step, 1)),
        )
    _tell(done)


def _tell(done: Trained) -> None:
    show.failures(done.failures)
    eer, rows = done.eer, done.finished.rows
    best = min(rows, key=lambda row: row[2])
    show.table(
        f"trained on {done.speakers} speakers, {done.utterances} utterances ({len(done.failures)} failed)",
        ["steps", "best at", "loss", "held-out EER before, %", "held-out EER, %", "95 % interval"],
        [
            [
                str(rows[-1][0]),
                str(best[0]),
                f"{rows[-1][1]:.3f}",
                f"{100 * done.first_eer:.2f}",
                f"{100 * eer.value:.2f}",
                f"[{100 * eer.low:.2f}, {100 * eer.high:.2f}]",
            ]
        ],
    )
    typer.echo(f"model: {done.finished.model} (use it as --embedder trained:{done.finished.model})")
