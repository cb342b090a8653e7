"""Stage "embed": speaker vectors of one role, the originals or their anonymized versions, by one embedder."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from personare.attackers import embedder as make_embedder
from personare.attackers.cache import EmbedWork, HearsAndReads, ReadsText
from personare.attackers.fused import parts_of
from personare.core.carriers import WEIGHTS
from personare.core.embedding_files import write_embeddings
from personare.core.tables import Embeddings
from personare.core.utterances import Utterance, utterances_in
from personare.core.weights import files_of
from personare.engine import Engine, Result
from personare.pipeline.speech import content_of
from personare.pipeline.stages.listen import ListenJob, read_observations
from personare.pipeline.store import Failures, Stage, Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from personare.pipeline.stages.anonymize import AnonymizedSpeech

VECTORS = "vectors.npz"


def require_embedder(name: str) -> None:
    """Find out now, in one line, whether an embedder exists and its model is there: not for each utterance later."""
    make_embedder(name)
    for part in parts_of(name):
        for model in models_of_embedder(part):
            files_of(model)


def models_of_embedder(name: str) -> tuple[str, ...]:
    """Name the fetched models that one embedder needs."""
    declared: tuple[str, ...] = getattr(make_embedder(name), "MODELS", ())
    return declared or ((name,) if name in WEIGHTS else ())


def reads_text(embedder: str) -> bool:
    """Whether an embedder, or a part of a fusion, reads what is said, alone or beside the sound."""
    return any(isinstance(make_embedder(name), ReadsText | HearsAndReads) for name in parts_of(embedder))


def only_reads(embedder: str) -> bool:
    """Whether an embedder hears nothing and only reads what is said."""
    return all(isinstance(make_embedder(name), ReadsText) for name in parts_of(embedder))


@dataclass(frozen=True, eq=False)
class EmbedJob:
    """Embed the utterances of ``frame``: the originals, or their ``anonymized`` versions.

    Text embedders read the column ``text``, or what a recognizer heard in this very speech (``recognized``). Where some
    utterances have no text, an attacker who reads has nothing there.
    """

    label: str
    frame: pl.DataFrame
    embedder: str
    anonymized: AnonymizedSpeech | None = None
    recognized: ListenJob | None = None

    @cached_property
    def stage(self) -> Stage:
        """What it depends on: the exact model, and the speech."""
        facts = {"embedder": make_embedder(self.embedder).fingerprint, "speech": content_of(self.frame)}
        if reads_text(self.embedder):
            written = hashlib.sha256("\n".join(map(str, self._texts())).encode()).hexdigest()
            facts["words"] = written if self.recognized is None else "recognized"
        inputs = tuple(job.stage for job in (self.anonymized, self.recognized) if job is not None)
        return Stage("embed", self.label, facts, inputs, items=len(self.frame))

    def _texts(self) -> list[str | None]:
        return self.frame["text"].to_list() if "text" in self.frame.columns else []

    def items(self, store: Store) -> Sequence[Utterance]:
        """Every utterance that is there; those that could not be anonymized are failures of that stage."""
        originals = self._with_words(utterances_in(self.frame), store)
        if self.anonymized is None:
            return list(originals)
        files = self.anonymized.files(store)
        there = (u for u in originals if u.utterance in files)
        channel = self.anonymized.channel_of
        return [
            replace(u, audio=files[u.utterance], start_s=0.0, end_s=None, person_channel=channel(u.utterance))
            for u in there
        ]

    def _with_words(self, utterances: Iterable[Utterance], store: Store) -> Iterator[Utterance]:
        """Give text embedders something to read."""
        if not reads_text(self.embedder):
            yield from utterances
        elif self.recognized is not None:
            heard = {row.utterance: row for row in read_observations(store.place(self.recognized.stage))}
            for one in utterances:
                sides = heard[one.utterance].sides if one.utterance in heard else {}
                yield replace(one, text=(sides["anonymized"].words or "") if "anonymized" in sides else "")
        else:
            some = any(self._texts())
            yield from (replace(one, text=one.text or "") if some else one for one in utterances)

    def work(self, _store: Store, /) -> EmbedWork:
        """Vectors are also kept in the user's cache: another study has the same file at once."""
        return EmbedWork(self.embedder)

    def name(self, item: Any) -> str:
        """Failures are named by utterance."""
        return str(item.utterance)

    def finish(self, store: Store, results: Sequence[Result[Any, Any]]) -> Failures:
        """Write the vectors; where nothing could be embedded there is no file."""
        path = store.place(self.stage) / VECTORS
        if any(result.ok for result in results):
            write_embeddings(_stacked(results), path)
        else:
            path.unlink(missing_ok=True)
        return ()


def embed_all(
    utterances: Sequence[Utterance],
    embedder: str,
    *,
    engine: Engine,
    watch: Callable[[Result[Any, Any]], None] = lambda _: None,
) -> tuple[Embeddings, Failures]:
    """Embed utterances outside of a study: their vectors, and (utterance, reason) for those that failed."""
    results = []
    for result in engine.map(EmbedWork(embedder), utterances):
        watch(result)
        results.append(result)
    return _stacked(results), tuple((r.item.utterance, r.error or "") for r in results if not r.ok)


def _stacked(results: Sequence[Result[Any, Any]]) -> Embeddings:
    good = [result for result in results if result.value is not None]
    vectors = np.stack([result.value for result in good]) if good else np.zeros((0, 1), np.float32)  # type: ignore[misc]
    ids, speakers = tuple(r.item.utterance for r in good), tuple(r.item.speaker for r in good)
    return Embeddings(ids, speakers, vectors)
