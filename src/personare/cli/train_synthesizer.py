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
    corpus: Path = typer.Option(..., metavar="PATH", help="Speech to learn from, in any known layout, with genders."),
    out: Path = typer.Option(..., metavar="DIR", help="A new folder for the voice, its lessons, log and checkpoints."),
    part: str | None = typer.Option(None, help="The part of the corpus to learn from, e.g. train."),
    config: Path | None = typer.Option(None, metavar="FILE.yaml", help="Settings.  [those of the shipped voice]"),
    start: Path | None = typer.Option(
        None, metavar="DIR", help="Start from the network of an earlier training instead of a new one."
    ),
    resume: bool = typer.Option(False, "--resume", help="Go on with the training in DIR."),
    jobs: int = typer.Option(2, min=1, help="Processes that prepare lessons."),
    layout: str | None = typer.Option(None, help="Layout of the corpus, where several fit."),
) -> None:
    """Train the neural voice: content, pitch and a speaker vector in, speech out.

    Every utterance is prepared once (pitch, energy, speaker vector, and what is said, encoded from the speech and from
    three copies in other voices), then two processes learn with averaged gradients. Some speakers are set aside and
    judge the network by what a recognizer's encoder understands. The shipped voice took two and a half hours on two
    busy cores, in two trainings: a new network, then a second one that started from it with lower rates (--start).
    Interrupted? Run it again with --resume: the result is the same as without the interruption.

    Examples:

        personare train synthesizer --corpus recordings/ --part train --out my-voice

        personare train synthesizer --corpus recordings/ --part train --out better --start my-voice --config second.yaml

        personare anonymize SRC DST --method xvector --set weights=better
    """
    from personare.anonymizers.xvector.training.settings import Settings
    from personare.core.config import load_yaml
    from personare.corpora import read_corpus
    from personare.engine import engine_for
    from personare.nn.torch_extra import torch_for
    from personare.pipeline.jobs import train_synthesizer as study
    from personare.pipeline.jobs.train_embedder import sources_of

    torch_for("personare train")
    settings = Settings() if config is None else load_yaml(Settings, config)
    reading = read_corpus(corpus, layout=layout)
    show.problems(reading.problems)
    with show.progress("preparing", how_many(reading.corpus, part)) as tick:
        course, failures = study.lessons_of(
            reading.corpus, settings, out, engine_for(jobs), part=part, watch=tick, start=start
        )
    show.failures(failures)
    with show.progress("learning", settings.plan.steps) as tick:
        done = study.train_synthesizer(
            course,
            reading.corpus,
            out,
            sources=sources_of(reading.corpus, part),
            resume=resume,
            watch=lambda learnt: tick(min(learnt.step, 1)),
        )
    show.table(
        f"trained on {len({item.speaker for item in course.learn})} speakers, {len(course.learn)} utterances",
        ["steps", "loss", "distance of what is understood", "WER original, %", "WER in other voices, %", "MB"],
        [
            [
                str(done.rows[-1][0]),
                f"{done.rows[-1][1]:.3f}",
                f"{min(row[2] for row in done.rows):.3f}",
                _percent(done.wer_original),
                _percent(done.wer),
                f"{done.megabytes:.1f}",
            ]
        ],
    )
    typer.echo(
        f"voice: {done.folder} (use it: personare anonymize SRC DST --method xvector --set weights={done.folder})"
    )


def _percent(rate: Estimate | None) -> str:
    return "no texts" if rate is None else f"{100 * rate.value:.1f} [{100 * rate.low:.1f}, {100 * rate.high:.1f}]"
