"""The speech an ear learns from: every recording once, in memory as far as allowed, the broken ones listed."""

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
class Clip:
    """One utterance: who speaks, and where the sound is."""

    utterance: str
    speaker: str
    audio: Path
    start_s: float = 0.0
    end_s: float | None = None

    def read(self) -> NDArray[np.float32]:
        """Read the samples at 16 kHz."""
        samples = resample(read_mono(self.audio, start_s=self.start_s, stop_s=self.end_s), RATE_HZ).samples
        if not len(samples):
            raise AudioError(f"{self.audio}: too short to be heard")
        return samples


@dataclass(frozen=True, eq=False)
class Clips:
    """Utterances that can be read; ``samples(i)`` gives the i-th, from memory where it is kept."""

    clips: tuple[Clip, ...]
    kept: dict[int, NDArray[np.float32]] = field(repr=False)
    failures: tuple[tuple[str, str], ...] = ()
    digest: str = ""  # of everything that was read: who said what
    duration_s: float = 0.0

    def samples(self, index: int) -> NDArray[np.float32]:
        """Give float32 [n] at 16 kHz."""
        found = self.kept.get(index)
        return self.clips[index].read() if found is None else found

    @property
    def speakers(self) -> tuple[str, ...]:
        """All speakers, sorted."""
        return tuple(sorted({clip.speaker for clip in self.clips}))


def clips_of(corpus: Corpus) -> list[Clip]:
    """List the utterances of a corpus."""
    columns = ["utterance", "speaker", "audio", *(c for c in ("start_s", "end_s") if c in corpus.frame.columns)]
    return [
        Clip(row["utterance"], row["speaker"], Path(row["audio"]), row.get("start_s") or 0.0, row.get("end_s"))
        for row in corpus.frame.select(columns).sort("utterance").iter_rows(named=True)
    ]


def open_clips(clips: Sequence[Clip], *, memory_mb: int, watch: Callable[[Clip], None] = lambda _: None) -> Clips:
    """Read every utterance once; keep the first ``memory_mb`` of them, and list those that cannot be read."""
    good: list[Clip] = []
    kept: dict[int, NDArray[np.float32]] = {}
    failures: list[tuple[str, str]] = []
    left, hasher, heard = memory_mb * 1_000_000, hashlib.blake2b(digest_size=16), 0
    for clip in clips:
        try:
            samples = clip.read()
        except AudioError as error:
            failures.append((clip.utterance, str(error)))
        else:
            if samples.nbytes <= left:
                kept[len(good)] = samples
                left -= samples.nbytes
            good.append(clip)
            heard += len(samples)
            hasher.update(f"{clip.utterance}\0{clip.speaker}\0{len(samples)}\0".encode() + samples.tobytes())
        watch(clip)
    if not good:
        why = f" (first: {failures[0][1]})" if failures else ""
        raise TrainingError(f"no recording to learn from can be read{why}; check the corpus: personare corpus info")
    return Clips(tuple(good), kept, tuple(failures), hasher.hexdigest(), heard / RATE_HZ)
