"""Groups of voices that are alike: k-means with spread-out starting points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from personare.core.errors import ConfigError

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Clusters:
    """``centres`` [C, d] and, for each point, the number of its cluster in ``labels`` [n]."""

    centres: Floats
    labels: NDArray[np.int64]


def cluster(points: Floats, count: int, *, rng: np.random.Generator, rounds: int = 50) -> Clusters:
    """Divide points [n, d] into ``count`` clusters (k-means++, then Lloyd's rounds until nothing moves).

    >>> found = cluster(np.array([[0.0], [0.1], [9.0], [9.1]]), 2, rng=np.random.default_rng(0))
    >>> sorted(found.centres.ravel().round(2).tolist())
    [0.05, 9.05]
    """
    if not 1 <= count <= len(points):
        raise ConfigError(f"{count} clusters need as many voices, the pool has {len(points)}")
    centres = _spread(points, count, rng)
    labels = _distances(points, centres).argmin(axis=1)
    for _ in range(rounds):
        centres = _means(points, labels, centres)
        moved = _distances(points, centres).argmin(axis=1)
        if (moved == labels).all():
            break
        labels = moved
    return Clusters(_means(points, labels, centres), labels)


def _spread(points: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Starting centres, each drawn with a probability that grows with its squared distance to those before."""
    chosen = [int(rng.integers(len(points)))]
    nearest = _distances(points, points[chosen])[:, 0]
    while len(chosen) < count:
        total = nearest.sum()
        spot = int(rng.choice(len(points), p=nearest / total) if total > 0 else rng.integers(len(points)))
        chosen.append(spot)
        nearest = np.minimum(nearest, _distances(points, points[[spot]])[:, 0])
    return points[chosen]


def _distances(points: Floats, centres: Floats) -> Floats:
    """Squared distances [n, C]."""
    squares = (points**2).sum(1)[:, None] - 2.0 * points @ centres.T + (centres**2).sum(1)
    floored: Floats = np.maximum(squares, 0.0)
    return floored


def _means(points: Floats, labels: NDArray[np.int64], centres: Floats) -> Floats:
    """Mean of every cluster; one that nobody belongs to stays where it was."""
    sizes = np.bincount(labels, minlength=len(centres))
    sums = np.zeros_like(centres)
    np.add.at(sums, labels, points)
    means: Floats = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres)
    return means
