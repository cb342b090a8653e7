"""Batches for the paper's codec: crops of waves, what C0 is distilled from, and speakers where they are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from personare.core.errors import TrainingError
from personare.training.usc.residual_quantizer import QuantizerDropout
from personare.training.usc.speech_store import SpeechStore, StoredUtterance, held_out_speakers

if TYPE_CHECKING:
    from numpy.typing import NDArray

HOP = 640
_INT16 = np.float32(1 / 32768)


@dataclass(frozen=True, eq=False)
class WaveUtterance:
    """An utterance to train on.

    Parameters
    ----------
    samples : [640 T] at 16 kHz, floats or 16-bit integers.
    target : samples at the decoder's rate; the same array at 16 kHz.
    teacher : what C0 is distilled from, averaged to 25 Hz (``grid.pooled``): [T, d].
    speaker : its number, or -1 where the corpus does not say who speaks.
    """

    samples: NDArray[Any]
    target: NDArray[Any]
    teacher: NDArray[Any]
    speaker: int = -1

    @property
    def frames(self) -> int:
        """Token frames."""
        return len(self.teacher)


@dataclass(frozen=True, eq=False)
class WaveBatch:
    """Tensors of a batch: waves [B, 640 T], targets, teacher [B, T, d], levels and speakers [B]."""

    step: int
    wave: Any
    target: Any
    teacher: Any
    levels: Any
    speakers: Any


@dataclass(frozen=True, eq=False)
class WaveCrops:
    """Draws batches: a share of the crops from labelled speakers, the others from all utterances."""

    utterances: Sequence[WaveUtterance]
    kept: Sequence[WaveUtterance]
    size: int
    frames: int
    labelled: float
    digest: str
    aside: frozenset[str] = frozenset()

    @cached_property
    def speaker_count(self) -> int:
        """How many speakers the classifier tells apart, at least 2."""
        return max(2, 1 + max(u.speaker for u in self.utterances))

    @cached_property
    def _pools(self) -> tuple[list[WaveUtterance], list[WaveUtterance]]:
        long = [u for u in self.utterances if u.frames >= self.frames]
        if not long:
            raise TrainingError(f"no utterance is as long as a crop of {self.frames} token frames")
        return [u for u in long if u.speaker >= 0], long

    def batch(self, step: int, rng: np.random.Generator, *, dropout: QuantizerDropout, levels: int) -> WaveBatch:
        """Draw a batch; the first crops are the labelled ones."""
        labelled, every = self._pools
        certain = round(self.labelled * self.size) if labelled else 0
        chosen = [pool[int(rng.integers(len(pool)))] for pool in [labelled] * certain + [every] * (self.size - certain)]
        firsts = [int(rng.integers(u.frames - self.frames + 1)) for u in chosen]
        return self._assembled(step, chosen, firsts, dropout.draw(rng, self.size, levels))

    @cached_property
    def held_out(self) -> WaveBatch:
        """One crop from the middle of every held-out utterance that is long enough."""
        chosen = [u for u in self.kept if u.frames >= self.frames]
        if not chosen:
            raise TrainingError(f"no held-out utterance is as long as a crop of {self.frames} token frames")
        firsts = [(u.frames - self.frames) // 2 for u in chosen]
        return self._assembled(0, chosen, firsts, np.ones(len(chosen), np.int64))

    def _assembled(
        self, step: int, chosen: Sequence[WaveUtterance], firsts: Sequence[int], levels: NDArray[np.int64]
    ) -> WaveBatch:
        def cut(array: NDArray[Any], first: int, hop: int) -> NDArray[np.float32]:
            rows = array[first * hop : (first + self.frames) * hop]
            return np.asarray(rows, np.float32) * (_INT16 if rows.dtype == np.int16 else np.float32(1))

        pairs = list(zip(chosen, firsts, strict=True))
        hops = {len(u.target) // u.frames for u in chosen}
        if len(hops) > 1:
            raise TrainingError(f"utterances have targets at different rates (hops {sorted(hops)})")
        return WaveBatch(
            step,
            torch.from_numpy(np.stack([cut(u.samples, first, HOP) for u, first in pairs])),
            torch.from_numpy(np.stack([cut(u.target, first, hops.copy().pop()) for u, first in pairs])),
            torch.from_numpy(np.stack([cut(u.teacher, first, 1) for u, first in pairs])),
            torch.from_numpy(levels),
            torch.tensor([u.speaker for u in chosen]),
        )


def wave_crops(
    store: SpeechStore, *, size: int, frames: int, labelled: float, held_out: int, rng: np.random.Generator
) -> WaveCrops:
    """Make batches from prepared speech; utterances without a speaker are unlabelled.

    C0 is distilled from the store's field ``teacher``, or else from the recognizer's content frames; the decoder learns
    the field ``target`` (another sample rate), or else the sound itself.
    """
    aside = held_out_speakers(store, held_out, rng=rng)
    names = sorted({u.speaker for u in store.utterances if u.speaker and u.speaker not in aside})
    numbers = {name: number for number, name in enumerate(names)}

    def opened(u: StoredUtterance) -> WaveUtterance:
        own = slice(u.first, u.first + u.frames)
        samples = store.arrays["audio"][own].reshape(-1)
        target = store.arrays["target"][own].reshape(-1) if "target" in store.arrays else samples
        if "teacher" in store.arrays:
            return WaveUtterance(samples, target, store.arrays["teacher"][own], numbers.get(u.speaker, -1))
        pairs = store.arrays["content"][own, 0].reshape(u.frames, 2, -1)
        return WaveUtterance(samples, target, pairs.mean(axis=1, dtype=np.float32), numbers.get(u.speaker, -1))

    learnt = [opened(u) for u in store.utterances if u.speaker not in aside]
    kept = [opened(u) for u in store.utterances if u.speaker in aside]
    return WaveCrops(learnt, kept, size, frames, labelled, store.digest, frozenset(aside))
