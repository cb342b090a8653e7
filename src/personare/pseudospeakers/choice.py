"""The simplest ways: keep the voice (a control), mix a new one each time, or choose one of a numbered list by key.

copy    the speaker's own vector: what synthesis alone hides (M1c2)             [tomashenko2022voiceprivacy, sec. 3.2.1]
random  a new voice mixed from a few of the pool, whoever the speaker is
keyed   one of a fixed list of mixed voices; with ``for_speaker`` the secret key and the name decide which
Deviations: the literature hands out voices of the pool themselves; here that needs ``mix`` 1, for they are real people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from personare.core.errors import ConfigError
from personare.core.protocols import PseudoSpeaker
from personare.core.seeding import Key, rng_for
from personare.pseudospeakers.blends import blend
from personare.pseudospeakers.farthest import Voices
from personare.pseudospeakers.recipe import Asked, PerGender

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Nothing:
    """What a copy learns: how many voices it has seen and does not use."""

    seen: int


@dataclass(frozen=True)
class Copy(PerGender[Nothing]):
    """The speaker's own vector, unchanged (M1c2): hides nothing, shows what synthesis alone does."""

    paper: ClassVar[str] = "Tomashenko et al., The VoicePrivacy 2020 Challenge, 2022, sec. 3.2.1 (M1c2)"
    name: ClassVar[str] = "copy"
    learnt: ClassVar[type] = Nothing
    by_chance: ClassVar[bool] = False
    follows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.gender == "cross":
            raise ConfigError("copy: gender cannot be 'cross'; a copied voice keeps its gender")

    @property
    def fewest(self) -> int:
        """One is enough to know the dimension."""
        return 1

    def learn(self, vectors: Floats, rng: np.random.Generator) -> Nothing:  # noqa: ARG002 - nothing is drawn
        """Learn nothing."""
        return Nothing(len(vectors))

    def invent(self, asked: Asked[Nothing]) -> Floats:
        """Give the vector back."""
        return asked.vector.copy()


@dataclass(frozen=True)
class Random(PerGender[Voices]):
    """A new voice mixed from a few of the pool, whoever the speaker is.

    Parameters
    ----------
    mix : how many voices of the pool are mixed; 1 hands out real people.
    """

    paper: ClassVar[str] = ""
    name: ClassVar[str] = "random"
    learnt: ClassVar[type] = Voices

    mix: int = 10

    def __post_init__(self) -> None:
        check_mix(self.name, self.mix)

    @property
    def fewest(self) -> int:
        """Enough to mix one voice and to have others."""
        return self.mix + 1

    def learn(self, vectors: Floats, rng: np.random.Generator) -> Voices:  # noqa: ARG002 - drawn when asked
        """Keep the vectors."""
        return Voices(vectors.astype(np.float32))

    def invent(self, asked: Asked[Voices]) -> Floats:
        """Mix a voice."""
        mixed: Floats = blend(asked.voices.vectors, 1, mix=self.mix, rng=asked.rng)[0]
        return mixed


@dataclass(frozen=True)
class Keyed(PerGender[Voices]):
    """One voice of a numbered list that is mixed once: the same key and name always give the same number.

    Parameters
    ----------
    voices : how many voices the list holds for each gender.
    mix : how many voices of the pool each is mixed of; 1 hands out real people.
    """

    paper: ClassVar[str] = ""
    name: ClassVar[str] = "keyed"
    learnt: ClassVar[type] = Voices

    voices: int = 1000
    mix: int = 10

    def __post_init__(self) -> None:
        check_mix(self.name, self.mix)
        if self.voices < 2:
            raise ConfigError(f"keyed: voices must be at least 2, not {self.voices}")

    @property
    def fewest(self) -> int:
        """Enough to mix one voice and to have others."""
        return self.mix + 1

    def learn(self, vectors: Floats, rng: np.random.Generator) -> Voices:
        """Mix the list."""
        mixed = blend(vectors.astype(np.float32), self.voices, mix=self.mix, rng=rng)
        return Voices(mixed.astype(np.float32))

    def invent(self, asked: Asked[Voices]) -> Floats:
        """Choose from the list."""
        chosen: NDArray[np.float32] = asked.voices.vectors[int(asked.rng.integers(len(asked.voices.vectors)))]
        return chosen.astype(np.float64)


def check_mix(name: str, mix: int) -> None:
    """Refuse mixtures of nothing."""
    if mix < 1:
        raise ConfigError(f"{name}: mix must be at least 1, not {mix}")


def for_speaker(
    generator: PseudoSpeaker,
    vector: NDArray[np.float32],
    *,
    key: Key,
    speaker: str,
    gender: str | None = None,
    side: str = "",
) -> NDArray[np.float32]:
    """Give the pseudo-speaker that belongs to a speaker under a secret key, by any generator.

    ``side`` (``enroll``, ``test``) gives the two sides of an evaluation different voices, as the challenges do.
    """
    return generator(vector, rng=rng_for(key, "pseudospeaker", side, speaker), gender=gender)
