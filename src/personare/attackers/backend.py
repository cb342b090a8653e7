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

MOST_NUMBERS = 2048  # of a vector: covariances of more take minutes to hours


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

    def fit(self, training: TrainingVectors, *, fits: BackendFits | None = None) -> FittedBackend:
        """Learn from the training; ``fits`` of the same training know what other back-ends have learnt already."""
        return (fits or BackendFits(training)).fit(self)


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


class BackendFits:
    """Fits back-ends to one training, and computes once what several of them share.

    LDA's directions depend on the shrinkage alone, and the projection is the same whatever compares in it: trying many
    settings costs little more than trying few.
    """

    def __init__(self, training: TrainingVectors) -> None:
        if training.vectors.shape[1] > MOST_NUMBERS:
            found = f"{training.vectors.shape[1]} numbers, and LDA, WCCN and PLDA take at most {MOST_NUMBERS}"
            raise ConfigError(f"vectors of this embedder have {found}; use scorer: adapted")
        self._training = training
        self._x = unit_rows(training.vectors)
        self._mean = self._x.mean(0)
        self._directions: dict[float, Floats] = {}
        self._projections: dict[tuple[int, float, bool], tuple[Floats, NDArray[np.float32]]] = {}

    def fit(self, backend: Backend) -> FittedBackend:
        """Learn one."""
        projection, projected = self._projected(backend.lda, backend.shrinkage, wccn=backend.wccn)
        plda = None
        if backend.scorer == "plda":
            found = fit_plda(projected, self._training.speaker, iterations=backend.iterations)
            # speakers differ a little in every direction: few of them do not fill the space
            covariances = (_shrunk(one, backend.shrinkage) for one in (found.between, found.within))
            plda = Plda(found.mean, *covariances)
        return FittedBackend(self._mean, projection, plda, frozenset(self._training.names))

    def _projected(self, lda: int, shrinkage: float, *, wccn: bool) -> tuple[Floats, NDArray[np.float32]]:
        """Give the projection, and the training in it."""
        key = (lda, shrinkage, wccn)
        if key not in self._projections:
            x, speaker = self._x, self._training.speaker
            projection = np.eye(x.shape[1])
            if lda:
                if shrinkage not in self._directions:
                    self._directions[shrinkage] = lda_directions(x, speaker, shrinkage=shrinkage)
                projection = projection @ _kept(self._directions[shrinkage], speaker, dimensions=lda)
            if wccn:
                projection = projection @ wccn_projection((x - self._mean) @ projection, speaker, shrinkage=shrinkage)
            self._projections[key] = projection, unit_rows((x - self._mean) @ projection, dtype=np.float32)
        return self._projections[key]


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
    return _kept(lda_directions(vectors, speaker, shrinkage=shrinkage), speaker, dimensions=dimensions)


def lda_directions(vectors: NDArray[Any], speaker: NDArray[np.int64], *, shrinkage: float) -> Floats:
    """All directions [d, d], those first in which speakers differ most for what they vary within."""
    from scipy import linalg

    within, between = _scatter(vectors.astype(np.float64), speaker)
    _, directions = linalg.eigh(between, _shrunk(within, shrinkage))
    ordered: Floats = directions[:, ::-1]
    return ordered


def _kept(directions: Floats, speaker: NDArray[np.int64], *, dimensions: int) -> Floats:
    kept = min(dimensions, int(speaker.max()), len(directions))
    if kept < 1:
        raise ConfigError("LDA needs at least two training speakers")
    return directions[:, :kept]


def wccn_projection(vectors: NDArray[Any], speaker: NDArray[np.int64], *, shrinkage: float) -> Floats:
    """Whitening [d, d] of the variation within speakers: projection projection' = W^-1 [hatch2006within]."""
    within, _ = _scatter(vectors.astype(np.float64), speaker)
    projection: Floats = np.linalg.cholesky(np.linalg.inv(_shrunk(within, shrinkage)))
    return projection
