"""O1 and O1c1: vectors drawn from the distribution of real ones, so that pseudo-speakers differ as real ones do.

y = P (x - m)  keeps 0.9 of the pool's variance (PCA);  p(y) is a Gaussian mixture;  x* = m + P' y*,  y* ~ p
O1c1 draws again while cos(x*, x) is above a limit, at most 1000 times, else takes the least similar
                                                [turner2020distribution; tomashenko2022voiceprivacy, sec. 3.2.1]
Deviations: the limit of O1c1 is not published; without one given it is the median cosine of two speakers of the pool. A
group of fewer vectors than components takes as many components as a fifth of its vectors.
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

_VECTORS_PER_COMPONENT = 5


@dataclass(frozen=True, eq=False)
class PrincipalState:
    """``mean`` [d], ``axes`` [k, d] of unit length, the ``mixture`` in k dimensions, and the ``nontarget_cosine``."""

    mean: Floats
    axes: Floats
    mixture: Mixture
    nontarget_cosine: float

    def draw(self, count: int, rng: np.random.Generator) -> Floats:
        """Draw vectors [count, d]."""
        drawn: Floats = self.mean + self.mixture.sample(count, rng) @ self.axes
        return drawn


@dataclass(frozen=True)
class PrincipalMixture(PerGender[PrincipalState]):
    """Drawn from a Gaussian mixture on the pool's principal axes, so that voices differ as real ones do (O1).

    Parameters
    ----------
    variance : share of the pool's variance that the principal axes keep.
    components : Gaussians of the mixture, for each gender.
    """

    paper: ClassVar[str] = (
        "Turner et al., 2020; Tomashenko et al., The VoicePrivacy 2020 Challenge, 2022, sec. 3.2.1 (O1)"
    )
    VERSION: ClassVar[int] = 1
    name: ClassVar[str] = "o1"
    state_type: ClassVar[type] = PrincipalState

    variance: float = 0.9
    components: int = 20

    def __post_init__(self) -> None:
        if not 0 < self.variance <= 1:
            raise ConfigError(f"{self.name}: variance must lie in 0..1, not {self.variance}")
        if self.components < 1:
            raise ConfigError(f"{self.name}: components must be at least 1, not {self.components}")

    @property
    def min_vectors(self) -> int:
        """Enough for two components."""
        return 2 * _VECTORS_PER_COMPONENT

    def fit_group(self, vectors: Floats, rng: np.random.Generator) -> PrincipalState:
        """Find the principal axes and fit the mixture on them."""
        mean = vectors.mean(axis=0)
        _, sizes, axes = np.linalg.svd(vectors - mean, full_matrices=False)
        explained = np.cumsum(sizes**2) / max(float((sizes**2).sum()), 1e-30)
        kept = axes[: int(np.searchsorted(explained, self.variance - 1e-12)) + 1]
        components = min(self.components, len(vectors) // _VECTORS_PER_COMPONENT)
        mixture, _ = fit_mixture((vectors - mean) @ kept.T, components, rng=rng)
        return PrincipalState(mean, kept, mixture, nontarget_cosine(vectors))

    def generate(self, request: Request[PrincipalState]) -> Floats:
        """Draw a vector, whoever the speaker is."""
        drawn: Floats = request.state.draw(1, request.rng)[0]
        return drawn


@dataclass(frozen=True)
class DissimilarPrincipalMixture(RejectionSampled[PrincipalState], PrincipalMixture):
    """As O1, drawn again until the voice is unlike the speaker's (O1c1).

    Parameters
    ----------
    limit : highest cosine to the original; without one, the median cosine of two different speakers in the pool.
    tries : how many vectors are drawn before the least similar of them is taken.
    """

    VERSION: ClassVar[int] = 1
    name: ClassVar[str] = "o1c1"
