"""O1 and O1c1: voices drawn from the distribution of real ones, so that invented speakers differ as real ones do.

y = P (x - m)  keeps 0.9 of the pool's variance (PCA);  p(y) is a Gaussian mixture;  x* = m + P' y*,  y* ~ p
O1c1 draws again while cos(x*, x) is above a limit, at most 1000 times, else takes the least similar
                                                [turner2020distribution; tomashenko2022voiceprivacy, sec. 3.2.1]
Deviations: the limit of O1c1 is not published; without one given it is the median cosine of two strangers of the pool.
A group of fewer voices than components takes as many components as a fifth of its voices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from personare.core.errors import ConfigError
from personare.pseudospeakers.mixture import Mixture, fit_mixture
from personare.pseudospeakers.recipe import Asked, PerGender
from personare.pseudospeakers.unlike import DrawnUnlike, strangers

Floats = NDArray[np.float64]

_VOICES_PER_COMPONENT = 5


@dataclass(frozen=True, eq=False)
class PrincipalVoices:
    """``mean`` [d], ``axes`` [k, d] of unit length, the ``mixture`` in k dimensions; how alike ``strangers`` are."""

    mean: Floats
    axes: Floats
    mixture: Mixture
    strangers: float

    def draw(self, count: int, rng: np.random.Generator) -> Floats:
        """Draw voices [count, d]."""
        drawn: Floats = self.mean + self.mixture.sample(count, rng) @ self.axes
        return drawn


@dataclass(frozen=True)
class PrincipalMixture(PerGender[PrincipalVoices]):
    """Drawn from a Gaussian mixture in the pool's main directions, so that voices differ as real ones do (O1).

    Parameters
    ----------
    variance : share of the pool's variance that the main directions keep.
    components : bell curves of the mixture, for each gender.
    """

    paper: ClassVar[str] = (
        "Turner et al., 2020; Tomashenko et al., The VoicePrivacy 2020 Challenge, 2022, sec. 3.2.1 (O1)"
    )
    name: ClassVar[str] = "o1"
    learnt: ClassVar[type] = PrincipalVoices

    variance: float = 0.9
    components: int = 20

    def __post_init__(self) -> None:
        if not 0 < self.variance <= 1:
            raise ConfigError(f"{self.name}: variance must lie in 0..1, not {self.variance}")
        if self.components < 1:
            raise ConfigError(f"{self.name}: components must be at least 1, not {self.components}")

    @property
    def fewest(self) -> int:
        """Enough for two components."""
        return 2 * _VOICES_PER_COMPONENT

    def learn(self, vectors: Floats, rng: np.random.Generator) -> PrincipalVoices:
        """Find the main directions and fit the mixture in them."""
        mean = vectors.mean(axis=0)
        _, sizes, axes = np.linalg.svd(vectors - mean, full_matrices=False)
        explained = np.cumsum(sizes**2) / max(float((sizes**2).sum()), 1e-30)
        kept = axes[: int(np.searchsorted(explained, self.variance - 1e-12)) + 1]
        components = min(self.components, len(vectors) // _VOICES_PER_COMPONENT)
        mixture, _ = fit_mixture((vectors - mean) @ kept.T, components, rng=rng)
        return PrincipalVoices(mean, kept, mixture, strangers(vectors))

    def invent(self, asked: Asked[PrincipalVoices]) -> Floats:
        """Draw a voice, whoever the speaker is."""
        drawn: Floats = asked.voices.draw(1, asked.rng)[0]
        return drawn


@dataclass(frozen=True)
class DissimilarPrincipalMixture(DrawnUnlike[PrincipalVoices], PrincipalMixture):
    """As O1, drawn again until the voice is unlike the speaker's (O1c1).

    Parameters
    ----------
    limit : highest cosine to the original; without one, the median cosine of two strangers in the pool.
    tries : how many voices are drawn before the least similar of them is taken.
    """

    name: ClassVar[str] = "o1c1"
