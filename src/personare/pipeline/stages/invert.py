"""Stages "estimate" and "invert": the secret numbers of an anonymizer are learnt, read off speech, and undone.

"estimate" learns from training speech that the attacker has anonymized, whose numbers are known; "invert" writes what
an attacker makes of anonymized speech, one file per utterance. Nobody who is attacked is learnt from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl

from personare.attackers.inversion import (
    FEWEST_UTTERANCES,
    VERSION,
    SecretEstimator,
    fit_estimator,
    load_estimator,
    recording_numbers,
)
from personare.core.audio import encode, is_whole
from personare.core.errors import MetricError
from personare.core.files import make_folder, write_bytes
from personare.core.protocols import Invertible
from personare.core.seeding import Key, rng_for
from personare.core.utterances import Utterance, utterances_in
from personare.pipeline.roles import TRAIN
from personare.pipeline.speech import StudyCorpus, content_of
from personare.pipeline.stages.anonymize import AnonymizedSpeech, AnonymizeJob, anonymize_job
from personare.pipeline.store import Failures, Stage, Store
from personare.pipeline.system import System

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.engine import Result
    from personare.pipeline.resolve import ResolvedAnonymizer
    from personare.pipeline.study import Study

ESTIMATOR = "estimator.npz"


@dataclass(frozen=True, eq=False)
class EstimateJob:
    """Learn to read the secret numbers off ``anonymized``, training speech that the attacker has anonymized."""

    label: str
    anonymized: AnonymizeJob

    @cached_property
    def stage(self) -> Stage:
        """What it depends on: the anonymized training speech (which names system and draw), and how is learnt."""
        return Stage(
            "estimate",
            self.label,
            {"estimator": VERSION, "speech": content_of(self.anonymized.frame)},
            (self.anonymized.stage,),
            items=len(self.anonymized.frame),
        )

    def items(self, store: Store, /) -> Sequence[tuple[Utterance, Utterance]]:
        """Every training utterance that could be anonymized: (original, anonymized)."""
        make_folder(store.place(self.stage))
        return _pairs(self.anonymized.frame, self.anonymized, store)

    def work(self, _store: Store, /) -> EstimateWork:
        """The work on one pair, for any process."""
        return EstimateWork(self.anonymized.system, self.anonymized.key)

    def name(self, item: Any, /) -> str:
        """Failures are named by utterance."""
        return str(item[0].utterance)

    def finish(self, store: Store, results: Sequence[Result[Any, Any]], /) -> Failures:
        """Learn from all pairs, and keep what was learnt."""
        good = [result for result in results if result.value is not None]
        if len(good) < FEWEST_UTTERANCES:
            return ((self.label, f"secrets are learnt from {FEWEST_UTTERANCES} utterances or more, not {len(good)}"),)
        numbers, secrets = (np.stack([result.value[i] for result in good]) for i in (0, 1))  # type: ignore[index]
        fit_estimator(numbers, secrets, [result.item[0].speaker for result in good]).save(self.place(store))
        return ()

    def place(self, store: Store) -> Path:
        """Where the estimator lies."""
        return store.place(self.stage) / ESTIMATOR


@dataclass(frozen=True)
class EstimateWork:
    """Give the numbers of one anonymized recording, and the secrets by which it was made of its original."""

    system: System
    key: Key

    def __call__(self, pair: tuple[Utterance, Utterance]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Read both; the secrets are drawn again, as the attacker drew them."""
        before, after = pair
        rng = rng_for(self.key, "voice", *self.system.names_of(before.speaker, before.utterance))
        secrets = _invertible(self.system).secrets(before.read(), rng=rng)
        return recording_numbers(after.read()), secrets


