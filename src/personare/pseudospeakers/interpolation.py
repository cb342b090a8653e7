"""SALT: a few speakers of the pool, drawn at random, blended with random weights; also beyond them (extrapolation).

w  = softmax(e),  e ~ N(0, 1) for each of k drawn speakers p_i                      [lv2023salt, speaker blender]
w' = (1 + a) w - a / k        extrapolation by a: the weights still sum to 1, and small ones become negative
x* = (1 - q) sum_i w'_i p_i + q x            the speaker's own vector keeps the share q (preservation)

Deviations: the paper blends WavLM frames, each replaced by its nearest frames of one pool speaker (kNN-VC); our
synthesizer takes one speaker vector, so the vectors of the speaker encoder are blended. k = 4, a = 0 and q = 0 are the
defaults of the authors' public program; the paper's own table of settings is not in the text at hand. Weights are drawn
again while one of them is above ``heaviest``: a voice that is mostly one person would hand out that person.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from personare.core.errors import ConfigError
from personare.pseudospeakers.autoencoder import softmax
from personare.pseudospeakers.farthest import CandidateVectors
from personare.pseudospeakers.generator import PerGender, Request

Floats = NDArray[np.float64]

_DRAWS = 256


def extrapolated(weights: Floats, amount: float) -> Floats:
    """Move weights [n, k] away from the even blend by ``amount``; their sum stays.

    >>> extrapolated(np.array([[0.6, 0.4]]), 2.0).round(3)
    array([[0.8, 0.2]])
    """
    moved: Floats = (1 + amount) * weights - amount / weights.shape[1]
    return moved


@dataclass(frozen=True)
class Interpolated(PerGender[CandidateVectors]):
    """A random blend of a few speakers of the pool, or a voice beyond them (SALT).

    Parameters
    ----------
    speakers : how many speakers of the pool are blended.
    extrapolation : how far weights are moved from the even blend; above 0, some become negative.
    preservation : share of the speaker's own vector that stays; above 0, something of the speaker does too.
    heaviest : largest weight of one speaker; 1 allows voices that are nearly one person's.
    """

    paper: ClassVar[str] = "Lv et al., SALT, 2023"
    VERSION: ClassVar[int] = 1
    name: ClassVar[str] = "salt"
    state_type: ClassVar[type] = CandidateVectors

    speakers: int = 4
    extrapolation: float = 0.0
    preservation: float = 0.0
    heaviest: float = 0.4

    def __post_init__(self) -> None:
        if self.speakers < 2:
            raise ConfigError(f"salt: speakers must be at least 2, not {self.speakers}")
        if not 0 <= self.extrapolation < np.inf:
            raise ConfigError(f"salt: extrapolation must be a number from 0 on, not {self.extrapolation}")
        if not 0 <= self.preservation < 1:
            raise ConfigError(f"salt: preservation is a share from 0 to under 1, not {self.preservation}")
        if not 1 / self.speakers < self.heaviest:
            raise ConfigError(f"salt: heaviest must be above 1/speakers = {1 / self.speakers:.3g}, not {self.heaviest}")

    @property
    def min_vectors(self) -> int:
        """Enough to blend one vector and to have others."""
        return self.speakers + 1

    def fit_group(self, vectors: Floats, rng: np.random.Generator) -> CandidateVectors:  # noqa: ARG002 - drawn later
        """Keep the vectors."""
        return CandidateVectors(vectors.astype(np.float32))

    def generate(self, request: Request[CandidateVectors]) -> Floats:
        """Draw speakers and weights, and blend."""
        vectors = request.state.vectors
        rows = request.rng.choice(len(vectors), size=self.speakers, replace=False)
        blended = self.draw_weights(request.rng) @ vectors[rows].astype(np.float64)
        kept: Floats = (1 - self.preservation) * blended + self.preservation * request.vector
        return kept

    def draw_weights(self, rng: np.random.Generator) -> Floats:
        """Draw the weights [k] of one blend: the first of many draws without too heavy a one, else the most even."""
        weights = extrapolated(softmax(rng.standard_normal((_DRAWS, self.speakers))), self.extrapolation)
        largest = weights.max(axis=1)
        allowed = np.flatnonzero(largest <= self.heaviest)
        chosen: Floats = weights[allowed[0] if len(allowed) else int(largest.argmin())]
        return chosen
