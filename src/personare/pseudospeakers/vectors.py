"""Speaker vectors: cosines and angles between them, and clusters of similar ones (k-means)."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import ConfigError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_KMEANS_ROUNDS = 51
_TINY = 1e-30  # a vector of zeros has no direction: its cosine to everything counts as 0


def unit(vectors: NDArray[Any]) -> Floats:
    """Scale vectors [..., d] to length one; zeros stay zeros."""
    wide = np.asarray(vectors, dtype=np.float64)
    scaled: Floats = wide / np.maximum(np.linalg.norm(wide, axis=-1, keepdims=True), _TINY)
    return scaled


def cosines(vectors: NDArray[Any], others: NDArray[Any]) -> Floats:
    """Cosine of every vector [n, d] with every other [m, d]: [n, m], within [-1, 1].

    >>> cosines(np.array([[2.0, 0.0]]), np.array([[1.0, 1.0], [-3.0, 0.0]])).round(3).tolist()
    [[0.707, -1.0]]
    """
    cosine: Floats = np.clip(unit(vectors) @ unit(others).T, -1.0, 1.0)
    return cosine


def angles(vectors: NDArray[Any], others: NDArray[Any]) -> Floats:
    """Angle between vectors as a share of half a turn, 0 (same direction) to 1 (opposite): a true metric.

    >>> angles(np.array([[1.0, 0.0]]), np.array([[0.0, 5.0], [-1.0, 0.0]])).tolist()
    [[0.5, 1.0]]
    """
    angle: Floats = np.arccos(cosines(vectors, others)) / np.pi
    return angle


def pairwise(vectors: NDArray[Any]) -> Floats:
    """Cosine of every two different vectors [n, d]: [n (n - 1) / 2]."""
    n = len(vectors)
    cosine: Floats = cosines(vectors, vectors)[np.triu_indices(n, 1)]
    return cosine


def kmeans_labels(vectors: NDArray[Any], clusters: int, *, rng: np.random.Generator) -> NDArray[np.intp]:
    """Divide vectors [n, d] into clusters by k-means with k-means++ starting points: the cluster of each [n].

    >>> labels = kmeans_labels(np.array([[0.0], [0.1], [9.0], [9.1]]), 2, rng=np.random.default_rng(0))
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """
    from scipy.cluster.vq import kmeans2

    points = np.asarray(vectors, dtype=np.float64)
    if not 1 <= clusters <= len(points):
        raise ConfigError(f"{clusters} clusters need as many voices, the pool has {len(points)}")
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):  # fewer different vectors than clusters: 0 / 0
        warnings.simplefilter("ignore", UserWarning)  # an empty cluster keeps its centre, and the labels show it
        _, labels = kmeans2(points, clusters, iter=_KMEANS_ROUNDS, minit="++", rng=rng)
    return np.asarray(labels, dtype=np.intp)
