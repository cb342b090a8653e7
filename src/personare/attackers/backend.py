"""The cheap strong attacker: what a pretrained embedder hears, re-learnt on anonymized speech of other speakers.

Vectors are centred, projected to the directions in which speakers differ (LDA), whitened within speakers (WCCN), scaled
to length 1 [garciaromero2011analysis], and compared by PLDA or cosine. Nothing is fitted but from ``TrainingVectors``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from personare.attackers.plda import Plda, class_sums, fit_plda
from personare.attackers.split import TrainingVectors
from personare.core.errors import ConfigError
from personare.core.speakers import refuse_overlap
from personare.core.vectors import cosine, unit_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Backend:
    """What to learn from anonymized vectors.

    Parameters
    ----------
    lda : dimensions kept, 0 for no LDA; never more than training speakers - 1 (with few speakers, better none).
    shrinkage : share of every covariance replaced by a sphere (few training speakers need more); 0.7 is what 128
        training speakers chose among themselves (``choosing``), for McAdams and for the WORLD warp.
    wccn : whiten the variation within speakers.
    scorer : how the projected vectors are compared.
    iterations : rounds of PLDA's expectation-maximisation.
    """

    lda: int = 0
    shrinkage: float = 0.7
    wccn: bool = True
    scorer: Literal["plda", "cosine"] = "plda"
    iterations: int = 20

    def __post_init__(self) -> None:
        if self.lda < 0:
            raise ConfigError(f"lda must be 0 (none) or the number of dimensions kept, not {self.lda}")
        if not 0 <= self.shrinkage <= 1:
            raise ConfigError(f"shrinkage must lie between 0 and 1, not {self.shrinkage}")

    def fit(self, training: TrainingVectors) -> FittedBackend:
        """Learn from the training."""
        x = unit_rows(training.vectors)
        mean = x.mean(0)
        projection = np.eye(x.shape[1])
        if self.lda:
            projection = projection @ lda_projection(x, training.speaker, dimensions=self.lda, shrinkage=self.shrinkage)
        if self.wccn:
            projection = projection @ wccn_projection(
                (x - mean) @ projection, training.speaker, shrinkage=self.shrinkage
            )
        projected = unit_rows((x - mean) @ projection, dtype=np.float32)
        plda = self._plda(projected, training.speaker) if self.scorer == "plda" else None
        return FittedBackend(mean, projection, plda, frozenset(training.names))

    def _plda(self, projected: NDArray[np.float32], speaker: NDArray[np.int64]) -> Plda:
        """Fit, then let speakers differ a little in every direction: few of them do not fill the space."""
        found = fit_plda(projected, speaker, iterations=self.iterations)
        return Plda(found.mean, _shrunk(found.between, self.shrinkage), _shrunk(found.within, self.shrinkage))


@dataclass(frozen=True, eq=False)
class FittedBackend:
    """A Scorer of raw vectors; ``trained_on`` names the training speakers, whom it refuses to attack."""

    mean: Floats
    projection: Floats
    plda: Plda | None
    trained_on: frozenset[str]

    def check(self, attacked: Iterable[str]) -> None:
        """Refuse speakers it has learnt from."""
        refuse_overlap(self.trained_on, attacked)

    def project(self, vectors: NDArray[Any]) -> NDArray[np.float32]:
        """Raw vectors [n, d] in the learnt space, of length 1."""
        return unit_rows((unit_rows(vectors) - self.mean) @ self.projection, dtype=np.float32)

    def __call__(self, test: NDArray[np.float32], enroll: NDArray[np.float32]) -> NDArray[Any]:
        """Compare every test [n, d] with every enrolled [m, d]."""
        x, m = self.project(test), self.project(enroll)
        return cosine(x, m) if self.plda is None else self.plda(x, m)


def _scatter(x: Floats, speaker: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Covariance within and between speakers."""
    counts = np.bincount(speaker)
    means = class_sums(x, speaker) / counts[:, None]
    inside = x - means[speaker]
    between = (means - x.mean(0)).T @ ((means - x.mean(0)) * counts[:, None])
    return inside.T @ inside / len(x), between / len(x)


def _shrunk(covariance: Floats, share: float) -> Floats:
    d = len(covariance)
    sphere = np.trace(covariance) / d
    result: Floats = (1 - share) * covariance + (share * sphere + 1e-10) * np.eye(d)
    return result


def lda_projection(vectors: NDArray[Any], speaker: NDArray[np.int64], *, dimensions: int, shrinkage: float) -> Floats:
    """Directions [d, k] in which speakers differ most for what they vary within, k <= speakers - 1."""
    from scipy import linalg

    within, between = _scatter(vectors.astype(np.float64), speaker)
    _, directions = linalg.eigh(between, _shrunk(within, shrinkage))
    kept = min(dimensions, int(speaker.max()), vectors.shape[1])
    if kept < 1:
        raise ConfigError("LDA needs at least two training speakers")
    projection: Floats = directions[:, ::-1][:, :kept]
    return projection


def wccn_projection(vectors: NDArray[Any], speaker: NDArray[np.int64], *, shrinkage: float) -> Floats:
    """Whitening [d, d] of the variation within speakers: projection projection' = W^-1 [hatch2006within]."""
    within, _ = _scatter(vectors.astype(np.float64), speaker)
    projection: Floats = np.linalg.cholesky(np.linalg.inv(_shrunk(within, shrinkage)))
    return projection
