"""Stages "hear" and "invent": speaker vectors of one role, heard by an ear or invented by a generator of voices.

A generator has no sound: it gives the vector an ideal synthesizer would be heard as. The invented speaker takes the
place of the speaker's own mean, and what an utterance adds to that mean (words, mood, microphone) stays:
vector' = generator(mean of the speaker) + vector - mean of the speaker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from personare.attackers import embedder as make_embedder
from personare.core.embedding_files import read_embeddings, write_embeddings
from personare.core.seeding import Key, rng_for
from personare.core.tables import Embeddings
from personare.engine import Result
from personare.pipeline.hearing import HearWork, Sound
from personare.pipeline.speech import content_of
from personare.pipeline.stages.anonymize import AnonymizeJob
from personare.pipeline.store import Failures, Stage, Store
from personare.pipeline.system import System, key_token
from personare.pipeline.waves import WholeStage
from personare.pseudospeakers.pool import SpeakerPool

if TYPE_CHECKING:
    from numpy.typing import NDArray

VECTORS = "vectors.npz"


@dataclass(frozen=True, eq=False)
class HearJob:
    """Hear the utterances of ``frame``: the originals, or the files of ``hidden``."""

    label: str
    frame: pl.DataFrame
    embedder: str
    hidden: AnonymizeJob | None = None

    @cached_property
    def stage(self) -> Stage:
        """What it depends on: the exact model, and the speech."""
        facts = {"ear": make_embedder(self.embedder).fingerprint, "speech": content_of(self.frame)}
        inputs = (self.hidden.stage,) if self.hidden else ()
        return Stage("hear", self.label, facts, inputs, items=len(self.frame))

    def items(self, store: Store) -> Sequence[Sound]:
        """Every utterance that is there; those that could not be hidden are failures of that stage."""
        if self.hidden is None:
            return [
                Sound(row["utterance"], row["speaker"], Path(row["audio"]), row.get("start_s") or 0.0, row.get("end_s"))
                for row in self.frame.iter_rows(named=True)
            ]
        files = self.hidden.files(store)
        rows = self.frame.select("utterance", "speaker").iter_rows()
        return [Sound(u, s, files[u]) for u, s in rows if u in files]

    def work(self, _store: Store, /) -> HearWork:
        """Vectors are also kept in the user's cache: another study hears the same file at once."""
        return HearWork(self.embedder)

    def name(self, item: Any) -> str:
        """Failures are named by utterance."""
        return str(item.utterance)

    def finish(self, store: Store, results: Sequence[Result[Any, Any]]) -> Failures:
        """Write the vectors."""
        good = [r for r in results if r.value is not None]
        heard: list[Any] = [r.value for r in good]
        vectors = np.stack(heard) if heard else np.zeros((0, 1), np.float32)
        ids, speakers = tuple(r.item.utterance for r in good), tuple(r.item.speaker for r in good)
        write_embeddings(Embeddings(ids, speakers, vectors), store.place(self.stage) / VECTORS)
        return ()


@dataclass(frozen=True, eq=False)
class InventJob(WholeStage):
    """Invent the vectors of ``original``'s utterances by a generator that is fitted on ``pool``.

    ``fit_key`` is the key of the fit, the same for all who know the system; ``key`` draws the pseudo-speakers.
    """

    label: str
    original: HearJob
    pool: HearJob
    system: System
    key: Key
    fit_key: Key

    @cached_property
    def stage(self) -> Stage:
        """What it depends on: the generator, the draw, and both sets of vectors."""
        facts = {
            "system": self.system.present_fingerprint,
            "level": self.system.level,
            "draw": key_token(self.key),
            "fit": key_token(self.fit_key),
        }
        return Stage("invent", self.label, facts, (self.original.stage, self.pool.stage))

    def work(self, store: Store) -> InventWork:
        """The work, for any process."""
        own, pool = (store.place(job.stage) / VECTORS for job in (self.original, self.pool))
        genders = tuple(_genders(self.original.frame) | _genders(self.pool.frame))
        return InventWork(own, pool, genders, self.system, self.key, self.fit_key, store.place(self.stage) / VECTORS)


@dataclass(frozen=True)
class InventWork:
    """Fit a generator and invent every vector; ``genders`` are (speaker, gender)."""

    original: Path
    pool: Path
    genders: tuple[tuple[str, str], ...]
    system: System
    key: Key
    fit_key: Key
    target: Path

    def __call__(self, item: str) -> int:
        """Do it; gives how many vectors were invented."""
        del item
        genders, own, others = dict(self.genders), read_embeddings(self.original), read_embeddings(self.pool)
        known = tuple(genders.get(s, "") for s in others.speakers)
        pool = SpeakerPool(others.vectors, known if any(known) else (), others.speakers).speaker_means()
        fitted = self.system.build_generator().fit(pool, rng=rng_for(self.fit_key, "fit"))
        means = _means(own)
        invented = np.empty_like(own.vectors)
        for row, (utterance, speaker) in enumerate(zip(own.ids, own.speakers, strict=True)):
            rng = rng_for(self.key, "voice", *self.system.names_of(speaker, utterance))
            voice = fitted(means[speaker], rng=rng, gender=genders.get(speaker))
            invented[row] = voice + (own.vectors[row] - means[speaker])
        write_embeddings(Embeddings(own.ids, own.speakers, invented), self.target)
        return len(invented)


def _means(vectors: Embeddings) -> dict[str, NDArray[np.float32]]:
    owners = np.array(vectors.speakers)
    return {name: vectors.vectors[owners == name].mean(axis=0) for name in sorted(set(vectors.speakers))}


def _genders(frame: pl.DataFrame) -> dict[tuple[str, str], None]:
    if "gender" not in frame.columns:
        return {}
    rows = frame.select("speaker", "gender").unique().sort("speaker").iter_rows()
    return {(s, g): None for s, g in rows if g}
