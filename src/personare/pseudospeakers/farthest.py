"""B1, the baseline of the VoicePrivacy challenges: the average of many vectors that are all far from the speaker's.

x* = mean of N* = 100 vectors drawn from the N = 200 of the pool that are farthest from x
                                                                          [tomashenko2022voiceprivacy, sec. 3.1, note 6]
Farthest by PLDA (any scorer can be given, higher meaning more alike) or by cosine. Averages of 100 speakers are all
much alike: the pseudo-speakers cannot be told from each other any more.
Deviations: none; gender may be crossed or ignored, as in the challenge's later releases.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from personare.core.errors import ConfigError
from personare.core.vectors import cosine
from personare.pseudospeakers.generator import FittedGenerator, PerGender, Request, Scorer

if TYPE_CHECKING:
    from personare.pseudospeakers.pool import SpeakerPool

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CandidateVectors:
    """Vectors to choose from: ``vectors`` [n, d]."""

    vectors: NDArray[np.float32]


@dataclass(frozen=True)
class FarthestMean(PerGender[CandidateVectors]):
    """Average of voices drawn from the farthest ones of the pool (B1).

    Parameters
    ----------
    farthest : N, how many of the least similar vectors are candidates.
    average : N*, how many of them are drawn and averaged.
    distance : ``cosine``, or ``scorer`` for a scorer given to ``fit`` (such as a PLDA).
    """

    paper: ClassVar[str] = "Tomashenko et al., The VoicePrivacy 2020 Challenge, 2022, sec. 3.1 (B1)"
    VERSION: ClassVar[int] = 1
    name: ClassVar[str] = "b1"
    state_type: ClassVar[type] = CandidateVectors
    dissimilar: ClassVar[bool] = True

    farthest: int = 200
    average: int = 100
    distance: Literal["cosine", "scorer"] = "cosine"

    def __post_init__(self) -> None:
        if not 1 <= self.average <= self.farthest:
            raise ConfigError(f"b1: average must lie in 1..farthest ({self.farthest}), not {self.average}")

    @property
    def min_vectors(self) -> int:
        """As many as are candidates."""
        return self.farthest

    @property
    def remedy(self) -> str:
        """Fewer candidates."""
        return "take a larger pool or lower 'farthest' and 'average'"

    def fit(
        self, pool: SpeakerPool, *, rng: np.random.Generator, scorer: Scorer | None = None
    ) -> FittedGenerator[CandidateVectors]:
        """Keep the pool; ``scorer(vectors [n, d], others [m, d])`` gives the similarity [n, m]."""
        if (self.distance == "scorer") != (scorer is not None):
            raise ConfigError(
                f"b1: distance is '{self.distance}' {'but no' if scorer is None else 'but a'} scorer is given"
            )
        return replace(super().fit(pool, rng=rng), scorer=scorer)

    def fit_group(self, vectors: Floats, rng: np.random.Generator) -> CandidateVectors:  # noqa: ARG002 - nothing is drawn
        """Keep the vectors as they are."""
        return CandidateVectors(vectors.astype(np.float32))

    def generate(self, request: Request[CandidateVectors]) -> Floats:
        """Average some of the farthest vectors."""
        compare = request.scorer or cosine
        similarity = np.asarray(compare(request.vector[None], request.state.vectors))[0]
        candidates = np.argsort(similarity, kind="stable")[: self.farthest]
        drawn = request.rng.choice(candidates, size=self.average, replace=False)
        mean: Floats = request.state.vectors[drawn].astype(np.float64).mean(axis=0)
        return mean
