"""The batches of an embedder's training: a few speakers, cropped, sped up or slowed down, in noise, as mel frames.

A batch is drawn from the seed and the number of its step, and from nothing else: trainings can be repeated and resumed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from personare.core.seeding import Key, rng_for
from personare.encoders import mels
from personare.training.embedder import augment

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.training.embedder.settings import BatchSettings
    from personare.training.embedder.utterances import TrainingUtterances

_MARGIN = 16  # samples beyond the crop, for the ends of the resampling filter
BABBLE_SPEAKERS = (3, 6)  # how many other speakers are mixed, at least and at most


@dataclass(frozen=True, eq=False)
class Batch:
    """Mel frames float32 [batch, 80, frames] and their speakers as numbers, int64 [batch]."""

    mels: NDArray[np.float32]
    labels: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Batches:
    """The batches of a training: ``batches(step)``."""

    utterances: TrainingUtterances
    settings: BatchSettings
    key: Key = field(repr=False)

    @cached_property
    def by_speaker(self) -> list[list[int]]:
        """Positions of each speaker's utterances, speakers sorted."""
        positions: dict[str, list[int]] = {speaker: [] for speaker in self.utterances.speakers}
        for index, utterance in enumerate(self.utterances.items):
            positions[utterance.speaker].append(index)
        return list(positions.values())

    @property
    def classes(self) -> int:
        """How many classes there are to tell apart; a speaker at another speed may count as one more."""
        return len(self.by_speaker) * (len(self.settings.speeds) if self.settings.speed_is_speaker else 1)

    def __call__(self, step: int) -> Batch:
        """Draw the batch of a step."""
        rng = rng_for(self.key, "batch", str(step))
        size, speakers = self.settings.batch, len(self.by_speaker)
        rounds = [rng.permutation(speakers) for _ in range(-(-size // speakers))]
        drawn = [self._draw(int(speaker), rng) for speaker in np.concatenate(rounds)[:size]]
        features = np.stack([mels.decibel_mels(samples) for samples, _ in drawn])
        return Batch(features, np.array([label for _, label in drawn], dtype=np.int64))

    def one_of_each(self, *, most: int = 2) -> Iterator[NDArray[np.float32]]:
        """Yield mel frames without noise [up to ``most``, 80, frames] of every class, in the order of their labels."""
        length = round(self.settings.crop_s * mels.RATE_HZ)
        speeds = self.settings.speeds if self.settings.speed_is_speaker else (1.0,)
        for speed, positions in itertools.product(speeds, self.by_speaker):
            rng = rng_for(self.key, "one of each", str(speed), str(positions[0]))
            needed = length if speed == 1.0 else round(length * speed) + _MARGIN
            crops = [augment.cropped(self.utterances.samples(i), needed, rng=rng) for i in positions[:most]]
            yield np.stack([mels.decibel_mels(augment.at_speed(crop, speed, length)) for crop in crops])

    def _draw(self, speaker: int, rng: np.random.Generator) -> tuple[NDArray[np.float32], int]:
        """Give augmented samples of a speaker, and the label of the class."""
        speed = int(rng.integers(len(self.settings.speeds)))
        samples = self._crop(speaker, self.settings.speeds[speed], rng)
        samples = self._with_noise(samples, speaker, rng)
        return samples, speed * len(self.by_speaker) + speaker if self.settings.speed_is_speaker else speaker

    def _crop(self, speaker: int, speed: float, rng: np.random.Generator) -> NDArray[np.float32]:
        length = round(self.settings.crop_s * mels.RATE_HZ)
        positions = self.by_speaker[speaker]
        whole = self.utterances.samples(positions[int(rng.integers(len(positions)))])
        needed = length if speed == 1.0 else round(length * speed) + _MARGIN
        return augment.at_speed(augment.cropped(whole, needed, rng=rng), speed, length)

    def _with_noise(self, samples: NDArray[np.float32], speaker: int, rng: np.random.Generator) -> NDArray[np.float32]:
        chance, settings = rng.random(), self.settings
        if chance < settings.noise_share:
            noise = augment.coloured_noise(len(samples), rng=rng)
            return augment.with_noise(samples, noise, rng.uniform(*settings.noise_snr_db))
        others = [other for other in range(len(self.by_speaker)) if other != speaker]
        if chance >= settings.noise_share + settings.babble_share or not others:
            return samples
        count = min(len(others), int(rng.integers(BABBLE_SPEAKERS[0], BABBLE_SPEAKERS[1] + 1)))
        noise = augment.babble([self._crop(int(other), 1.0, rng) for other in rng.choice(others, count, replace=False)])
        return augment.with_noise(samples, noise, rng.uniform(*settings.babble_snr_db))
