"""Clusters of similar speaker vectors, by k-means."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import ConfigError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KMEANS_ROUNDS = 51


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
