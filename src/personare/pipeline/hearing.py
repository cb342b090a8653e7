"""What the attacker hears: every utterance an evaluation needs, turned into a speaker vector by any engine."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from personare.attackers import embedder as make_embedder
from personare.attackers.cache import embed_audio, embed_file
from personare.core.audio import Audio, read_mono
from personare.core.carriers import WEIGHTS
from personare.core.errors import CorpusError, did_you_mean
from personare.core.seeding import Key, rng_for
from personare.core.tables import Corpus, Embeddings
from personare.core.weights import files_of
from personare.engine import Engine, Result
from personare.pipeline.system import System

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Sound:
    """One thing to hear: an utterance as it lies on disk, or as the attacker disguises it first."""

    utterance: str
    speaker: str
    audio: Path
    start_s: float = 0.0
    end_s: float | None = None
    disguised: bool = False


@dataclass(frozen=True)
class HearWork:
    """The work on one sound. ``system`` and ``key`` are the attacker's own, for enrolment speech they disguise."""

    embedder: str
    system: System | None = None
    key: Key | None = None

    def __call__(self, sound: Sound) -> NDArray[np.float32]:
        """Hear it: float32 [d]."""
        if not sound.disguised:
            return embed_file(sound.audio, self.embedder, start_s=sound.start_s, end_s=sound.end_s)
        return embed_audio(self._disguise(sound), self.embedder)

    def _disguise(self, sound: Sound) -> Audio:
        if self.system is None or self.key is None:
            raise ValueError("a disguise needs a system and a key")
        anonymize, names = self.system.build(), self.system.names_of(sound.speaker, sound.utterance)
        original = read_mono(sound.audio, start_s=sound.start_s, stop_s=sound.end_s)
        return anonymize(original, rng=rng_for(self.key, "voice", *names))


@dataclass(frozen=True, eq=False)
class Heard:
    """The vectors of the sounds that could be heard, and (utterance, reason) for those that could not."""

    embeddings: Embeddings
    failures: tuple[tuple[str, str], ...]


def ready(embedder: str) -> None:
    """Find out now, in one line, whether an ear exists and its model is there: not once for each utterance later."""
    make_embedder(embedder)
    if embedder in WEIGHTS:
        files_of(embedder)


def sounds_of(corpus: Corpus, *, part: str | None = None) -> list[Sound]:
    """List a corpus, or one part of it, as things to hear."""
    frame = corpus.frame
    if part is not None:
        parts = frame["part"].drop_nulls().unique().to_list() if "part" in frame.columns else []
        if part not in parts:
            raise CorpusError(f"the corpus has no part '{part}'; {did_you_mean(part, parts)}")
        frame = frame.filter(frame["part"] == part)
    return [
        Sound(row["utterance"], row["speaker"], Path(row["audio"]), row.get("start_s") or 0.0, row.get("end_s"))
        for row in frame.iter_rows(named=True)
    ]


def hear(
    sounds: Sequence[Sound],
    work: HearWork,
    *,
    engine: Engine,
    watch: Callable[[Result[Sound, NDArray[np.float32]]], None] = lambda _: None,
) -> Heard:
    """Turn sounds into vectors, in order; failures are rows."""
    good: list[Result[Sound, NDArray[np.float32]]] = []
    failures: list[tuple[str, str]] = []
    for result in engine.map(work, sounds):
        watch(result)
        if result.ok:
            good.append(result)
        else:
            failures.append((result.item.utterance, result.error or ""))
    vectors = [r.value for r in good if r.value is not None]
    stacked = np.stack(vectors) if vectors else np.zeros((0, 1), np.float32)
    ids, speakers = tuple(r.item.utterance for r in good), tuple(r.item.speaker for r in good)
    return Heard(Embeddings(ids, speakers, stacked), tuple(failures))


@functools.cache
def nothing_heard() -> Heard:
    """An attack without sounds."""
    return Heard(Embeddings((), (), np.zeros((0, 1), np.float32)), ())
