"""Gaussian mixture with diagonal covariances: fitted to speaker vectors by EM, and sampled from.

p(y) = sum_c w_c N(y; m_c, diag v_c),  fitted by expectation-maximisation: at most 1000 rounds; without convergence the
rounds grow 1.1-fold and the tolerance doubles, until it converges                            [wang2026rpgmm, sec. 5.2]
H    = -1/S sum_s log p(y_s),  y_s drawn from p: the entropy, estimated from S samples          [wang2026rpgmm, eq. 4]

Deviations: the tolerance is 1e-3 nats of the mean log-likelihood (the number is lost in the text we have); a longer run
goes on where the shorter stopped; a prior worth four vectors draws variances to the pool's, v = (S + 4 s2) / (N + 4),
as a component around one or two speakers would otherwise hand out those people. EM then raises likelihood and prior
together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from personare.core.errors import ConfigError
from personare.core.vectors import kmeans_labels

Floats = NDArray[np.float64]

PRIOR = 4.0  # vectors of the pool's variance that every component counts beside its own
_GROW_ROUNDS, _GROW_TOLERANCE = 1.1, 2.0


@dataclass(frozen=True, eq=False)
class Mixture:
    """``weights`` [C], ``means`` and ``variances`` [C, k]."""

    weights: Floats
    means: Floats
    variances: Floats

    def log_density(self, points: Floats) -> Floats:
        """Log density of points [n, k]: [n], in nats."""
        joint = _joint(self, points)
        return _log_sum(joint)

    def sample(self, count: int, rng: np.random.Generator) -> Floats:
        """Draw points [count, k]."""
        which = rng.choice(len(self.weights), size=count, p=self.weights)
        noise = rng.standard_normal((count, self.means.shape[1]))
        drawn: Floats = self.means[which] + noise * np.sqrt(self.variances[which])
        return drawn

    def entropy(self, rng: np.random.Generator, *, samples: int = 1000) -> float:
        """Estimate the differential entropy in nats; more means more diverse speakers."""
        return float(-self.log_density(self.sample(samples, rng)).mean())


@dataclass(frozen=True, eq=False)
class FitTrace:
    """How a fit went: log-likelihood with prior, per vector, after each round, and the tolerance that was met."""

    likelihoods: Floats
    tolerance: float


def fit_mixture(
    points: Floats, components: int, *, rng: np.random.Generator, rounds: int = 1000, tolerance: float = 1e-3
) -> tuple[Mixture, FitTrace]:
    """Fit ``components`` Gaussians to points [n, k], starting from k-means clusters."""
    if not 1 <= components <= len(points):
        raise ConfigError(f"a mixture of {components} components needs as many voices, the pool has {len(points)}")
    pooled = points.var(axis=0) + 1e-12
    model = _start(points, components, pooled, rng)
    likelihoods: list[float] = []
    limit = rounds
    while True:
        before = likelihoods[-1] if likelihoods else -np.inf
        joint = _joint(model, points)
        total = _log_sum(joint)
        likelihoods.append(float(total.mean()) + _log_prior(model, pooled) / len(points))
        if abs(likelihoods[-1] - before) < tolerance:
            return model, FitTrace(np.array(likelihoods), tolerance)
        model = _best(points, np.exp(joint - total[:, None]), pooled)
        if len(likelihoods) >= limit:
            limit, tolerance = int(np.ceil(limit * _GROW_ROUNDS)), tolerance * _GROW_TOLERANCE


def _joint(model: Mixture, points: Floats) -> Floats:
    """Log of weight times density of every component: [n, C], by two matrix products."""
    precise = 1.0 / model.variances
    square = points**2 @ precise.T - 2.0 * points @ (model.means * precise).T + (model.means**2 * precise).sum(1)
    scale = np.log(model.variances).sum(1) + points.shape[1] * np.log(2 * np.pi)
    joint: Floats = np.log(model.weights) - 0.5 * (square + scale)
    return joint


def _log_sum(joint: Floats) -> Floats:
    """log sum exp over components, without overflow."""
    top = joint.max(axis=1)
    total: Floats = top + np.log(np.exp(joint - top[:, None]).sum(axis=1))
    return total


def _log_prior(model: Mixture, pooled: Floats) -> float:
    """Log of the prior on the variances, up to a constant (inverse gamma)."""
    return float(-0.5 * PRIOR * (np.log(model.variances) + pooled / model.variances).sum())


def _best(points: Floats, shares: Floats, pooled: Floats) -> Mixture:
    """The parameters that fit these shares [n, C] best (M step)."""
    mass = shares.sum(axis=0) + 1e-10
    means = shares.T @ points / mass[:, None]
    scatter = np.maximum(shares.T @ points**2 - mass[:, None] * means**2, 0.0)
    return Mixture(mass / mass.sum(), means, (scatter + PRIOR * pooled) / (mass[:, None] + PRIOR))


def _start(points: Floats, components: int, pooled: Floats, rng: np.random.Generator) -> Mixture:
    labels = kmeans_labels(points, components, rng=rng)
    return _best(points, np.eye(components)[labels], pooled)
