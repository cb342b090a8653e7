"""Multinomial logistic regression: which class a row of numbers belongs to, by one straight line per class.

With rows x_i (standardized), classes y_i and weights w_i it minimizes                    [hastie2009elements, sec. 4.4]

    - sum_i w_i log softmax(W x_i + b)_{y_i} + l2 / 2 ||W||^2

The offsets b are free. Convex: the result depends on nothing but the examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import ConfigError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_CONSTANT = 1e-12  # a column that varies less is left as it is
_NEVER = 1e-300  # keeps the logarithm of an impossible class finite


@dataclass(frozen=True, eq=False)
class SoftmaxRegression:
    """A fitted model: ``weights`` [classes, d], ``bias`` [classes]; inputs standardized by ``mean``, ``scale`` [d]."""

    classes: tuple[str, ...]
    mean: Floats
    scale: Floats
    weights: Floats
    bias: Floats

    def log_probabilities(self, rows: NDArray[Any]) -> Floats:
        """Give the logarithm of every class's probability: [rows, classes]."""
        from scipy import special

        logs: Floats = special.log_softmax((rows - self.mean) / self.scale @ self.weights.T + self.bias, axis=1)
        return logs


def softmax(scores: Floats) -> Floats:
    """Turn scores [rows, classes] into probabilities.

    >>> softmax(np.array([[0.0, 0.0], [1000.0, 0.0]])).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares


def standardize(rows: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
    """Give rows [n, d] with mean 0 and spread 1 in every column, the mean and the scale; constant columns become 0."""
    x = np.asarray(rows, np.float64)
    mean, scale = x.mean(axis=0), x.std(axis=0)
    scale = np.where(scale > _CONSTANT, scale, 1.0)
    return (x - mean) / scale, mean, scale


def fit_softmax_regression(
    rows: NDArray[Any], labels: Sequence[str], *, example_weights: Floats, l2: float
) -> SoftmaxRegression:
    """Fit rows [n, d] with one class name each; a class with few examples counts by their weights."""
    from scipy import optimize

    names, code = np.unique(np.asarray(labels, dtype=str), return_inverse=True)
    if len(code) != len(rows) or len(names) < 2:
        raise ConfigError(
            f"a classifier needs one class per row and two classes; {len(rows)} rows, {len(names)} classes"
        )
    x, mean, scale = standardize(rows)
    with_one = np.column_stack([x, np.ones(len(x))])
    hot, each = np.eye(len(names))[code], np.arange(len(x))

    def loss(flat: Floats) -> tuple[float, Floats]:
        both = flat.reshape(len(names), -1)
        shares = softmax(with_one @ both.T)
        penalized = np.column_stack([both[:, :-1], np.zeros(len(names))])
        value = -float(example_weights @ np.log(shares[each, code] + _NEVER)) + l2 / 2 * float((penalized**2).sum())
        return value, ((example_weights[:, None] * (shares - hot)).T @ with_one + l2 * penalized).ravel()

    start = np.zeros(len(names) * with_one.shape[1])
    both = optimize.minimize(loss, start, jac=True, method="L-BFGS-B").x.reshape(len(names), -1)
    return SoftmaxRegression(tuple(names.tolist()), mean, scale, both[:, :-1], both[:, -1])
