"""Adding up what several embedders say: one log-likelihood ratio from the scores of each, learnt on held-out speakers.

llr = a_1 s_1 + ... + a_k s_k + b, with weights that minimise the cost of a logistic regression at even odds
[brummer2006application]. Scores are the held-out ones of training speakers, fold by fold. A single embedder is taken
instead of the sum where the sum, judged on folds that it was not fitted on, is no better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.attackers.choosing import area

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Trials = Sequence[NDArray[np.bool_]]

_L2 = 1e-4  # on weights of standardised scores: embedders that say the same share the weight


@dataclass(frozen=True)
class Combination:
    """The line: ``weights`` of the parts (0: not used) and ``offset``.

    ``areas`` are the parts' own shares of (own, other) pairs of scores in the right order, ``area`` that of the sum.
    """

    weights: tuple[float, ...]
    offset: float
    areas: tuple[float, ...] = ()
    area: float = 0.0

    @property
    def used(self) -> tuple[bool, ...]:
        """Which parts count."""
        return tuple(weight != 0 for weight in self.weights)

    def of_used(self) -> Combination:
        """The same for the scores of the used parts only."""
        return replace(self, weights=tuple(weight for weight in self.weights if weight))

    def __call__(self, scores: NDArray[Any]) -> Floats:
        """Add up scores [k, ...]: [...]."""
        llrs: Floats = np.tensordot(np.array(self.weights), scores, axes=1) + self.offset
        return llrs


def combine(scores: Sequence[Sequence[Floats]], trials: Trials) -> Combination:
    """Learn the sum from ``scores`` [part][fold] of held-out speakers, and whether a single part is as good."""
    folds = range(len(trials))
    tables = [np.stack([part[fold].ravel() for part in scores], axis=1) for fold in folds]
    labels = [trials[fold].ravel() for fold in folds]
    singles = [_mean_area([table[:, part] for table in tables], labels) for part in range(len(scores))]
    best = int(np.argmax(singles))
    if len(scores) > 1:
        judged = []
        for fold in folds:
            others = [i for i in folds if i != fold]
            weights, offset = fit_sum(
                np.concatenate([tables[i] for i in others]), np.concatenate([labels[i] for i in others])
            )
            judged.append(tables[fold] @ weights + offset)
        together = _mean_area(judged, labels)
        if together > singles[best]:
            weights, offset = fit_sum(np.concatenate(tables), np.concatenate(labels))
            return Combination(tuple(weights.tolist()), offset, tuple(singles), together)
    weights, offset = fit_sum(np.concatenate(tables)[:, best : best + 1], np.concatenate(labels))
    alone = tuple(float(weights[0]) or 1.0 if part == best else 0.0 for part in range(len(scores)))
    return Combination(alone, offset, tuple(singles), singles[best])


def fit_sum(scores: Floats, target: NDArray[np.bool_]) -> tuple[Floats, float]:
    """Fit weights [k], none of them negative, and offset on scores [n, k]; both classes weigh the same."""
    from scipy import optimize, special

    centre, scale = scores.mean(0), scores.std(0)
    scale = np.where(scale > 0, scale, 1.0)
    x = (scores - centre) / scale
    example = np.where(target, 0.5 / max(1, target.sum()), 0.5 / max(1, (~target).sum()))
    sign = np.where(target, 1.0, -1.0)

    def cost(line: Floats) -> tuple[float, Floats]:
        margin = sign * (x @ line[:-1] + line[-1])
        pull = -example * sign * special.expit(-margin)
        value = float(example @ np.logaddexp(0, -margin)) + _L2 * float(line[:-1] @ line[:-1])
        return value, np.append(pull @ x + 2 * _L2 * line[:-1], pull.sum())

    start = np.append(np.full(scores.shape[1], 1.0 / scores.shape[1]), 0.0)
    bounds = [(0.0, None)] * scores.shape[1] + [(None, None)]
    line = optimize.minimize(cost, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    weights: Floats = line[:-1] / scale
    return weights, float(line[-1] - weights @ centre)


def _mean_area(scores: Sequence[Floats], labels: Trials) -> float:
    return float(np.mean([area(s[t], s[~t]) for s, t in zip(scores, labels, strict=True)]))
