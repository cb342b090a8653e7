"""personare train recognizer: train a friendly ear for letters, on original or on anonymized speech."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from personare.cli import show

if TYPE_CHECKING:
    from personare.core.tables import Corpus
    from personare.listeners.ctc_speech import Speech
    from personare.pipeline.jobs.train_recognizer import TrainedRecognizer


def recognizer(
    corpus: Path = typer.Option(..., metavar="PATH", help="Speech with text to learn from, in any known layout."),
    out: Path = typer.Option(..., metavar="DIR", help="A new folder for the recognizer, its log and its checkpoints."),
    part: str | None = typer.Option(None, help="The part of the corpus to learn from, e.g. train."),
    config: Path | None = typer.Option(None, metavar="FILE.yaml", help="Settings.  [small ones, for a processor]"),
    resume: bool = typer.Option(False, "--resume", help="Go on with the training in DIR."),
    layout: str | None = typer.Option(None, help="Layout of the corpus, where several fit."),
) -> None:
    """Train a recognizer of letters: on original speech, or on anonymized speech, with the same settings.

    Does an ear that has learnt from anonymized speech hear it better? Train one on each and let both listen. Some
    speakers of the part are held out and judge the network; utterances that cannot be used are counted and named.
    Interrupted? Run it again with --resume: the result is the same as without the interruption.

    Examples:

        personare train recognizer --corpus recordings/ --part train --out asr-o

        personare train recognizer --corpus anonymous/ --out asr-a

        personare listen test/ test-anonymous/ --measures words --recognizers ctc:asr-o,ctc:asr-a
    """
    from personare.corpora import read_corpus
    from personare.listeners.ctc_settings import chosen
    from personare.pipeline.jobs import train_recognizer as study
    from personare.pipeline.jobs.train_embedder import sources_of

    study.check_extras()
    settings = chosen(config)
    reading = read_corpus(corpus, layout=layout)
    show.problems(reading.problems)
    with show.progress("reading", how_many(reading.corpus, part)) as tick:
        speech = study.open_speech(reading.corpus, settings, part=part, watch=lambda _: tick(1))
    with show.progress("learning", settings.plan.steps) as tick:
        done = study.train_recognizer(
            speech,
            settings,
            out,
            sources=sources_of(reading.corpus, part),
            resume=resume,
            watch=lambda learnt: tick(min(learnt.step, 1)),
        )
    _tell(speech, done)


def how_many(corpus: Corpus, part: str | None) -> int:
    """Count the recordings that may be read."""
    frame = corpus.frame
    return len(frame) if part is None or "part" not in frame.columns else int((frame["part"] == part).sum())


def _tell(speech: Speech, done: TrainedRecognizer) -> None:
    show.failures(speech.failures)
    learn, cer = speech.learn, done.cer
    counted = f"{len(speech.failures)} failed, {speech.too_long} too long"
    show.table(
        f"trained on {len(set(learn.speakers))} speakers, {len(learn.examples)} utterances ({counted})",
        ["steps", "best at", "loss", "held-out character error rate, %", "95 % interval"],
        [
            [
                str(done.rows[-1][0]),
                str(done.best_at),
                f"{done.rows[-1][1]:.3f}",
                f"{100 * cer.value:.1f}",
                f"[{100 * cer.low:.1f}, {100 * cer.high:.1f}]",
            ]
        ],
    )
    typer.echo(f"recognizer: {done.folder} (use it: personare listen ORIG ANON --recognizers ctc:{done.folder})")
