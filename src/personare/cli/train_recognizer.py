"""personare train recognizer: train a recognizer of letters, on original or on anonymized speech."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from personare.cli import show

if TYPE_CHECKING:
    from personare.core.tables import Corpus
    from personare.pipeline.jobs.train_recognizer import RecognizerTrainingResult
    from personare.training.recognizer.examples import RecognizerData


def recognizer(
    corpus: Path = typer.Option(..., metavar="PATH", help="Speech with text to train on, in any known layout."),
    out: Path = typer.Option(..., metavar="DIR", help="A new folder for the recognizer, its log and its checkpoints."),
    part: str | None = typer.Option(None, help="The part of the corpus to train on, e.g. train."),
    config: Path | None = typer.Option(None, metavar="FILE.yaml", help="Settings.  [small ones, for a processor]"),
    resume: bool = typer.Option(False, "--resume", help="Go on with the training in DIR."),
    layout: str | None = typer.Option(None, help="Layout of the corpus, where several fit."),
    as_json: bool = show.JSON,
) -> None:
    """Train a recognizer of letters: on original speech, or on anonymized speech, with the same settings.

    Does a recognizer trained on anonymized speech recognize it better? Train one on each and compare. Some speakers of
    the part are held out to validate on; utterances that cannot be used are counted and named.
    Interrupted? Run it again with --resume: the result is the same as without the interruption.

    Examples:

        personare train recognizer --corpus recordings/ --part train --out asr-o

        personare train recognizer --corpus anonymous/ --out asr-a

        personare listen test/ test-anonymous/ --listeners ctc:asr-o,ctc:asr-a
    """
    from personare.corpora import read_corpus
    from personare.pipeline.jobs import train_recognizer as job
    from personare.pipeline.jobs.training_files import sources_of
    from personare.training.recognizer.settings import recognizer_settings

    job.check_extras()
    settings = recognizer_settings(config)
    reading = read_corpus(corpus, layout=layout)
    show.problems(reading.problems)
    with show.progress("reading", how_many(reading.corpus, part)) as tick:
        data = job.open_data(reading.corpus, settings, part=part, watch=lambda _: tick(1))
    with show.progress("training", settings.plan.steps) as tick:
        result = job.train_recognizer(
            data,
            settings,
            out,
            sources=sources_of(reading.corpus, part),
            resume=resume,
            watch=lambda step: tick(min(step.step, 1)),
        )
    _show(data, result, as_json=as_json)


def how_many(corpus: Corpus, part: str | None) -> int:
    """Count the recordings that may be read."""
    frame = corpus.frame
    return len(frame) if part is None or "part" not in frame.columns else int((frame["part"] == part).sum())


def _show(data: RecognizerData, result: RecognizerTrainingResult, *, as_json: bool) -> None:
    show.failures(data.failures)
    train, last = data.train, result.validations[-1]
    if as_json:
        counts = {"speakers": len(set(train.speakers)), "utterances": len(train.examples), "too_long": data.too_long}
        steps = {"steps": last.step, "best_at": result.best_at, "loss": last.loss, "cer": result.cer.to_dict()}
        show.json_object({**counts, "failed": len(data.failures), **steps, "recognizer": str(result.folder)})
        return
    counted = f"{len(data.failures)} failed, {data.too_long} too long"
    show.table(
        f"trained on {len(set(train.speakers))} speakers, {len(train.examples)} utterances ({counted})",
        ["steps", "best at", "loss", "held-out character error rate [95 %]"],
        [
            [
                str(last.step),
                str(result.best_at),
                f"{last.loss:.3f}",
                result.cer.text("%"),
            ]
        ],
    )
    typer.echo(f"recognizer: {result.folder} (use it: personare listen ORIG ANON --listeners ctc:{result.folder})")
