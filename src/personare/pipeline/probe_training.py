"""How long will a recognizer's training take? A few steps of it on a couple of utterances, timed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from personare.core.audio import read_mono
from personare.core.errors import PersonareError
from personare.listeners.normalize import Letters
from personare.pipeline.stages.train import TrainJob
from personare.pipeline.store import Store
from personare.training.recognizer.examples import RecognizerExample, example
from personare.training.recognizer.run import train_recognizer
from personare.training.recognizer.settings import RecognizerSettings

STEPS = 4
Seconds = dict[str, float]
Troubles = dict[str, str]


def probe_training(jobs: Sequence[TrainJob], store: Store, utterances: Mapping[str, int]) -> tuple[Seconds, Troubles]:
    """Give the seconds of each whole training by its stage's label, at most (it may end early); and what would fail.

    ``jobs`` have a couple of utterances, ``utterances`` says how many there really are. Recognizers of hidden speech
    are timed on the originals, which are as long. What was trained stays in ``store``: the listeners need it.
    """
    found: Seconds = {}
    failed: Troubles = {}
    for job in jobs:
        try:
            found[job.stage.label] = _seconds(job, job.folder(store), utterances[job.stage.label])
        except PersonareError as error:
            failed[job.stage.label] = str(error)
    return found, failed


def _seconds(job: TrainJob, folder: Path, utterances: int) -> float:
    began = time.perf_counter()
    examples = [_example(row) for row in job.frame.iter_rows(named=True)]
    reading = (time.perf_counter() - began) / len(examples)
    settings = job.settings
    plan = replace(settings.plan, steps=STEPS, validate_every=STEPS, patience=0)
    ticks = [time.perf_counter()]
    for _ in train_recognizer(
        examples, examples, folder, plan=plan, shape=settings.shape, batch_size=settings.batch, seed=settings.seed
    ):
        ticks.append(time.perf_counter())
    each = (ticks[-2] - ticks[1]) / (
        len(ticks) - 3
    )  # neither the first step, which warms up, nor the validated last one
    return utterances * reading + settings.plan.steps * each + _validation(settings, each)


def _example(row: dict[str, Any]) -> RecognizerExample:
    part: dict[str, Any] = {"start_s": row.get("start_s") or 0.0, "stop_s": row.get("end_s")}
    audio = read_mono(Path(str(row["audio"])), **part, channel=row.get("person_channel"))
    return example(audio, str(row["text"]), normalize=Letters())


def _validation(settings: RecognizerSettings, each: float) -> float:
    """Validate every so many steps: a third of a step for as much speech, since there is no backward pass."""
    batches = settings.held_out.speakers * settings.held_out.utterances / settings.batch
    return settings.plan.steps / settings.plan.validate_every * batches * each / 3
