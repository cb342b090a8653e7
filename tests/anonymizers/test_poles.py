"""Poles of many polynomials at once: against numpy's roots, with double, zero and real ones, in any batch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from personare.anonymizers.signal.lpc import lpc
from personare.anonymizers.signal.poles import expand, pole_pairs


def random_polynomials(count: int, *, order: int, seed: int = 1) -> NDArray[np.float64]:
    """Prediction polynomials of noise through random resonances: some poles real, some nearly on the unit circle."""
    rng = np.random.default_rng(seed)
    frames = rng.normal(size=(count, 320)).cumsum(axis=1) * np.hanning(320)
    frames += rng.normal(size=(count, 1)) * np.sin(np.arange(320) * rng.uniform(0.1, 3, (count, 1)))
    return lpc(frames, order=order)


def roots_of(u: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.complex128]:
    return np.concatenate([np.roots([1.0, b, c]) for b, c in zip(u, v, strict=True)]).astype(np.complex128)


@pytest.mark.parametrize("order", [2, 3, 10, 20, 21, 60])
def test_factors_multiply_out_to_the_polynomial(order: int) -> None:
    a = random_polynomials(200, order=order)
    product = expand(*pole_pairs(a))[: order + 1]
    assert np.abs(product - a).max() < 1e-8 * np.abs(a).max()


def test_poles_are_those_of_numpy() -> None:
    a = random_polynomials(50, order=20)
    u, v = pole_pairs(a)
    for i in range(50):
        found, expected = roots_of(u[:, i], v[:, i]), np.roots(a[:, i])
        assert max(np.abs(found - root).min() for root in expected) < 1e-7


@pytest.mark.parametrize(
    "poles",
    [
        [0.5, 0.5],
        [-0.9, -0.9, 0.3],
        [0.9, 0.9 + 1e-3, -0.2, -0.2],
        [0.0, 0.0, 0.5j, -0.5j],
        [0.999j, -0.999j, 0.998j, -0.998j],
        [0.7],
    ],
)
def test_double_real_and_zero_poles(poles: list[complex]) -> None:
    a = np.atleast_1d(np.poly(poles)).real.reshape(-1, 1)
    u, v = pole_pairs(a)
    assert np.abs(expand(u, v)[: len(a)] - a).max() < 1e-9


@given(st.lists(st.floats(0.0, 3.14159), min_size=1, max_size=8), st.floats(0.3, 0.99))
@settings(max_examples=50)
def test_any_conjugate_poles_multiply_out(angles: list[float], radius: float) -> None:
    pairs = np.array([[1.0, -2 * radius * np.cos(angle), radius**2] for angle in angles])
    a = np.ones(1)
    for pair in pairs:
        a = np.convolve(a, pair)
    u, v = pole_pairs(a[:, None])
    assert np.abs(expand(u, v)[:, 0] - a).max() < 1e-7 * np.abs(a).max()


@pytest.mark.parametrize("batch", [1, 3, 8, 50])
def test_the_same_bits_in_any_batch(batch: int) -> None:
    a = random_polynomials(100, order=20)
    u, v = pole_pairs(a)
    for start in range(0, 100, batch):
        some_u, some_v = pole_pairs(a[:, start : start + batch])
        assert np.array_equal(some_u, u[:, start : start + batch])
        assert np.array_equal(some_v, v[:, start : start + batch])
