"""Draw voices until one is unlike the original; if none is, take the least alike of all that were drawn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from personare.pseudospeakers.vectors import cosines, pairwise

Floats = NDArray[np.float64]

_AT_ONCE = 20
_MOST_FOR_MEDIAN = 2000


def draw_unlike(draw: Callable[[int], Floats], vector: Floats, *, limit: float, tries: int) -> Floats:
    """Give the first drawn voice [d] whose cosine to ``vector`` is at most ``limit``.

    ``draw(n)`` gives n new voices [n, d]; after ``tries`` of them the least similar is taken.
    """
    least, lowest = vector, np.inf
    for start in range(0, tries, _AT_ONCE):
        drawn = draw(min(_AT_ONCE, tries - start))
        likeness = cosines(drawn, vector[None])[:, 0]
        enough = np.flatnonzero(likeness <= limit)
        if len(enough):
            return np.asarray(drawn[enough[0]])
        if likeness.min() < lowest:
            least, lowest = drawn[likeness.argmin()], float(likeness.min())
    return least


def strangers(vectors: Floats) -> float:
    """How alike two strangers of the pool are: the median cosine of two different vectors."""
    return float(np.median(pairwise(vectors[:_MOST_FOR_MEDIAN])))
