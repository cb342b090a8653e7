"""Gaussian mixtures against closed forms, and the paper's schedule of rounds and tolerances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from personare.core.errors import ConfigError
from personare.pseudospeakers.mixture import PRIOR, Mixture, fit_mixture


def known() -> Mixture:
    return Mixture(np.array([0.3, 0.7]), np.array([[-3.0, 0.0, 1.0], [2.0, 1.0, 1.0]]), np.array([[1.0, 0.5, 2.0]] * 2))


def test_density_equals_the_sum_of_normal_densities() -> None:
    mixture, points = known(), np.random.default_rng(0).normal(size=(20, 3))
    parts = [
        w * stats.multivariate_normal(m, np.diag(v)).pdf(points)
        for w, m, v in zip(mixture.weights, mixture.means, mixture.variances, strict=True)
    ]
    np.testing.assert_allclose(mixture.log_density(points), np.log(sum(parts)), rtol=1e-10)


def test_density_far_away_does_not_underflow() -> None:
    assert np.isfinite(known().log_density(np.full((1, 3), 1e4))).all()


def test_em_finds_a_known_mixture() -> None:
    points = known().sample(4000, np.random.default_rng(1))
    found, _ = fit_mixture(points, 2, rng=np.random.default_rng(2), tolerance=1e-7)
    order = np.argsort(found.weights)
    np.testing.assert_allclose(found.weights[order], known().weights, atol=0.02)
    np.testing.assert_allclose(found.means[order], known().means, atol=0.15)
    np.testing.assert_allclose(found.variances[order], known().variances, rtol=0.15)


def test_one_component_is_the_mean_and_the_variance() -> None:
    points = np.random.default_rng(3).normal(size=(50, 4)) * [1, 2, 3, 4]
    found, _ = fit_mixture(points, 1, rng=np.random.default_rng(0))
    np.testing.assert_allclose(found.means[0], points.mean(axis=0))
    np.testing.assert_allclose(found.variances[0], points.var(axis=0))


def test_likelihood_with_prior_never_falls() -> None:
    points = known().sample(500, np.random.default_rng(4))
    _, trace = fit_mixture(points, 3, rng=np.random.default_rng(5), tolerance=1e-9)
    assert (np.diff(trace.likelihoods) > -1e-9).all()


def test_entropy_of_one_bell_curve_is_its_closed_form_wang2026_eq_4() -> None:
    variances = np.array([[0.5, 1.0, 4.0, 9.0]])
    mixture = Mixture(np.ones(1), np.zeros((1, 4)), variances)
    exact = 0.5 * np.log(2 * np.pi * np.e * variances).sum()
    estimate = mixture.entropy(np.random.default_rng(6), samples=1000)
    assert abs(estimate - exact) < 4 * np.sqrt(4 / 2 / 1000)  # the variance of -log p is k/2


def test_schedule_wang2026_sec_5_2_rounds_grow_by_a_tenth_and_the_tolerance_doubles() -> None:
    points = known().sample(300, np.random.default_rng(7))
    strict = 1e-7
    full = fit_mixture(points, 4, rng=np.random.default_rng(8), tolerance=strict)[1]
    assert full.tolerance == strict, "1000 rounds are enough here"
    short = fit_mixture(points, 4, rng=np.random.default_rng(8), rounds=10, tolerance=strict)[1]
    steps = np.log2(short.tolerance / strict)
    assert steps == round(steps)
    assert steps >= 1
    limits = [10]
    while len(limits) <= steps:
        limits.append(int(np.ceil(limits[-1] * 1.1)))
    assert limits[-2] < len(short.likelihoods) <= limits[-1], "it stopped in the last, longest run"
    assert abs(np.diff(short.likelihoods)[-1]) < short.tolerance
    assert len(short.likelihoods) < len(full.likelihoods)


def test_no_component_shrinks_to_one_person() -> None:
    points = np.random.default_rng(9).normal(size=(30, 40))
    found, _ = fit_mixture(points, 15, rng=np.random.default_rng(10))
    # v = (S + r s2) / (N + r): a curve around one voice keeps r / (1 + r) of the pool's variance
    alone = PRIOR / (found.weights[:, None] * 30 + PRIOR) * points.var(axis=0)
    assert (found.variances >= alone * 0.999).all()
    assert (found.weights * 30 < 1.5).any(), "some curve is around one voice only"


@pytest.mark.parametrize("components", [0, 31])
def test_more_components_than_voices_are_refused(components: int) -> None:
    with pytest.raises(ConfigError, match="the pool has 30"):
        fit_mixture(np.zeros((30, 2)), components, rng=np.random.default_rng(0))


def test_identical_voices_do_not_break_it() -> None:
    found, _ = fit_mixture(np.ones((30, 3)), 3, rng=np.random.default_rng(0))
    assert np.isfinite(found.sample(5, np.random.default_rng(1))).all()
