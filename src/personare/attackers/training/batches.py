"""What is heard in one step of learning: a few voices, cut, sped up or slowed down, in noise, as mel frames.

A batch is drawn from the seed and the number of its step, and from nothing else: trainings can be repeated and resumed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from personare.attackers.training import augment
from personare.core.seeding import Key, rng_for
from personare.encoders import mels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.attackers.training.clips import Clips
    from personare.attackers.training.settings import Sounds

_MARGIN = 16  # samples beyond the crop, for the ends of the resampling filter
TALKERS = (3, 6)  # how many people babble


@dataclass(frozen=True, eq=False)
class Batch:
    """Mel frames float32 [batch, 80, frames] and whose they are, int64 [batch]."""

    mels: NDArray[np.float32]
    labels: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Batches:
    """The batches of a training: ``batches(step)``."""

    clips: Clips
    sounds: Sounds
    key: Key = field(repr=False)

    @cached_property
    def said(self) -> list[list[int]]:
        """Positions of each speaker's utterances, speakers sorted."""
        places: dict[str, list[int]] = {speaker: [] for speaker in self.clips.speakers}
        for index, clip in enumerate(self.clips.clips):
            places[clip.speaker].append(index)
        return list(places.values())

    @property
    def classes(self) -> int:
        """How many people there are to tell apart; a voice at another speed may count as one more."""
        return len(self.said) * (len(self.sounds.speeds) if self.sounds.speed_is_speaker else 1)

    def __call__(self, step: int) -> Batch:
        """Draw the batch of a step."""
        rng = rng_for(self.key, "batch", str(step))
        size, people = self.sounds.batch, len(self.said)
        rounds = [rng.permutation(people) for _ in range(-(-size // people))]
        heard = [self._heard(int(who), rng) for who in np.concatenate(rounds)[:size]]
        features = np.stack([mels.decibel_mels(samples) for samples, _ in heard])
        return Batch(features, np.array([label for _, label in heard], dtype=np.int64))

    def one_of_each(self, *, most: int = 2) -> Iterator[NDArray[np.float32]]:
        """Yield undisturbed mel frames [up to ``most``, 80, frames] of every class, in the order of their labels."""
        length = round(self.sounds.crop_s * mels.RATE_HZ)
        speeds = self.sounds.speeds if self.sounds.speed_is_speaker else (1.0,)
        for speed, places in itertools.product(speeds, self.said):
            rng = rng_for(self.key, "one of each", str(speed), str(places[0]))
            needed = length if speed == 1.0 else round(length * speed) + _MARGIN
            parts = [augment.cropped(self.clips.samples(i), needed, rng=rng) for i in places[:most]]
            yield np.stack([mels.decibel_mels(augment.heard_at(part, speed, length)) for part in parts])

    def _heard(self, who: int, rng: np.random.Generator) -> tuple[NDArray[np.float32], int]:
        at = int(rng.integers(len(self.sounds.speeds)))
        samples = self._crop(who, self.sounds.speeds[at], rng)
        samples = self._disturbed(samples, who, rng)
        return samples, at * len(self.said) + who if self.sounds.speed_is_speaker else who

    def _crop(self, who: int, speed: float, rng: np.random.Generator) -> NDArray[np.float32]:
        length = round(self.sounds.crop_s * mels.RATE_HZ)
        whole = self.clips.samples(self.said[who][int(rng.integers(len(self.said[who])))])
        needed = length if speed == 1.0 else round(length * speed) + _MARGIN
        return augment.heard_at(augment.cropped(whole, needed, rng=rng), speed, length)

    def _disturbed(self, samples: NDArray[np.float32], who: int, rng: np.random.Generator) -> NDArray[np.float32]:
        chance, sounds = rng.random(), self.sounds
        if chance < sounds.noise_share:
            noise = augment.coloured_noise(len(samples), rng=rng)
            return augment.with_noise(samples, noise, rng.uniform(*sounds.noise_snr_db))
        others = [person for person in range(len(self.said)) if person != who]
        if chance >= sounds.noise_share + sounds.babble_share or not others:
            return samples
        talkers = rng.choice(
            others, size=min(len(others), int(rng.integers(TALKERS[0], TALKERS[1] + 1))), replace=False
        )
        noise = augment.babble([self._crop(int(person), 1.0, rng) for person in talkers])
        return augment.with_noise(samples, noise, rng.uniform(*sounds.babble_snr_db))
