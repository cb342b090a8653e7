"""How long will it take? A couple of utterances go through every kind of work, past all caches, and are timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from personare.attackers.attack import Attack
from personare.attackers.cache import EmbedWork
from personare.core.audio import write
from personare.core.errors import PersonareError
from personare.core.seeding import Key, rng_for
from personare.core.tables import Embeddings
from personare.corpora.voices.synthesizer import synthesize
from personare.engine.result import Result, line_of
from personare.pipeline.attack_inputs import PlayedAttack
from personare.pipeline.graph import Graph
from personare.pipeline.measures import Measure
from personare.pipeline.observe import ObserveWork, UtterancePair
from personare.pipeline.roles import ENROLMENT, ROLES, TRIAL
from personare.pipeline.speech import StudyCorpus
from personare.pipeline.stages.anonymize import AnonymizeJob
from personare.pipeline.stages.embed import EmbedJob
from personare.pipeline.stages.listen import ListenJob
from personare.pipeline.store import Store

UTTERANCES = 2
MOST_SPEAKERS, DIMENSIONS = 30, 192
Seconds = dict[str, float]


def few(speech: StudyCorpus, folder: Path) -> StudyCorpus:
    """Keep a couple of usual utterances of each role; voices not there yet are invented in ``folder``."""
    parts = [_usual(speech.of(role)) for role in ROLES]
    frame = pl.concat([part for part in parts if len(part)])
    if speech.wanted is None:
        return replace(speech, frame=frame, sampled=True)
    wanted = {u.name: u for u in speech.wanted.plan()}
    places = []
    for utterance, path in frame.select("utterance", "audio").iter_rows():
        place = Path(path)
        if not place.is_file():
            place = folder / f"{utterance}.flac"
            write(place, synthesize(wanted[utterance], rate_hz=speech.wanted.rate_hz))
        places.append(str(place))
    return replace(speech, frame=frame.with_columns(pl.Series("audio", places, dtype=pl.String)), sampled=True)


def _usual(part: pl.DataFrame) -> pl.DataFrame:
    """Take the utterances whose length is nearest to the mean (of the files' sizes where nobody noted lengths)."""
    sizes = [_size(row) for row in part.iter_rows(named=True)]
    mean = sum(sizes) / max(1, len(sizes))
    nearest = sorted(range(len(sizes)), key=lambda i: (abs(sizes[i] - mean), i))[:UTTERANCES]
    return part[sorted(nearest)]


def _size(row: dict[str, Any]) -> float:
    if row.get("duration_s") is not None:
        return float(row["duration_s"])
    if row.get("end_s") is not None:
        return float(row["end_s"] - (row.get("start_s") or 0.0))
    path = Path(row["audio"])
    return float(path.stat().st_size) if path.is_file() else 0.0


def probe_sounds(graph: Graph, folder: Path, wanted: set[str]) -> tuple[Seconds, dict[str, str]]:
    """Time one item of every stage that anonymizes, embeds or listens and is in ``wanted``, by the stage's label.

    Gives the seconds of a warm item, and the reason where a stage failed on its first items: better now than later.
    """
    store, found, failed = Store(folder / "stages"), {}, {}
    for kind in ("anonymize", "estimate", "invert", "listen", "embed"):
        for job in graph.waves[kind]:
            if kind == "embed" and job.recognized is not None:  # reads what the recognizer has written: no time
                found[job.stage.label] = 0.0
                continue
            needed = kind in ("anonymize", "estimate", "invert") or job.stage.label in wanted
            items = list(_singly(job, store))[:UTTERANCES] if needed else []
            work = _uncached(job, store, folder)
            results: list[Result[Any, Any]] = []
            for item in items:
                began = time.perf_counter()
                try:
                    results.append(Result(len(results), item, work(item), None))
                except Exception as error:  # a plan names what a run would count as a failure
                    failed[job.stage.label] = line_of(error)
                    break
                found[job.stage.label] = time.perf_counter() - began
            if kind == "estimate" and results:
                job.finish(store, results)  # the next kind of work needs what is learnt
            store.finish(job.stage, [], seconds=0.0)
    return found, failed


def _uncached(job: AnonymizeJob | EmbedJob | ListenJob, store: Store, folder: Path) -> Callable[[Any], Any]:
    """Give the work of a stage without what earlier runs remember: a second plan must not promise more."""
    if isinstance(job, EmbedJob):
        return EmbedWork(job.embedder, folder / job.stage.key)
    if isinstance(job, ListenJob):
        return _Observed(replace(job.work(store), remember=False))
    return job.work(store)


def _singly(job: AnonymizeJob | EmbedJob | ListenJob, store: Store) -> Sequence[Any]:
    """List one utterance at a time, also where a run takes several together."""
    return job.pairs(store) if isinstance(job, ListenJob) else job.items(store)


@dataclass(frozen=True)
class _Observed:
    """Observe one pair; a reason in words is raised, as a plan names it."""

    work: ObserveWork

    def __call__(self, pair: UtterancePair) -> None:
        (row,) = self.work([pair])
        if isinstance(row, str):
            raise PersonareError(row)


def probe_voices(speech: StudyCorpus) -> float:
    """Time the invention of one voice."""
    assert speech.wanted is not None
    first, second = speech.wanted.plan()[:2]
    synthesize(first, rate_hz=speech.wanted.rate_hz)  # loads the model
    began = time.perf_counter()
    synthesize(second, rate_hz=speech.wanted.rate_hz)
    return time.perf_counter() - began


def probe_measures(corpus: StudyCorpus, measures: Sequence[Measure], *, seed: int) -> Seconds:
    """Time measures on random vectors of at most 30 people, scaled to the real number; others take a moment each."""
    rng = rng_for(Key.from_seed(seed), "probe")
    enroll, trial = (_random(corpus.of(role), rng) for role in (ENROLMENT, TRIAL))
    people = corpus.of(TRIAL)["speaker"].n_unique()
    seconds = {measure.name: 0.0 for measure in measures if measure.needs != "attack"}
    for measure in measures:
        if measure.needs != "attack" or not enroll.ids:
            continue
        sides = (trial, enroll) if measure.swapped else (enroll, trial)
        began = time.perf_counter()
        try:
            measure.run(PlayedAttack(Attack(*sides), seed), rng=rng)
        except PersonareError:
            continue
        scale = max(1.0, people / MOST_SPEAKERS) ** measure.cost
        seconds[measure.name] = (time.perf_counter() - began) * scale
    return seconds


def _random(part: pl.DataFrame, rng: np.random.Generator) -> Embeddings:
    names = sorted(part["speaker"].unique().to_list())[:MOST_SPEAKERS]
    rows = part.filter(pl.col("speaker").is_in(names))
    vectors = rng.normal(size=(len(rows), DIMENSIONS)).astype(np.float32)
    return Embeddings(tuple(rows["utterance"].to_list()), tuple(rows["speaker"].to_list()), vectors)
