"""How alike two voices are: cosines and angles between speaker vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

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
    found: Floats = np.clip(unit(vectors) @ unit(others).T, -1.0, 1.0)
    return found


def angles(vectors: NDArray[Any], others: NDArray[Any]) -> Floats:
    """Angle between vectors as a share of half a turn, 0 (same direction) to 1 (opposite): a true metric.

    >>> angles(np.array([[1.0, 0.0]]), np.array([[0.0, 5.0], [-1.0, 0.0]])).tolist()
    [[0.5, 1.0]]
    """
    found: Floats = np.arccos(cosines(vectors, others)) / np.pi
    return found


def pairwise(vectors: NDArray[Any]) -> Floats:
    """Cosine of every two different vectors [n, d]: [n (n - 1) / 2]."""
    n = len(vectors)
    found: Floats = cosines(vectors, vectors)[np.triu_indices(n, 1)]
    return found
