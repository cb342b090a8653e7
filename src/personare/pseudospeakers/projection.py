"""RP + GMM (+ SC): vectors drawn from a Gaussian mixture in a randomly projected space.

y  = R x,  R [k, d] with entries N(0, 1/k)                                          [wang2026rpgmm, sec. 3, eq. 1]
k >= 4 ln n / (e^2/2 - e^3/3)  keeps all distances of n points within 1 +- e     [dasgupta2003jl; wang2026rpgmm, sec. 3]
p(y) a diagonal Gaussian mixture of C components; the (e, C) of highest entropy of a grid win  [wang2026rpgmm, sec. 5.2]
x* = R+ y*,  y* ~ p (pseudo-inverse);  SC: draw again while cos(x*, x) is above a limit          [wang2026rpgmm, sec. 4]

Half of the vectors of a gender train, as in the paper; the other half only tells how well the mixture fits others.
Deviations: the paper's text at hand has lost its constants: grid and limit are ours (limit: the median cosine of two
speakers). The pseudo-inverse makes deviations k / (d - k - 1) times as strong: grid points with k near d are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from personare.core.errors import ConfigError
from personare.pseudospeakers.generator import PerGender, Request
from personare.pseudospeakers.mixture import Mixture, fit_mixture
from personare.pseudospeakers.rejection import RejectionSampled, nontarget_cosine

Floats = NDArray[np.float64]

_VECTORS_PER_COMPONENT = 4
_FEWEST = 20


def projected_dimension(n: int, epsilon: float) -> int:
    """Smallest k by the Johnson-Lindenstrauss bound: n points keep their distances within 1 +- epsilon.

    >>> projected_dimension(300, 0.5)
    274
    """
    if not 0 < epsilon < 1:
        raise ConfigError(f"epsilon must lie between 0 and 1, not {epsilon}")
    return int(np.ceil(4 * np.log(n) / (epsilon**2 / 2 - epsilon**3 / 3)))


def gaussian_matrix(k: int, d: int, rng: np.random.Generator) -> Floats:
    """Draw the random projection R [k, d], entries N(0, 1/k)."""
    drawn: Floats = rng.standard_normal((k, d)) / np.sqrt(k)
    return drawn


@dataclass(frozen=True, eq=False)
class ProjectedState:
    """The ``mixture`` in k dimensions, the pseudo-inverse ``back`` [d, k], the ``nontarget_cosine`` and the ``grid``.

    Each row of ``grid`` is (epsilon, k, C, entropy, mean log-likelihood of the held-out half), the best one first.
    """

    mixture: Mixture
    back: Floats
    nontarget_cosine: float
    grid: Floats

    def draw(self, count: int, rng: np.random.Generator) -> Floats:
        """Draw vectors [count, d]."""
        drawn: Floats = self.mixture.sample(count, rng) @ self.back.T
        return drawn


@dataclass(frozen=True)
class ProjectedMixture(PerGender[ProjectedState]):
    """Drawn from a Gaussian mixture in a randomly projected space (RP + GMM).

    Parameters
    ----------
    epsilons : distortions of distance to try; each gives a dimension by the Johnson-Lindenstrauss bound.
    components : numbers of Gaussians to try; the pair of highest entropy wins.
    samples : points from which an entropy is estimated.
    training : share of a gender's vectors that train; the rest is held out.
    widest : largest share of the dimensions that a projection may keep.
    """

    paper: ClassVar[str] = "Wang et al., RP + GMM, 2026"
    VERSION: ClassVar[int] = 1
    name: ClassVar[str] = "rp_gmm"
    state_type: ClassVar[type] = ProjectedState

    epsilons: tuple[float, ...] = (0.5, 0.6, 0.7, 0.8, 0.9)
    components: tuple[int, ...] = (5, 10, 20)
    samples: int = 1000
    training: float = 0.5
    widest: float = 0.6

    def __post_init__(self) -> None:
        if not self.epsilons or not all(0 < e < 1 for e in self.epsilons):
            raise ConfigError(f"{self.name}: epsilons must lie between 0 and 1, not {list(self.epsilons)}")
        if not self.components or min(self.components) < 1:
            raise ConfigError(f"{self.name}: components must be at least 1, not {list(self.components)}")
        if not 0 < self.training < 1 or not 0 < self.widest <= 1 or self.samples < 1:
            raise ConfigError(f"{self.name}: training and widest are shares between 0 and 1, samples are positive")

    @property
    def min_vectors(self) -> int:
        """Enough to train on a half and hold out the other."""
        return _FEWEST

    def fit_group(self, vectors: Floats, rng: np.random.Generator) -> ProjectedState:
        """Fit every pair of the grid and keep the one of highest entropy."""
        order = rng.permutation(len(vectors))
        n = max(2, round(self.training * len(vectors)))
        train, held_out = vectors[order[:n]], vectors[order[n:]]
        tried = []
        for epsilon, k in self._dimensions(n, vectors.shape[1]):
            matrix = gaussian_matrix(k, vectors.shape[1], rng)
            for count in sorted({min(c, max(1, n // _VECTORS_PER_COMPONENT)) for c in self.components}):
                mixture, _ = fit_mixture(train @ matrix.T, count, rng=rng)
                entropy = mixture.entropy(rng, samples=self.samples)
                fits = float(mixture.log_density(held_out @ matrix.T).mean())
                tried.append(((epsilon, k, count, entropy, fits), mixture, matrix))
        tried.sort(key=lambda row: -row[0][3])
        _, mixture, matrix = tried[0]
        grid = np.array([row for row, _, _ in tried])
        back = np.linalg.pinv(matrix).astype(np.float64)
        return ProjectedState(mixture, back, nontarget_cosine(vectors), grid)

    def _dimensions(self, n: int, d: int) -> list[tuple[float, int]]:
        """The epsilons of the grid with their k, as far as k is well under d."""
        bounds = [(epsilon, projected_dimension(n, epsilon)) for epsilon in self.epsilons]
        fitting = [(epsilon, k) for epsilon, k in bounds if k <= self.widest * d and k < d]
        if not fitting:
            lowest = min(k for _, k in bounds)
            raise ConfigError(
                f"{self.name}: {n} voices need at least {lowest} dimensions by the Johnson-Lindenstrauss bound, of {d}"
                f" dimensions {int(self.widest * d)} may be kept; raise 'epsilons' or 'widest', or take longer vectors"
            )
        return fitting

    def generate(self, request: Request[ProjectedState]) -> Floats:
        """Draw a vector, whoever the speaker is."""
        drawn: Floats = request.state.draw(1, request.rng)[0]
        return drawn


@dataclass(frozen=True)
class CheckedProjectedMixture(RejectionSampled[ProjectedState], ProjectedMixture):
    """As RP + GMM, drawn again until the voice is unlike the speaker's (RP + GMM + SC).

    Parameters
    ----------
    limit : highest cosine to the original; without one, the median cosine of two different speakers in the pool.
    tries : how many vectors are drawn before the least similar of them is taken.
    """

    VERSION: ClassVar[int] = 1
    name: ClassVar[str] = "rp_gmm_sc"
