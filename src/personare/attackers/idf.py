"""Scorer ``idf``: cosine of vectors whose numbers are weighted by inverse document frequency over speakers.

For counts of words (embedder ``vocabulary``) this is tf-idf [salton1988term]: with S speakers, of whom df_j use word j,

    w_j = log(S / df_j),    score(x, y) = cos(w x, w y).

A word that everybody uses weighs nothing, a word of one person most. The speakers are those whose texts the attacker
has anyway: the enrolled ones, and training speakers where there are any. No label of a trial is used.

Deviations: document frequency counts speakers, not utterances: a word that one person repeats stays rare. The last
number of a vector, which is constant, keeps its weight, so that no vector becomes zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from personare.core.vectors import cosine

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from personare.attackers.scoring import Scorer
    from personare.attackers.split import TrainingVectors
    from personare.core.tables import Embeddings


@dataclass(frozen=True)
class IdfScorer:
    """Weights each number of a vector by how few speakers use it, then the cosine; needs no training speech."""

    learns: ClassVar[bool] = False
    takes_training: ClassVar[bool] = True
    paper: ClassVar[str] = "Salton and Buckley, Term-weighting approaches in automatic text retrieval, 1988"

    def fit(self, training: TrainingVectors | None, /) -> Scorer:
        """Give the cosine: without enrolled speakers nothing is known about how rare anything is."""
        del training
        return cosine

    def fit_enrolment(self, enroll: Embeddings, training: Embeddings | None, /) -> FittedIdf:
        """Count in how many speakers each number is not zero."""
        return FittedIdf(idf_weights([enroll] if training is None else [enroll, training]))


@dataclass(frozen=True, eq=False)
class FittedIdf:
    """The weights [d]; brings vectors into the space in which the cosine compares them."""

    weights: NDArray[np.float32]

    def project(self, vectors: NDArray[Any]) -> NDArray[np.float32]:
        """Weight vectors [n, d]."""
        return np.asarray(vectors * self.weights, dtype=np.float32)

    def __call__(self, test: NDArray[np.float32], enroll: NDArray[np.float32]) -> NDArray[Any]:
        """Compare every test [n, d] with every enrolled [m, d]."""
        return cosine(self.project(test), self.project(enroll))


def idf_weights(sides: Iterable[Embeddings]) -> NDArray[np.float32]:
    """Give log(speakers / speakers who use it) for every number of a vector, and 1 for the last, constant one: [d].

    >>> from personare.core.tables import Embeddings
    >>> counts = np.array([[2, 0, 1, 1], [1, 1, 0, 1]], np.float32)
    >>> [f"{weight:.3f}" for weight in idf_weights([Embeddings(("u1", "u2"), ("ann", "bob"), counts)])]
    ['0.000', '0.693', '0.693', '1.000']
    """
    speakers = 0
    used: NDArray[np.int64] | int = 0
    for side in sides:
        names = np.array(side.speakers, dtype=str)
        for name in np.unique(names):
            used = used + (side.vectors[names == name] != 0).any(0).astype(np.int64)
            speakers += 1
    weights = np.log(max(speakers, 1) / np.maximum(used, 1)).astype(np.float32)
    weights[-1:] = 1.0
    return weights
