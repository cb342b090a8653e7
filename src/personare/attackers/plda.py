"""PLDA: how likely two vectors come from one voice, when voices and recordings both vary like bell curves.

x = y + e,   y ~ N(mu, B) once per speaker,   e ~ N(0, W) once per utterance        (two-covariance model)
LLR(m, x) = log p(x | same speaker as enrolment mean m of n utterances) - log p(x | a stranger)

B, W and mu are fitted by expectation-maximisation [brummer2010speaker; ioffe2006probabilistic].
Deviations: none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import ConfigError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_RIDGE = 1e-9  # of the mean variance, so that covariances can be inverted


@dataclass(frozen=True, eq=False)
class Plda:
    """A fitted model: ``mean`` [d], ``between`` and ``within`` [d, d]."""

    mean: Floats
    between: Floats
    within: Floats

    def __call__(
        self,
        test: NDArray[Any],
        enroll: NDArray[Any],
        *,
        enroll_counts: NDArray[Any] | None = None,
        test_counts: NDArray[Any] | None = None,
    ) -> Floats:
        """Score mean vectors: LLR [n, m] of test [n, d] against enrolled [m, d].

        Counts say over how many utterances each mean was taken; one, where not given.
        """
        projection, psi = self._diagonal()
        x, m = (test - self.mean) @ projection, (enroll - self.mean) @ projection
        n = np.ones(len(m)) if enroll_counts is None else np.asarray(enroll_counts, float)
        k = np.ones(len(x)) if test_counts is None else np.asarray(test_counts, float)
        scores = np.empty((len(x), len(m)))
        for count in np.unique(k):
            rows = k == count
            scores[rows] = _llr(x[rows], m, psi, n, 1.0 / count)
        return scores

    def _diagonal(self) -> tuple[Floats, Floats]:
        """Turn [d, d] and psi [d]: in projected space W is the identity and B is diagonal."""
        from scipy import linalg

        psi, projection = linalg.eigh(self.between, self.within)
        return projection, np.maximum(psi, 0.0)


def _llr(x: Floats, m: Floats, psi: Floats, n: Floats, noise: float) -> Floats:
    """Both densities in the diagonal space; every pair by two matrix products."""
    shrink = n[:, None] * psi / (n[:, None] * psi + 1)  # posterior mean of y is shrink * m
    v_same = psi / (n[:, None] * psi + 1) + noise
    v_other = psi + noise
    c = shrink * m
    same = (x**2) @ (1 / v_same).T - 2 * x @ (c / v_same).T + (c**2 / v_same + np.log(v_same)).sum(1)
    other = (x**2 / v_other).sum(1) + np.log(v_other).sum()
    result: Floats = -0.5 * (same - other[:, None])
    return result


def fit_plda(vectors: NDArray[Any], speaker: NDArray[np.int64], *, iterations: int = 50) -> Plda:
    """Fit by EM on vectors [n, d] of ``speaker`` [n] (numbers from 0), from moment estimates on."""
    if iterations < 1:
        raise ConfigError(f"iterations must be at least 1, not {iterations}")
    sums = class_sums(vectors, speaker)
    counts = np.bincount(speaker).astype(float)
    if len(counts) < 2 or not (counts > 1).any():
        raise ConfigError(f"PLDA needs two speakers and one with two utterances, not {len(counts)} speakers")
    x = vectors.astype(np.float64)
    power = x.T @ x
    model = _moments(x, speaker, sums, counts)
    for _ in range(iterations):
        try:
            model = _step(model, sums, counts, power)
        except np.linalg.LinAlgError:  # speakers do not differ at all (everybody reads the same): nothing more to fit
            break
    return model


def class_sums(vectors: NDArray[Any], speaker: NDArray[np.int64]) -> Floats:
    """Sum of every speaker's vectors: [speakers, d]."""
    order = np.argsort(speaker, kind="stable")
    starts = np.searchsorted(speaker[order], np.arange(int(speaker.max()) + 1))
    sums: Floats = np.add.reduceat(vectors[order].astype(np.float64), starts, axis=0)
    return sums


def _moments(x: Floats, speaker: NDArray[np.int64], sums: Floats, counts: Floats) -> Plda:
    means = sums / counts[:, None]
    inside = x - means[speaker]
    mean = means.mean(0)
    d = x.shape[1]
    within = inside.T @ inside / max(1.0, len(x) - len(counts))
    between = (means - mean).T @ (means - mean) / len(counts)
    ridge = _RIDGE * (np.trace(within) + np.trace(between)) / d * np.eye(d)
    return Plda(mean, between + ridge, within + ridge)


def _step(model: Plda, sums: Floats, counts: Floats, power: Floats) -> Plda:
    """One round: posterior of every speaker's y, then the parameters that fit those best."""
    d, n_speakers, total = len(model.mean), len(counts), counts.sum()
    b_inverse, w_inverse = np.linalg.inv(model.between), np.linalg.inv(model.within)
    y = np.empty_like(sums)
    spread, weighted_spread = np.zeros((d, d)), np.zeros((d, d))
    for count in np.unique(counts):
        who = counts == count
        covariance = np.linalg.inv(b_inverse + count * w_inverse)
        y[who] = (model.mean @ b_inverse + sums[who] @ w_inverse) @ covariance
        spread += who.sum() * covariance
        weighted_spread += who.sum() * count * covariance
    mean = y.mean(0)
    away = y - mean
    between = (spread + away.T @ away) / n_speakers
    cross = sums.T @ y
    within = (power - cross - cross.T + (counts[:, None] * y).T @ y + weighted_spread) / total
    return Plda(mean, (between + between.T) / 2, (within + within.T) / 2)
