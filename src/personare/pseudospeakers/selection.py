"""The simplest generators: the speaker's own vector (a control), a new blend each time, or one of a list, by key.

copy    the speaker's own vector: what synthesis alone hides (M1c2)             [tomashenko2022voiceprivacy, sec. 3.2.1]
random  a new vector blended from a few of the pool, whoever the speaker is
keyed   one of a fixed list of blends; with ``for_speaker`` the secret key and the name decide which

x = m + sum_i (p_i - m) / sqrt(k)   over k different vectors p_i, m the mean of the pool

The sum of k deviations over sqrt(k) has the mean and the covariance of the pool, so that blends do not gather in the
middle as averages do; its cosine to each p_i (around m) is about 1 / sqrt(k). With k = 1 it is a real speaker.
Deviations: the literature hands out vectors of the pool themselves; here that needs ``mix`` 1: they are real people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from personare.core.errors import ConfigError
from personare.pseudospeakers.farthest import CandidateVectors
from personare.pseudospeakers.generator import PerGender, Request

Floats = NDArray[np.float64]


def blend(vectors: NDArray[np.float32], count: int, *, mix: int, rng: np.random.Generator) -> Floats:
    """Blend ``count`` vectors [count, d], each of ``mix`` different ones of the pool [n, d].

    >>> pool = np.random.default_rng(0).standard_normal((50, 8)).astype(np.float32)
    >>> blend(pool, 3, mix=3, rng=np.random.default_rng(1)).shape
    (3, 8)
    """
    wide = vectors.astype(np.float64)
    middle = wide.mean(axis=0)
    rows = np.stack([rng.choice(len(wide), size=mix, replace=False) for _ in range(count)])
    if mix == 1:
        return wide[rows[:, 0]]  # not a bit of rounding: with one vector it is that vector
    blended: Floats = middle + (wide[rows] - middle).sum(axis=1) / np.sqrt(mix)
    return blended


def check_mix(name: str, mix: int) -> None:
    """Refuse blends of nothing."""
    if mix < 1:
        raise ConfigError(f"{name}: mix must be at least 1, not {mix}")


@dataclass(frozen=True, eq=False)
class PoolSize:
    """What a copy learns: how many vectors the pool holds, none of which it uses."""

    size: int


@dataclass(frozen=True)
class Copy(PerGender[PoolSize]):
    """The speaker's own vector, unchanged (M1c2): hides nothing, shows what synthesis alone does."""

    paper: ClassVar[str] = "Tomashenko et al., The VoicePrivacy 2020 Challenge, 2022, sec. 3.2.1 (M1c2)"
    VERSION: ClassVar[int] = 1
    name: ClassVar[str] = "copy"
    state_type: ClassVar[type] = PoolSize
    stochastic: ClassVar[bool] = False
    follows_original: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.gender == "cross":
            raise ConfigError("copy: gender cannot be 'cross'; a copied voice keeps its gender")

    @property
    def min_vectors(self) -> int:
        """One is enough to know the dimension."""
        return 1

    def fit_group(self, vectors: Floats, rng: np.random.Generator) -> PoolSize:  # noqa: ARG002 - nothing is drawn
        """Learn nothing."""
        return PoolSize(len(vectors))

    def generate(self, request: Request[PoolSize]) -> Floats:
        """Give the vector back."""
        return request.vector.copy()


@dataclass(frozen=True)
class Random(PerGender[CandidateVectors]):
    """A new voice mixed from a few of the pool, whoever the speaker is.

    Parameters
    ----------
    mix : how many vectors of the pool are blended; 1 hands out real people.
    """

    paper: ClassVar[str] = ""
    VERSION: ClassVar[int] = 1
    name: ClassVar[str] = "random"
    state_type: ClassVar[type] = CandidateVectors

    mix: int = 10

    def __post_init__(self) -> None:
        check_mix(self.name, self.mix)

    @property
    def min_vectors(self) -> int:
        """Enough to blend one vector and to have others."""
        return self.mix + 1

    def fit_group(self, vectors: Floats, rng: np.random.Generator) -> CandidateVectors:  # noqa: ARG002 - drawn later
        """Keep the vectors."""
        return CandidateVectors(vectors.astype(np.float32))

    def generate(self, request: Request[CandidateVectors]) -> Floats:
        """Blend a vector."""
        blended: Floats = blend(request.state.vectors, 1, mix=self.mix, rng=request.rng)[0]
        return blended


@dataclass(frozen=True)
class Keyed(PerGender[CandidateVectors]):
    """One voice of a numbered list that is mixed once: the same key and name always give the same number.

    Parameters
    ----------
    voices : how many pseudo-speakers the list holds for each gender.
    mix : how many vectors of the pool each is blended of; 1 hands out real people.
    """

    paper: ClassVar[str] = ""
    VERSION: ClassVar[int] = 1
    name: ClassVar[str] = "keyed"
    state_type: ClassVar[type] = CandidateVectors

    voices: int = 1000
    mix: int = 10

    def __post_init__(self) -> None:
        check_mix(self.name, self.mix)
        if self.voices < 2:
            raise ConfigError(f"keyed: voices must be at least 2, not {self.voices}")

    @property
    def min_vectors(self) -> int:
        """Enough to blend one vector and to have others."""
        return self.mix + 1

    def fit_group(self, vectors: Floats, rng: np.random.Generator) -> CandidateVectors:
        """Blend the list."""
        blended = blend(vectors.astype(np.float32), self.voices, mix=self.mix, rng=rng)
        return CandidateVectors(blended.astype(np.float32))

    def generate(self, request: Request[CandidateVectors]) -> Floats:
        """Choose from the list."""
        vectors = request.state.vectors
        chosen: NDArray[np.float32] = vectors[int(request.rng.integers(len(vectors)))]
        return chosen.astype(np.float64)
