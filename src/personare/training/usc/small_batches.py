"""Batches for the small codec: crops of prepared speech, how many levels each keeps, and what its sound should be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from personare.core.errors import ConfigError, TrainingError
from personare.training.usc import grid
from personare.training.usc.small_losses import POWER_FLOOR
from personare.training.usc.speech_store import SpeechStore, StoredUtterance

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PULSE_FLOOR = 1e-4
_INT16 = np.float32(1 / 32768)


@dataclass(frozen=True, eq=False)
class CodecBatch:
    """Tensors of one batch of B crops of T token frames; see ``Features`` for the measurements.

    ``pulses`` and ``power`` are log-power spectra [B, 5 T, 257] of pulses at the true F0 and of the speech; ``teacher``
    [B, T, 288] is what C0 is distilled from; ``levels`` [B] how many levels each crop keeps; ``vector`` [B, 256] are
    speaker vectors, used where ``has_vector`` [B].
    """

    step: int
    content: Any
    prosody: Any
    mels: Any
    absolute: Any
    octaves: Any
    voiced: Any
    pulses: Any
    power: Any
    teacher: Any
    levels: Any
    vector: Any
    has_vector: Any
    speakers: Any


@dataclass(frozen=True)
class LevelShares:
    """Quantizer dropout: how often C0 is kept alone, how often 2 to all but one levels, how often all."""

    alone: float = 0.45
    some: float = 0.20
    all: float = 0.35

    def __post_init__(self) -> None:
        if min(self.alone, self.some, self.all) < 0 or abs(self.alone + self.some + self.all - 1) > 1e-9:
            raise ConfigError(f"shares of levels must be 0 or more and add up to 1, not {self}")

    def draw(self, rng: np.random.Generator, count: int, levels: int) -> NDArray[np.int64]:
        """Draw the number of levels of ``count`` crops: [count], 1 to ``levels``."""
        kind = rng.random(count)
        some = rng.integers(2, levels, count) if levels > 2 else np.full(count, levels)
        return np.where(kind < self.alone, 1, np.where(kind < self.alone + self.some, some, levels)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Crops:
    """Makes batches from a store: which utterances, how many crops of how many frames.

    Parameters
    ----------
    speakers : the numbers of the speakers, for the classifier.
    copies : how often the content comes from the speech itself and from each perturbed copy.
    no_vector : how often C0 alone is decoded without a speaker vector.
    """

    store: SpeechStore
    utterances: tuple[tuple[int, StoredUtterance], ...]
    frames: int
    size: int
    shares: LevelShares
    levels: int
    no_vector: float = 0.15
    copies: tuple[float, ...] = (0.4, 0.3, 0.3)

    @cached_property
    def speakers(self) -> dict[str, int]:
        """A number for every speaker, in the order of their names."""
        return {name: index for index, name in enumerate(sorted({u.speaker for _, u in self.utterances}))}

    @cached_property
    def _chances(self) -> NDArray[np.float64]:
        room = np.array([max(0, u.frames - self.frames + 1) for _, u in self.utterances], np.float64)
        if not room.any():
            raise TrainingError(f"no utterance is as long as a crop of {self.frames} token frames")
        return np.asarray(np.cumsum(room / room.sum()))

    @cached_property
    def _speaker_means(self) -> dict[str, NDArray[np.float32]]:
        rows: dict[str, list[int]] = {}
        for row, utterance in self.utterances:
            rows.setdefault(utterance.speaker, []).append(row)
        return {name: _unit(self.store.vectors[own].mean(axis=0)) for name, own in rows.items()}

    def batch(self, step: int, rng: np.random.Generator) -> CodecBatch:
        """Draw a batch."""
        places = []
        for chance in rng.random(self.size):
            row, utterance = self.utterances[min(int(np.searchsorted(self._chances, chance)), len(self._chances) - 1)]
            places.append((row, utterance, int(rng.integers(0, utterance.frames - self.frames + 1))))
        copies = rng.choice(len(self.copies), self.size, p=self.copies)
        own = rng.random(self.size) < 0.5
        vectors = [
            self.store.vectors[row] if of_utterance else self._speaker_means[utterance.speaker]
            for (row, utterance, _), of_utterance in zip(places, own, strict=True)
        ]
        return self.assemble(
            step,
            places,
            copies=copies.tolist(),
            levels=self.shares.draw(rng, self.size, self.levels),
            vectors=np.stack(vectors),
            has_vector=rng.random(self.size) >= self.no_vector,
            turns=rng.random(self.size),
        )

    def assemble(
        self,
        step: int,
        places: list[tuple[int, StoredUtterance, int]],
        *,
        copies: list[int],
        levels: NDArray[np.int64],
        vectors: NDArray[np.float32],
        has_vector: NDArray[np.bool_],
        turns: NDArray[np.float64],
    ) -> CodecBatch:
        """Read the crops at ``places`` (row, utterance, first frame) and compute what their sound should be."""

        def read(field: str, extra: int = 0) -> NDArray[Any]:
            count = self.frames + 2 * extra
            return np.stack([self.store.crop(field, first - extra, count, u) for _, u, first in places])

        content = read("content")
        audio = read("audio", 1).reshape(len(places), -1).astype(np.float32) * _INT16
        octaves = read("octaves", 1).astype(np.float32).reshape(len(places), -1)
        power = log_power(torch.from_numpy(audio), POWER_FLOOR)
        train = grid.pulses(np.asarray(grid.MIDDLE_HZ * np.exp2(octaves), np.float32), turn=turns)
        edge = grid.SOUNDS
        numbers = self.speakers
        teacher = content[:, :, 0].reshape(*content.shape[:2], grid.CONTENTS, -1).mean(axis=2, dtype=np.float32)
        return CodecBatch(
            step=step,
            content=_tensor(np.stack([rows[:, copy] for rows, copy in zip(content, copies, strict=True)])),
            prosody=_tensor(read("prosody")),
            mels=_tensor(read("mels")),
            absolute=_tensor(read("absolute")),
            octaves=torch.from_numpy(octaves[:, edge:-edge].copy()),
            voiced=torch.from_numpy(read("voiced").reshape(len(places), -1)),
            pulses=log_power(torch.from_numpy(train), _PULSE_FLOOR),
            power=power,
            teacher=_tensor(teacher),
            levels=torch.from_numpy(levels),
            vector=torch.from_numpy(vectors),
            has_vector=torch.from_numpy(has_vector),
            speakers=torch.tensor([numbers.get(u.speaker, -1) for _, u, _ in places]),
        )


def log_power(samples: Any, floor: float) -> Any:
    """Log-power under 512 samples around each sound frame; the first and last token frame are context only."""
    front = grid.HOP - (grid.WINDOW - grid.SOUND_HOP) // 2
    frames = samples[:, front : samples.shape[1] - front].unfold(1, grid.WINDOW, grid.SOUND_HOP)
    spectrum = torch.view_as_real(torch.fft.rfft(frames * torch.from_numpy(grid.hann(grid.WINDOW)), dim=2))
    return (spectrum.square().sum(-1) + floor).log()


def _tensor(values: NDArray[Any]) -> Any:
    return torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32))


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-9), np.float32)
