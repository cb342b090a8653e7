"""B1, the baseline of the VoicePrivacy challenges: the average of many voices that are all unlike the speaker's.

x* = mean of N* = 100 vectors drawn from the N = 200 of the pool that are farthest from x
                                                                          [tomashenko2022voiceprivacy, sec. 3.1, note 6]
Farthest by PLDA (any scorer can be given, higher meaning more alike) or by cosine. Averages of 100 people are all much
alike: the speakers hide in a small crowd, and cannot be told from each other any more.
Deviations: none; gender may be crossed or ignored, as in the challenge's later releases.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from personare.core.errors import ConfigError
from personare.pseudospeakers.recipe import Asked, Fitted, PerGender, Scorer
from personare.pseudospeakers.vectors import cosines

if TYPE_CHECKING:
    from personare.pseudospeakers.pool import Pool

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Voices:
    """Voices to choose from: ``vectors`` [n, d]."""

    vectors: NDArray[np.float32]


@dataclass(frozen=True)
class FarthestMean(PerGender[Voices]):
    """Average of voices drawn from the farthest ones of the pool (B1).

    Parameters
    ----------
    farthest : N, how many of the least similar voices are candidates.
    average : N*, how many of them are drawn and averaged.
    distance : ``cosine``, or ``scorer`` for a scorer given to ``fit`` (such as a PLDA).
    """

    paper: ClassVar[str] = "Tomashenko et al., The VoicePrivacy 2020 Challenge, 2022, sec. 3.1 (B1)"
    name: ClassVar[str] = "b1"
    learnt: ClassVar[type] = Voices
    dissimilar: ClassVar[bool] = True

    farthest: int = 200
    average: int = 100
    distance: Literal["cosine", "scorer"] = "cosine"

    def __post_init__(self) -> None:
        if not 1 <= self.average <= self.farthest:
            raise ConfigError(f"b1: average must lie in 1..farthest ({self.farthest}), not {self.average}")

    @property
    def fewest(self) -> int:
        """As many as are candidates."""
        return self.farthest

    @property
    def remedy(self) -> str:
        """Fewer candidates."""
        return "take a larger pool or lower 'farthest' and 'average'"

    def fit(self, pool: Pool, *, rng: np.random.Generator, scorer: Scorer | None = None) -> Fitted[Voices]:
        """Keep the pool; ``scorer(vectors [n, d], others [m, d])`` gives likeness [n, m]."""
        if (self.distance == "scorer") != (scorer is not None):
            raise ConfigError(
                f"b1: distance is '{self.distance}' {'but no' if scorer is None else 'but a'} scorer is given"
            )
        return replace(super().fit(pool, rng=rng), scorer=scorer)

    def learn(self, vectors: Floats, rng: np.random.Generator) -> Voices:  # noqa: ARG002 - nothing is drawn
        """Keep the vectors as they are."""
        return Voices(vectors.astype(np.float32))

    def invent(self, asked: Asked[Voices]) -> Floats:
        """Average some of the farthest voices."""
        compare = asked.scorer or cosines
        likeness = np.asarray(compare(asked.vector[None], asked.voices.vectors))[0]
        candidates = np.argsort(likeness, kind="stable")[: self.farthest]
        drawn = asked.rng.choice(candidates, size=self.average, replace=False)
        mean: Floats = asked.voices.vectors[drawn].astype(np.float64).mean(axis=0)
        return mean
