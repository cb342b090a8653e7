"""personare train usc: train the universal speech codec, in the paper's layout or the small one that ships."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from personare.cli import show

if TYPE_CHECKING:
    from personare.pipeline.jobs.train_usc import CodecTrainingResult, OpenedTraining, TrainingCorpus


def usc(
    corpus: list[Path] = typer.Option(..., metavar="PATH", help="Speech to train on, in any known layout; repeatable."),
    out: Path = typer.Option(..., metavar="DIR", help="A new folder for the codec, its speech, log and checkpoints."),
    config: str = typer.Option("small", help="paper, small or tiny, or a .yaml file that changes one of them."),
    unlabelled: list[Path] | None = typer.Option(
        None, metavar="PATH", help="Speech whose speakers are not known (or not to be used); repeatable."
    ),
    part: str | None = typer.Option(None, help="The part of the corpora to train on, e.g. train."),
    hubert: Path | None = typer.Option(
        None, metavar="FILE", help="For paper: your HuBERT (pytorch_model.bin).  [the recognizer's content frames]"
    ),
    start: Path | None = typer.Option(
        None, metavar="DIR", help="Start from the network of an earlier training instead of a new one."
    ),
    resume: bool = typer.Option(False, "--resume", help="Go on with the training in DIR."),
    jobs: int = typer.Option(2, min=1, help="Processes that prepare the speech."),
    layout: str | None = typer.Option(None, help="Layout of the corpora, where several fit."),
    as_json: bool = show.JSON,
) -> None:
    """Train the universal speech codec: speech to tokens of six levels, and back.

    'small' is the codec that ships, sized for two processor cores and hours; 'paper' is the published layout with all
    its losses, for graphics cards and days; 'tiny' shows in a minute that everything works. Every utterance is prepared
    once. Some speakers are held out to validate on; DIR/log.html has the curves and, at the end, what held-out speech
    sounds like at each level. Interrupted? Run it again with --resume: the result is the same as without the
    interruption.

    Examples:

        personare train usc --corpus recordings/ --part train --out my-codec

        personare train usc --config paper --corpus in/ --hubert model.bin --out big

        personare anonymize SRC DST --method usc --set weights=my-codec/codec
    """
    from personare.engine import engine_for
    from personare.pipeline.jobs.train_usc import open_training, train_usc
    from personare.training.torch_extra import torch_for
    from personare.training.usc.configurations import settings_of

    torch_for("personare train")
    settings = settings_of(config)
    corpora = [
        *_read(corpus, layout, labelled=True, taken=0),
        *_read(unlabelled or [], layout, labelled=False, taken=len(corpus)),
    ]
    with show.progress("preparing", sum(len(one.corpus) for one in corpora)) as tick:
        opened = open_training(
            corpora, settings, out, engine_for(jobs), part=part, start=start, teacher=hubert, watch=tick
        )
    show.failures(opened.failures)
    with show.progress("training", settings.plan.steps) as tick:
        result = train_usc(opened, corpora, config=config, resume=resume, watch=lambda step: tick(min(step.step, 1)))
    _show(opened, result, as_json=as_json)


def _read(paths: Sequence[Path], layout: str | None, *, labelled: bool, taken: int) -> list[TrainingCorpus]:
    from personare.corpora import read_corpus
    from personare.pipeline.jobs.train_usc import TrainingCorpus

    found = []
    for number, path in enumerate(paths, start=taken + 1):
        reading = read_corpus(path, layout=layout)
        show.problems(reading.problems)
        found.append(TrainingCorpus(f"{number}-{path.resolve().name}", reading.corpus, labelled))
    return found


def _show(opened: OpenedTraining, result: CodecTrainingResult, *, as_json: bool) -> None:
    utterances = opened.store.utterances
    people = len({u.speaker for u in utterances if u.speaker})
    last = result.last
    if as_json:
        counts = {"speakers": people, "utterances": len(utterances), "failed": len(opened.failures)}
        places = {"megabytes": result.megabytes, "log": str(result.page), "codec": str(result.codec)}
        show.json_object({**counts, **last, **places, "name": result.name})
        return
    names = ["C0" if levels == 1 else f"C0:{levels - 1}" for levels in last["levels"]]
    show.table(
        f"trained on {people} speakers, {len(utterances)} utterances ({len(opened.failures)} failed)",
        ["steps", "loss", *(f"mel distance {name}" for name in names), "MB"],
        [[str(last["step"]), f"{last['loss']:.3f}", *(f"{mel:.3f}" for mel in last["mel"]), f"{result.megabytes:.1f}"]],
    )
    typer.echo(f"log: {result.page}")
    use = f"personare codec encode SRC DST --codec {result.name}:{result.codec}"
    typer.echo(f"codec: {result.codec} (use it: {use})")
