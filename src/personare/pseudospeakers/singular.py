"""A2, singular-value modification: the speaker's coordinates in the most similar cluster, in the least similar one.

The pool is clustered. A cluster's matrix is X = U S V' (one row of U per vector). A speaker x near cluster a
has the row u = x V_a / S_a; with the target t, the cluster whose centroid is least similar to x,

x* = u_r S_t,r V_t,r'      keeping the r largest singular values, a set share of the non-zero ones
                                                      [mawalim2020singular; tomashenko2022voiceprivacy, sec. 3.2.1 (A2)]

Deterministic: the same x gives the same x*, and who knows the pool can search for x. Hence no protection by itself.
Deviations: the paper modifies the matrix of a speaker's many utterances; with one vector per speaker, the row is taken
from the cluster the speaker is nearest to. The share kept is ours, as are signs (each axis points to its mean).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from personare.core.errors import ConfigError
from personare.core.vectors import cosine, kmeans_labels, unit_rows
from personare.pseudospeakers.generator import PerGender, Request

Floats = NDArray[np.float64]

_FEWEST_IN_CLUSTER = 10
_STARTS = 10


@dataclass(frozen=True, eq=False)
class ClusterState:
    """``centres`` [C, d]; for each cluster its largest singular ``values`` [C, r], else 0, and ``axes`` [C, r, d]."""

    centres: Floats
    values: Floats
    axes: Floats


@dataclass(frozen=True)
class SingularValues(PerGender[ClusterState]):
    """The speaker's place among similar voices, rebuilt among the least similar cluster of the pool (A2).

    Parameters
    ----------
    clusters : into how many clusters the vectors of a gender fall, at most.
    kept : share of the non-zero singular values that are kept.
    """

    paper: ClassVar[str] = (
        "Mawalim et al., 2020; Tomashenko et al., The VoicePrivacy 2020 Challenge, 2022, sec. 3.2.1 (A2)"
    )
    VERSION: ClassVar[int] = 1
    name: ClassVar[str] = "a2"
    state_type: ClassVar[type] = ClusterState
    dissimilar: ClassVar[bool] = True
    stochastic: ClassVar[bool] = False

    clusters: int = 8
    kept: float = 0.5

    def __post_init__(self) -> None:
        if self.clusters < 2:
            raise ConfigError(f"a2: clusters must be at least 2, not {self.clusters}")
        if not 0 < self.kept <= 1:
            raise ConfigError(f"a2: kept is a share within 0..1, not {self.kept}")

    @property
    def min_vectors(self) -> int:
        """Enough for two clusters."""
        return 4 * _FEWEST_IN_CLUSTER

    def fit_group(self, vectors: Floats, rng: np.random.Generator) -> ClusterState:
        """Cluster by direction, leave out clusters too small to span anything, and decompose each."""
        members = self._members(vectors, rng)
        widest = max(min(m.shape) for m in members)
        values = np.zeros((len(members), widest))
        axes = np.zeros((len(members), widest, vectors.shape[1]))
        for c, matrix in enumerate(members):
            u, s, v = np.linalg.svd(matrix, full_matrices=False)
            r = max(1, round(self.kept * int((s > 1e-9 * s[0]).sum())))
            sign = np.where(u[:, :r].sum(axis=0) < 0, -1.0, 1.0)
            # a row of U shrinks with the number of rows: compare clusters of different size per vector
            values[c, :r], axes[c, :r] = s[:r] / np.sqrt(len(matrix)), sign[:, None] * v[:r]
        return ClusterState(np.stack([m.mean(axis=0) for m in members]), values, axes)

    def _members(self, vectors: Floats, rng: np.random.Generator) -> list[Floats]:
        """The vectors of every cluster that is large enough; an unlucky start is tried again."""
        count = min(self.clusters, len(vectors) // (2 * _FEWEST_IN_CLUSTER))
        for _ in range(_STARTS):
            labels = kmeans_labels(unit_rows(vectors), count, rng=rng)
            members = [vectors[labels == c] for c in range(count) if (labels == c).sum() >= _FEWEST_IN_CLUSTER]
            if len(members) > 1:
                return members
        raise ConfigError("a2 found only one cluster of voices; take a larger or more varied pool")

    def generate(self, request: Request[ClusterState]) -> Floats:
        """Move the speaker's row from the most similar cluster to the least similar one."""
        similarity = cosine(request.vector[None], request.state.centres)[0]
        return rebuild(request.vector, request.state, int(similarity.argmax()), int(similarity.argmin()))


def rebuild(vector: Floats, state: ClusterState, source: int, target: int) -> Floats:
    """Rebuild a vector [d] of cluster ``source`` with the singular values and axes of cluster ``target``."""
    both = (state.values[source] > 0) & (state.values[target] > 0)
    row = state.axes[source][both] @ vector / state.values[source][both]
    rebuilt: Floats = (row * state.values[target][both]) @ state.axes[target][both]
    return rebuilt
