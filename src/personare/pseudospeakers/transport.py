"""Optimal transport between two batches of equal size: who is matched with whom, and the potentials that prove it.

c_ij = K/2 |x_i - y_j|^2,  K = 1/d                                                                   [liu2019wganqc]
max  mean_i f_i + mean_j g_j   subject to  f_i + g_j <= c_ij, with equality where i and j are matched  (Kantorovich)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class TransportPlan:
    """``matched`` [b]: the row of x for each row of y; ``real`` and ``fake`` [b]: the potentials f and -g."""

    matched: NDArray[np.int64]
    real: Floats
    fake: Floats


def quadratic_cost(x: Floats, y: Floats) -> Floats:
    """Cost [b, b] of moving each row of y to each row of x [b, d].

    >>> quadratic_cost(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]])).tolist()
    [[6.25]]
    """
    square = (x**2).sum(axis=1)[:, None] + (y**2).sum(axis=1) - 2.0 * x @ y.T
    cost: Floats = np.maximum(square, 0.0) / (2.0 * x.shape[1])
    return cost


def transport(cost: Floats) -> TransportPlan:
    """Solve the linear program for a cost [b, b]; the potentials have mean 0 over both batches.

    With the best matching known, f_i - f_m(j) <= c_ij - c_m(j)j for all i, j: a shortest path gives the largest f.
    """
    rows, columns = linear_sum_assignment(cost)
    matched = np.empty(len(cost), dtype=np.int64)
    matched[columns] = rows
    paid = cost[matched, np.arange(len(cost))]
    steps = cost - paid  # [i, j]: the step from m(j) to i
    potential = np.zeros(len(cost), dtype=cost.dtype)
    for _ in range(len(cost)):  # as many as the longest path has steps
        shorter = np.minimum(potential, (potential[matched] + steps).min(axis=1))
        if np.array_equal(shorter, potential):
            break
        potential = shorter
    fake = potential[matched] - paid
    middle = (potential.mean() + fake.mean()) / 2
    return TransportPlan(matched, potential - middle, fake - middle)
