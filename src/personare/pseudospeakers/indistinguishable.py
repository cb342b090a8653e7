"""K2, voice-indistinguishability: a random choice that hides how near a speaker is, with a bound one can state.

Pr{y | x} ~ exp(-eps/2 d(x, y))  over a fixed list of vectors y,  d(x, y) = arccos(cos(x, y)) / pi   (angle, 0 to 1)
Pr{y | x} / Pr{y | x'} <= exp(eps d(x, x'))  for every y and any two speakers x, x'        [han2020indistinguishability]

A small eps hides more: at eps = 1 any answer is at most e = 2.7 times as likely for one speaker as for any other. Each
further answer for the same speaker adds its eps. Nearby vectors are preferred: a large eps gives vectors like the own.
Deviations: eps is halved inside, as the normaliser depends on x too: so the stated eps is the true bound. The list is
blended from the pool (``mix`` 1: the pool itself, as in the paper, that is real people).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from personare.core.errors import ConfigError
from personare.core.vectors import angles
from personare.pseudospeakers.farthest import CandidateVectors
from personare.pseudospeakers.generator import PerGender, Request
from personare.pseudospeakers.selection import blend, check_mix

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Indistinguishable(PerGender[CandidateVectors]):
    """Chosen from a list with a probability that falls with the angle, under a stated privacy bound (K2).

    Parameters
    ----------
    epsilon : the bound: any two speakers' odds of any answer differ at most by exp(epsilon * angle), angle 0 to 1.
    voices : how many pseudo-speakers the list holds for each gender.
    mix : how many vectors of the pool each is blended of; 1 takes the pool itself, that is real people.
    """

    paper: ClassVar[str] = "Han et al., 2020; Tomashenko et al., The VoicePrivacy 2020 Challenge, 2022, sec. 3.2.1 (K2)"
    VERSION: ClassVar[int] = 1
    name: ClassVar[str] = "k2"
    state_type: ClassVar[type] = CandidateVectors

    epsilon: float = 1.0
    voices: int = 1000
    mix: int = 10

    def __post_init__(self) -> None:
        check_mix(self.name, self.mix)
        if not self.epsilon > 0 or not np.isfinite(self.epsilon):
            raise ConfigError(f"k2: epsilon must be a positive number, not {self.epsilon}")
        if self.voices < 2:
            raise ConfigError(f"k2: voices must be at least 2, not {self.voices}")

    @property
    def min_vectors(self) -> int:
        """Enough to blend one vector and to have others."""
        return self.mix + 1

    def fit_group(self, vectors: Floats, rng: np.random.Generator) -> CandidateVectors:
        """Make the list; it never depends on the speakers who are anonymized later."""
        kept = vectors.astype(np.float32)
        return CandidateVectors(
            kept if self.mix == 1 else blend(kept, self.voices, mix=self.mix, rng=rng).astype(np.float32)
        )

    def generate(self, request: Request[CandidateVectors]) -> Floats:
        """Draw from the list."""
        p = probabilities(request.vector, request.state.vectors, epsilon=self.epsilon)
        chosen: NDArray[np.float32] = request.state.vectors[int(request.rng.choice(len(p), p=p))]
        return chosen.astype(np.float64)


def probabilities(vector: NDArray[np.float64], candidates: NDArray[np.float32], *, epsilon: float) -> Floats:
    """Probability of every candidate [n] for this speaker [d] (exponential mechanism)."""
    weights = -0.5 * epsilon * angles(vector[None], candidates)[0]
    unnormalized = np.exp(weights - weights.max())
    result: Floats = unnormalized / unnormalized.sum()
    return result