@dataclass(frozen=True, eq=False)
class InvertJob:
    """Undo the anonymization of ``anonymized``, the speech of ``frame``, by what ``estimator`` reads off it.

    ``attacked`` says that nobody of the frame may have been learnt from.
    """

    label: str
    frame: pl.DataFrame
    anonymized: AnonymizedSpeech
    estimator: EstimateJob
    attacked: bool

    @cached_property
    def stage(self) -> Stage:
        """What it depends on: the anonymized speech, and what was learnt."""
        facts = {"speech": content_of(self.frame), "attacked": self.attacked}
        inputs = (self.anonymized.stage, self.estimator.stage)
        return Stage("invert", self.label, facts, inputs, items=len(self.frame))

    def items(self, store: Store, /) -> Sequence[Utterance]:
        """Every utterance that could be anonymized."""
        make_folder(store.place(self.stage))
        return [after for _, after in _pairs(self.frame, self.anonymized, store)]

    def work(self, store: Store, /) -> InvertWork:
        """The work on one utterance, for any process."""
        system = self.estimator.anonymized.system
        return InvertWork(system, self.estimator.place(store), store.place(self.stage), self.attacked)

    def name(self, item: Any, /) -> str:
        """Failures are named by utterance."""
        return str(item.utterance)

    def finish(self, _store: Store, _results: Sequence[Result[Any, Any]], /) -> Failures:
        """The files are the result."""
        return ()

    def files(self, store: Store) -> dict[str, Path]:
        """Give the file of every utterance that could be undone."""
        done, work = store.done(self.stage), self.work(store)
        failed = {name for name, _ in done.failures} if done else set()
        there = self.anonymized.files(store)
        return {
            u.utterance: work.place_of(u)
            for u in utterances_in(self.frame)
            if u.utterance in there and u.utterance not in failed
        }

    def channel_of(self, _utterance: str, /) -> None:
        """Each file holds one person."""
        return


def invert_job(
    study: Study, corpus: StudyCorpus, role: str, anonymizer: ResolvedAnonymizer, speech: AnonymizedSpeech
) -> InvertJob:
    """Make the job that undoes an anonymization of one role, by what was learnt from training speech alone."""
    training = anonymize_job(study, corpus, TRAIN, anonymizer, "training")
    learnt = EstimateJob(f"estimate {corpus.label} {TRAIN} by {anonymizer.label}", training)
    label = f"invert {speech.stage.label.partition(' ')[2]}"
    return InvertJob(label, corpus.of(role), speech, learnt, attacked=role != TRAIN)


@dataclass(frozen=True)
class InvertWork:
    """Estimate the secrets of one recording, undo them, and write what comes out."""

    system: System
    estimator: Path
    target: Path
    attacked: bool

    def place_of(self, item: Utterance) -> Path:
        """Where the result of an utterance goes; no name can break a path."""
        token = hashlib.sha256(f"{item.speaker}\0{item.utterance}".encode()).hexdigest()[:32]
        return self.target / "audio" / f"{token}.flac"

    def __call__(self, item: Utterance) -> float:
        """Undo it, unless an earlier run has; gives the seconds of speech."""
        place = self.place_of(item)
        facts = is_whole(place)
        if facts is not None:
            return facts.duration_s
        if not self.estimator.is_file():
            raise MetricError("no secret numbers could be learnt from training speech; see failures.tsv")
        learnt = _estimator(self.estimator, self.estimator.stat().st_mtime_ns)
        if self.attacked:
            learnt.refuse([item.speaker])
        audio = item.read()
        undone = _invertible(self.system).undo(audio, learnt(recording_numbers(audio), speaker=item.speaker))
        write_bytes(place, encode(place, [undone]))
        return undone.duration_s


@lru_cache(maxsize=8)
def _estimator(path: Path, _written: int) -> SecretEstimator:
    """Read an estimator once a process."""
    return load_estimator(path)


def _invertible(system: System) -> Invertible:
    return cast(Invertible, system.build())


def _pairs(frame: pl.DataFrame, anonymized: AnonymizedSpeech, store: Store) -> list[tuple[Utterance, Utterance]]:
    """Give every utterance with its anonymized version, where there is one."""
    files, channel = anonymized.files(store), anonymized.channel_of
    return [
        (u, replace(u, audio=files[u.utterance], start_s=0.0, end_s=None, person_channel=channel(u.utterance)))
        for u in utterances_in(frame)
        if u.utterance in files
    ]
