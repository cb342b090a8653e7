"""Two small linear classifiers of openly computed numbers: Fisher's discriminant and a support vector machine.

lda   class means m_k, within-class covariance W shrunk to (1 - s) W + s tr(W)/d I, equal priors:
      score_k(x) = m_k' W^-1 x - m_k' W^-1 m_k / 2                                          [fisher1936; ledoit2004]
svm   one against the rest, squared hinge loss with both sides weighing the same, l2 penalty, no kernel [cortes1995svm]

Numbers are standardized first. Both give one score per class; the largest is the decision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import ConfigError
from personare.core.softmax_regression import standardize

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Fit = Callable[[ArrayLike, Sequence[str]], "Discriminant"]

SHRINKAGE = 0.3
PENALTY = 0.1
_STEPS = 300


@dataclass(frozen=True, eq=False)
class Discriminant:
    """A fitted classifier: ``weights`` [classes, inputs] on numbers standardized by ``mean`` and ``scale`` [inputs]."""

    classes: tuple[str, ...]
    mean: Floats
    scale: Floats
    weights: Floats
    bias: Floats

    def scores(self, rows: ArrayLike) -> Floats:
        """Give one score per class: [rows, classes]."""
        x = (np.atleast_2d(np.asarray(rows, np.float64)) - self.mean) / self.scale
        scores: Floats = x @ self.weights.T + self.bias
        return scores

    def __call__(self, rows: ArrayLike) -> list[str]:
        """Decide for one class each."""
        return [self.classes[place] for place in self.scores(rows).argmax(axis=1)]


def fit_lda(rows: ArrayLike, labels: Sequence[str], *, shrinkage: float = SHRINKAGE) -> Discriminant:
    """Fit Fisher's discriminant: rows [n, inputs], one class name each; every class weighs the same.

    >>> fit_lda([[0.0], [1.0], [4.0], [5.0]], list("aabb"))([[0.4], [4.4]])
    ['a', 'b']
    """
    x, mean, scale, classes, kind = _examples(rows, labels)
    means = np.stack([x[kind == k].mean(axis=0) for k in range(len(classes))])
    within: Floats = np.zeros((x.shape[1], x.shape[1]))
    for k in range(len(classes)):
        own = x[kind == k] - means[k]
        within += own.T @ own / len(own) / len(classes)
    size = max(float(np.trace(within)) / len(within), 1e-6)
    within = (1 - shrinkage) * within + shrinkage * size * np.eye(len(within))
    weights = np.linalg.solve(within, means.T).T
    return Discriminant(classes, mean, scale, weights, -0.5 * (weights * means).sum(axis=1))


def fit_svm(rows: ArrayLike, labels: Sequence[str], *, l2: float = PENALTY) -> Discriminant:
    """Fit a linear support vector machine, each class against the rest: rows [n, inputs], one class name each.

    >>> fit_svm([[0.0], [1.0], [4.0], [5.0]], list("aabb"))([[0.4], [4.4]])
    ['a', 'b']
    """
    from scipy import optimize

    x, mean, scale, classes, kind = _examples(rows, labels)
    solved = []
    for k in range(len(classes)):
        side = np.where(kind == k, 1.0, -1.0)
        share = np.where(kind == k, 0.5 / (kind == k).sum(), 0.5 / (kind != k).sum())

        def loss(flat: Floats, side: Floats = side, share: Floats = share) -> tuple[float, Floats]:
            slack = np.maximum(0.0, 1 - side * (x @ flat[:-1] + flat[-1]))
            slope = -2 * share * slack * side
            value = float((share * slack**2).sum() + l2 * flat[:-1] @ flat[:-1])
            return value, np.append(x.T @ slope + 2 * l2 * flat[:-1], slope.sum())

        start = np.zeros(x.shape[1] + 1)
        solved.append(optimize.minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": _STEPS}).x)
    both = np.stack(solved)
    return Discriminant(classes, mean, scale, both[:, :-1], both[:, -1])


def _examples(
    rows: ArrayLike, labels: Sequence[str]
) -> tuple[Floats, Floats, Floats, tuple[str, ...], NDArray[np.intp]]:
    x = np.asarray(rows, np.float64)
    names, kind = np.unique(np.asarray(labels, dtype=str), return_inverse=True)
    if x.ndim != 2 or len(kind) != len(x) or len(names) < 2:
        shape = f"rows {list(x.shape)}, {len(kind)} labels of {len(names)} classes"
        raise ConfigError(f"a classifier needs one class per row and two classes or more; {shape}")
    if not np.isfinite(x).all():
        raise ConfigError("a classifier needs finite numbers; some are NaN or infinite")
    standard, mean, scale = standardize(x)
    return standard, mean, scale, tuple(names.tolist()), kind
