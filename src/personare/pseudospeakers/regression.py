"""A1, decomposition with ensemble regression: dimensions of low and high variance, each moved by its own model.

The dimensions of the vectors are divided by their variance over the pool: low (said to carry the speaker) and high. Two
kinds of regression, each an ensemble, are trained to map a vector to one that is unlike it: ridge regressions on
resampled pools for the low part, averages of nearest neighbours for the high part.
                                                      [mawalim2020singular; tomashenko2022voiceprivacy, sec. 3.2.1 (A1)]

Deviations: the paper's models and training pairs are not in the text at hand. Here each vector of the pool is
paired with one drawn from the least similar tenth; each new vector averages a random half of the ensemble. Regression
draws to the mean: expect vectors nearly as much alike as those of B1, and little less like the original than others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from personare.core.errors import ConfigError
from personare.core.vectors import cosine
from personare.pseudospeakers.generator import PerGender, Request

Floats = NDArray[np.float64]

_UNLIKE_SHARE = 0.1
_FEWEST = 20


@dataclass(frozen=True, eq=False)
class RegressionState:
    """What is learnt: the two parts, the ridge ensemble, and the pairs among which neighbours are sought.

    ``low``, ``high`` are dimensions; ``mean`` [low] and ``slopes`` [M, low, low], ``offsets`` [M, low] map the low;
    ``sources`` and ``targets`` [n, high] with the resampled ``rows`` [M, n] map the high.
    """

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    mean: Floats
    slopes: NDArray[np.float32]
    offsets: Floats
    sources: NDArray[np.float32]
    targets: NDArray[np.float32]
    rows: NDArray[np.int64]


@dataclass(frozen=True)
class SplitRegression(PerGender[RegressionState]):
    """Steady and varying parts of the vector, each led to unlike voices by its own ensemble of regressions (A1).

    Parameters
    ----------
    low : share of the dimensions, those of lowest variance, that form the steady part.
    members : models in each ensemble.
    ridge : penalty on the slopes, in units of the pool's variance times its size.
    neighbours : vectors averaged by each model of the varying part.
    """

    paper: ClassVar[str] = (
        "Mawalim et al., 2020; Tomashenko et al., The VoicePrivacy 2020 Challenge, 2022, sec. 3.2.1 (A1)"
    )
    VERSION: ClassVar[int] = 1
    name: ClassVar[str] = "a1"
    state_type: ClassVar[type] = RegressionState
    dissimilar: ClassVar[bool] = True

    low: float = 0.5
    members: int = 8
    ridge: float = 0.1
    neighbours: int = 10

    def __post_init__(self) -> None:
        if not 0 < self.low < 1:
            raise ConfigError(f"a1: low is a share between 0 and 1, not {self.low}")
        if self.members < 2 or self.neighbours < 2 or not self.ridge > 0:
            raise ConfigError("a1: members and neighbours must be at least 2, ridge positive")

    @property
    def min_vectors(self) -> int:
        """Enough for neighbours that are not the whole pool."""
        return max(_FEWEST, 2 * self.neighbours)

    def fit_group(self, vectors: Floats, rng: np.random.Generator) -> RegressionState:
        """Pair every vector with an unlike one, and fit both ensembles."""
        n, d = vectors.shape
        partners = vectors[_unlike_partners(vectors, rng)]
        order = np.argsort(vectors.var(axis=0), kind="stable")
        cut = min(max(1, round(self.low * d)), d - 1)
        low, high = np.sort(order[:cut]), np.sort(order[cut:])
        rows = rng.integers(n, size=(self.members, n))
        mean = vectors[:, low].mean(axis=0)
        fits = [_ridge(vectors[r][:, low] - mean, partners[r][:, low], self.ridge) for r in rows]
        slopes = np.stack([slope for slope, _ in fits]).astype(np.float32)
        sources, targets = (v[:, high].astype(np.float32) for v in (vectors, partners))
        return RegressionState(low, high, mean, slopes, np.stack([o for _, o in fits]), sources, targets, rows)

    def generate(self, request: Request[RegressionState]) -> Floats:
        """Map each part by a random half of its ensemble."""
        vector, state, rng = request.vector, request.state, request.rng
        half = max(1, self.members // 2)
        mapped = np.empty_like(vector)
        chosen = rng.choice(self.members, size=half, replace=False)
        steady = vector[state.low] - state.mean
        mapped[state.low] = np.mean([steady @ state.slopes[m] + state.offsets[m] for m in chosen], axis=0)
        similarity = cosine(vector[None, state.high], state.sources)[0]
        varying = []
        for m in rng.choice(self.members, size=half, replace=False):
            rows = state.rows[m]
            nearest = rows[np.argsort(-similarity[rows], kind="stable")[: self.neighbours]]
            varying.append(state.targets[nearest].astype(np.float64).mean(axis=0))
        mapped[state.high] = np.mean(varying, axis=0)
        return mapped


def _unlike_partners(vectors: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
    """For every vector, the number of one drawn from the least similar tenth."""
    few = max(2, round(_UNLIKE_SHARE * len(vectors)))
    farthest = np.argsort(cosine(vectors, vectors), axis=1, kind="stable")[:, :few]
    partners: NDArray[np.int64] = farthest[np.arange(len(vectors)), rng.integers(few, size=len(vectors))]
    return partners


def _ridge(sources: Floats, targets: Floats, penalty: float) -> tuple[Floats, Floats]:
    """Slopes [k, k] and offsets [k] that map sources [n, k] to targets [n, k]."""
    middle = targets.mean(axis=0)
    power = sources.T @ sources
    ridge = penalty * max(float(np.trace(power)) / len(power), 1e-12) * np.eye(len(power))
    slopes = np.linalg.solve(power + ridge, sources.T @ (targets - middle))
    return slopes, middle
