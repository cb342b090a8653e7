"""The speech an embedder is trained on: every recording read once, in memory as far as allowed, broken ones listed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from personare.core.audio import read_mono, resample
from personare.core.errors import AudioError, TrainingError
from personare.encoders.mels import RATE_HZ

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.core.tables import Corpus


@dataclass(frozen=True)
class TrainingUtterance:
    """One utterance: who speaks, and where the audio is."""

    utterance: str
    speaker: str
    audio: Path
    start_s: float = 0.0
    end_s: float | None = None

    def read(self) -> NDArray[np.float32]:
        """Read the samples at 16 kHz."""
        samples = resample(read_mono(self.audio, start_s=self.start_s, stop_s=self.end_s), RATE_HZ).samples
        if not len(samples):
            raise AudioError(f"{self.audio}: too short, not one sample at {RATE_HZ} Hz")
        return samples


@dataclass(frozen=True, eq=False)
class TrainingUtterances:
    """Utterances that can be read; ``samples(i)`` gives the i-th, from memory where it is kept.

    Parameters
    ----------
    digest : of everything that was read: names, speakers, samples.
    failures : (utterance, reason) of what cannot be read.
    """

    items: tuple[TrainingUtterance, ...]
    kept: dict[int, NDArray[np.float32]] = field(repr=False)
    failures: tuple[tuple[str, str], ...] = ()
    digest: str = ""
    duration_s: float = 0.0

    def samples(self, index: int) -> NDArray[np.float32]:
        """Give float32 [n] at 16 kHz."""
        kept = self.kept.get(index)
        return self.items[index].read() if kept is None else kept

    @property
    def speakers(self) -> tuple[str, ...]:
        """All speakers, sorted."""
        return tuple(sorted({item.speaker for item in self.items}))


def utterances_of(corpus: Corpus) -> list[TrainingUtterance]:
    """List the utterances of a corpus."""
    columns = ["utterance", "speaker", "audio", *(c for c in ("start_s", "end_s") if c in corpus.frame.columns)]
    return [
        TrainingUtterance(
            row["utterance"], row["speaker"], Path(row["audio"]), row.get("start_s") or 0.0, row.get("end_s")
        )
        for row in corpus.frame.select(columns).sort("utterance").iter_rows(named=True)
    ]


def read_utterances(
    items: Sequence[TrainingUtterance], *, memory_mb: int, watch: Callable[[TrainingUtterance], None] = lambda _: None
) -> TrainingUtterances:
    """Read every utterance once; keep the first ``memory_mb`` of them, and list those that cannot be read."""
    readable: list[TrainingUtterance] = []
    kept: dict[int, NDArray[np.float32]] = {}
    failures: list[tuple[str, str]] = []
    free_bytes, hasher, total = memory_mb * 1_000_000, hashlib.blake2b(digest_size=16), 0
    for item in items:
        try:
            samples = item.read()
        except AudioError as error:
            failures.append((item.utterance, str(error)))
        else:
            if samples.nbytes <= free_bytes:
                kept[len(readable)] = samples
                free_bytes -= samples.nbytes
            readable.append(item)
            total += len(samples)
            hasher.update(f"{item.utterance}\0{item.speaker}\0{len(samples)}\0".encode() + samples.tobytes())
        watch(item)
    if not readable:
        why = f" (first: {failures[0][1]})" if failures else ""
        raise TrainingError(f"no recording to train on can be read{why}; check the corpus: personare corpus info")
    return TrainingUtterances(tuple(readable), kept, tuple(failures), hasher.hexdigest(), total / RATE_HZ)
