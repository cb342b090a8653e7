"""Stage "generate": speaker vectors invented by a generator of pseudo-speakers, without any sound.

A generator gives the vector that an ideal synthesizer would be embedded as. The pseudo-speaker takes the place of the
speaker's own mean, and what an utterance adds to that mean (words, mood, microphone) stays:
vector' = generator(mean of the speaker) + vector - mean of the speaker.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from personare.core.embedding_files import read_embeddings, write_embeddings
from personare.core.seeding import Key, rng_for
from personare.core.tables import Embeddings
from personare.pipeline.stages.embed import VECTORS, EmbedJob
from personare.pipeline.store import Stage, Store
from personare.pipeline.system import System, key_token
from personare.pipeline.waves import WholeStage
from personare.pseudospeakers.pool import SpeakerPool

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class GenerateJob(WholeStage):
    """Invent the vectors of ``original``'s utterances by a generator that is fitted on ``pool``.

    ``fit_key`` is the key of the fit, the same for all who know the system; ``key`` draws the pseudo-speakers.
    """

    label: str
    original: EmbedJob
    pool: EmbedJob
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
            "genders": sorted(_genders(self.original.frame) | _genders(self.pool.frame)),
        }
        return Stage("generate", self.label, facts, (self.original.stage, self.pool.stage))

    def work(self, store: Store) -> GenerateWork:
        """The work, for any process."""
        own, pool = (store.place(job.stage) / VECTORS for job in (self.original, self.pool))
        genders = tuple(_genders(self.original.frame) | _genders(self.pool.frame))
        return GenerateWork(own, pool, genders, self.system, self.key, self.fit_key, store.place(self.stage) / VECTORS)


@dataclass(frozen=True)
class GenerateWork:
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
