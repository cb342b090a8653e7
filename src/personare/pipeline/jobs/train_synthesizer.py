"""Training the neural voice from a corpus: lessons, a network, invented voices, a log, a picture and a card."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from personare.anonymizers.xvector.training import masking, people
from personare.anonymizers.xvector.training.course import (
    Course,
    LessonWork,
    Utterance,
    best_of,
    key_of,
    place_of,
    set_aside,
)
from personare.anonymizers.xvector.training.export import exported
from personare.anonymizers.xvector.weights import CARD, MASK, NETWORK, VOICES
from personare.attackers.training.division import part_of
from personare.core.audio import Audio
from personare.core.files import write_bytes, write_text
from personare.core.findings import Estimate
from personare.core.seeding import rng_for
from personare.core.tables import Corpus, write_frame
from personare.engine import Engine
from personare.nn import loop
from personare.nn.loop import Learnt
from personare.pipeline.jobs.anonymize import utterances_of
from personare.reports.learning_figure import write_learning_figure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.anonymizers.xvector.training.settings import Settings
    from personare.anonymizers.xvector.training.task import VoiceTask

LOG, FIGURE, LESSONS = "log.tsv", "learning.png", "lessons"
VOICES_PER_GENDER = 500


@dataclass(frozen=True)
class TrainedVoice:
    """What a training ended with.

    Parameters
    ----------
    rows : the judgements, as (step, loss, distance of what is understood, rate).
    wer, wer_original : of held-out speakers in other people's voices, and of their own speech; None without texts.
    difference : of the exported graph from the network.
    """

    folder: Path
    rows: tuple[tuple[int, float, float, float], ...]
    wer: Estimate | None
    wer_original: Estimate | None
    difference: float
    megabytes: float


def embed(audio: Audio) -> NDArray[np.float32]:
    """Give the speaker vector of a recording."""
    from personare.encoders.ge2e import Ge2e

    vector: NDArray[np.float32] = Ge2e()([audio])[0]
    return vector


def lessons_of(
    corpus: Corpus,
    settings: Settings,
    folder: Path,
    engine: Engine,
    *,
    part: str | None,
    watch: Callable[[int], None],
    start: Path | None = None,
) -> tuple[Course, list[tuple[str, str]]]:
    """Prepare every utterance that can be read; gives the course (to go on from ``start``) and the failures."""
    if start is not None:
        best_of(start)
    frame, _ = part_of(corpus.frame, part)
    items, failures = [], []
    for one in utterances_of(Corpus(frame)):
        try:
            place = place_of(folder / LESSONS, one.audio, start_s=one.start_s, end_s=one.end_s)
        except OSError as error:
            failures.append((one.utterance, f"{one.audio}: {error.strerror or 'cannot be read'}"))
            continue
        items.append(Utterance(one.utterance, one.speaker, one.audio, place, one.start_s, one.end_s))
    ready = []
    for result in engine.map(LessonWork(embed, settings.seed), items):
        watch(1)
        if result.ok:
            ready.append(result.item)
        else:
            failures.append((result.item.name, result.error or "failed"))
    return set_aside(ready, settings, start=start), failures


def train_synthesizer(
    course: Course,
    corpus: Corpus,
    folder: Path,
    *,
    sources: Sequence[str] = (),
    resume: bool = False,
    watch: Callable[[Learnt], None] = lambda _: None,
) -> TrainedVoice:
    """Train a voice into ``folder``; ``sources`` are named in its card."""
    task = course.task()
    for learnt in course.train(task, folder, resume=resume):
        watch(learnt)
    return finish(course, task, corpus, folder, sources=sources)


def finish(course: Course, task: VoiceTask, corpus: Corpus, folder: Path, *, sources: Sequence[str]) -> TrainedVoice:
    """Take the best network, train its mask, invent its voices, measure it, and write everything down."""
    mask = masking.trained(task.lessons, folder / "mask", mark=course.mark, seed=course.settings.seed)
    rows = tuple(loop.result(task, folder, mark=course.mark).rows)
    graph, difference = exported(task.tensors, course.settings.shape)
    genders = dict(corpus.frame.select("speaker", "gender").iter_rows()) if "gender" in corpus.frame.columns else {}
    crowd = people.people_of(task.lessons, genders)
    voices = people.voices_of(crowd, count=VOICES_PER_GENDER, rng=rng_for(key_of(course.settings.seed), "voices"))
    parts = {NETWORK: graph, MASK: masking.encoded(mask.tensors), VOICES: people.encoded(voices)}
    original, made = _wer(course, task, corpus)
    done = TrainedVoice(folder, rows, made, original, difference, sum(map(len, parts.values())) / 1e6)
    card = _card(course, done, crowd, voices.vectors, parts, sources)
    for name, content in parts.items():
        write_bytes(folder / name, content)
    write_text(folder / CARD, json.dumps(card, indent=2) + "\n")
    _write_log(done)
    return done


def _wer(course: Course, task: VoiceTask, corpus: Corpus) -> tuple[Estimate | None, Estimate | None]:
    """Let the default recognizer hear held-out speakers, as they are and in the voices of others."""
    from personare.listeners.moonshine import Moonshine
    from personare.listeners.normalize import WhisperEnglish
    from personare.metrics.utility.wer import wer_estimate, word_errors

    if "text" not in corpus.frame.columns:
        return None, None
    texts = dict(corpus.frame.select("utterance", "text").drop_nulls().iter_rows())
    rng, ear, plain = rng_for(key_of(course.settings.seed), "held-out words"), Moonshine(), WhisperEnglish()
    told: list[tuple[str, str, str, str]] = []
    for item, lesson in zip(course.judge, course.judged_lessons(), strict=True):
        if item.name not in texts:
            continue
        others = [other for other in task.judged if other.speaker != item.speaker]
        voice = others[int(rng.integers(len(others)))].vector
        heard = ear([Audio(lesson.samples, 16_000), Audio(_safe(task.spoken(lesson, voice, rng=rng)), 16_000)])
        told.append((item.speaker, plain(texts[item.name]), plain(heard[0]), plain(heard[1])))
    if not told:
        return None, None
    speakers, meant, *sides = (list(column) for column in zip(*told, strict=True))
    first, second = (wer_estimate(word_errors(meant, side), speakers=speakers, rng=rng) for side in sides)
    return first, second


def _safe(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    return samples / np.float32(max(1.0, float(np.abs(samples).max(initial=0.0))))


def _card(
    course: Course,
    done: TrainedVoice,
    crowd: people.People,
    vectors: NDArray[np.float32],
    parts: Mapping[str, bytes],
    sources: Sequence[str],
) -> dict[str, Any]:
    """Say what the voice is, whose speech it has learnt from, how good it is."""
    nearest = (vectors @ crowd.vectors.T.astype(np.float32)).max(axis=1)
    return {
        "name": "personare neural voice",
        "what": "content (Moonshine tiny) + pitch + speaker vector (GE2E) -> 80 harmonic and 40 noise bands, 16 kHz",
        "sha256": {name: hashlib.sha256(content).hexdigest() for name, content in parts.items()},
        "data": {
            "sources": list(sources),
            "speakers": len({item.speaker for item in course.learn}),
            "utterances": len(course.learn),
            "held_out_speakers": sorted({item.speaker for item in course.judge}),
        },
        "licence": "CC BY 4.0; the speech of the sources keeps its own",
        "started_from_sha256": course.start_sha256,
        "settings": dataclasses.asdict(course.settings),
        "steps": int(done.rows[-1][0]),
        "measured": {
            "distance_of_what_is_understood": min(row[2] for row in done.rows),
            "wer_held_out_original": None if done.wer_original is None else done.wer_original.value,
            "wer_held_out_in_other_voices": None if done.wer is None else done.wer.value,
            "graph_difference": done.difference,
        },
        "voices": {
            "invented": len(vectors),
            "nearest_cosine_to_a_training_speaker": float(nearest.max()),
            "median_cosine_of_a_recording_to_its_speaker": crowd.nearness,
        },
    }


def _write_log(done: TrainedVoice) -> None:
    steps, losses, held_out, rates = (list(column) for column in zip(*done.rows, strict=True))
    known = [None if math.isnan(loss) else loss for loss in losses]
    frame = pl.DataFrame({"step": steps, "loss": known, "held_out_distance": held_out, "rate": rates})
    write_frame(frame, done.folder / LOG)
    write_learning_figure(
        [int(s) for s in steps],
        losses,
        held_out,
        done.folder / FIGURE,
        title="the neural voice",
        judged="misunderstood of held-out speakers",
        scale=1.0,
    )
