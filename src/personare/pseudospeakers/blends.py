"""New voices mixed from a few voices of the pool, as different from each other as real ones are.

x = m + sum_i (p_i - m) / sqrt(k)   over k different voices p_i, m the mean of the pool

The sum of k deviations over sqrt(k) has the mean and the covariance of the pool, so that mixed voices do not gather in
the middle as averages do; its cosine to each p_i (around m) is about 1 / sqrt(k). With k = 1 it is a real person.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def blend(vectors: NDArray[np.float32], count: int, *, mix: int, rng: np.random.Generator) -> Floats:
    """Mix ``count`` voices [count, d], each of ``mix`` different ones of the pool [n, d].

    >>> pool = np.random.default_rng(0).standard_normal((50, 8)).astype(np.float32)
    >>> blend(pool, 3, mix=3, rng=np.random.default_rng(1)).shape
    (3, 8)
    """
    wide = vectors.astype(np.float64)
    middle = wide.mean(axis=0)
    rows = np.stack([rng.choice(len(wide), size=mix, replace=False) for _ in range(count)])
    if mix == 1:
        return wide[rows[:, 0]]  # not a bit of rounding: with one voice it is that voice
    mixed: Floats = middle + (wide[rows] - middle).sum(axis=1) / np.sqrt(mix)
    return mixed
