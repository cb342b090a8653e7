"""How long will a recognizer learn? A few steps of its own training on a couple of utterances, timed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from personare.core.audio import read_mono
from personare.core.errors import PersonareError
from personare.listeners.ctc_settings import Settings
from personare.listeners.ctc_training import Example, example, train_recognizer
from personare.pipeline.stages.train import TeachJob
from personare.pipeline.store import Store

STEPS = 4
Seconds = dict[str, float]
Troubles = dict[str, str]


def probe_training(jobs: Sequence[TeachJob], store: Store, utterances: Mapping[str, int]) -> tuple[Seconds, Troubles]:
    """Give the seconds of each whole training by its stage's label, at most (it may end early); and what would fail.

    ``jobs`` have a couple of utterances, ``utterances`` says how many there really are. Recognizers of hidden speech
    are timed on the originals, which are as long. What was learnt stays in ``store``: the ears that listen need it.
    """
    found: Seconds = {}
    failed: Troubles = {}
    for job in jobs:
        try:
            found[job.stage.label] = _seconds(job, job.folder(store), utterances[job.stage.label])
        except PersonareError as error:
            failed[job.stage.label] = str(error)
    return found, failed


def _seconds(job: TeachJob, folder: Path, utterances: int) -> float:
    began = time.perf_counter()
    lessons = [_lesson(row) for row in job.frame.iter_rows(named=True)]
    reading = (time.perf_counter() - began) / len(lessons)
    settings = job.settings
    plan = replace(settings.plan, steps=STEPS, judge_every=STEPS, patience=0)
    ticks = [time.perf_counter()]
    for _ in train_recognizer(
        lessons, lessons, folder, plan=plan, shape=settings.shape, batch_size=settings.batch, seed=settings.seed
    ):
        ticks.append(time.perf_counter())
    each = (ticks[-2] - ticks[1]) / (len(ticks) - 3)  # neither the first step, which warms up, nor the judged last one
    return utterances * reading + settings.plan.steps * each + _judging(settings, each)


def _lesson(row: dict[str, object]) -> Example:
    sound = read_mono(Path(str(row["audio"])), start_s=row.get("start_s") or 0.0, stop_s=row.get("end_s"))  # type: ignore[arg-type]
    return example(sound, str(row["text"]))


def _judging(settings: Settings, each: float) -> float:
    """Judge held-out speech every so many steps: a third of a step for as much speech, since nothing is learnt."""
    batches = settings.held_out.speakers * settings.held_out.utterances / settings.batch
    return settings.plan.steps / settings.plan.judge_every * batches * each / 3
