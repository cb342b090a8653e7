"""Concordance: Lin's formula, its link to Pearson's correlation, laws, constants."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.core.errors import MetricError
from personare.metrics.utility.concordance import ccc, ccc_estimate

PAIRS = st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=2, max_size=30).filter(
    lambda pairs: len({x for x, _ in pairs}) > 1
)


@given(PAIRS)
def test_lins_formula_with_numpy_moments(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs, dtype=float).T
    expected = 2 * np.cov(x, y, bias=True)[0, 1] / (x.var() + y.var() + (x.mean() - y.mean()) ** 2)
    assert ccc(x, y) == pytest.approx(expected, abs=1e-9)


@given(PAIRS, st.floats(0.1, 10), st.floats(-100, 100))
def test_laws(pairs: list[tuple[int, int]], scale: float, shift: float) -> None:
    x, y = np.array(pairs, dtype=float).T
    assert ccc(y, x) == pytest.approx(ccc(x, y), abs=1e-9)
    assert ccc(scale * x + shift, scale * y + shift) == pytest.approx(ccc(x, y), abs=1e-6)
    assert abs(ccc(x, y)) <= 1


def test_closed_forms() -> None:
    x = np.array([-1.0, 0.0, 1.0])
    assert ccc(x, x) == 1
    assert ccc(x, -x) == -1
    assert ccc(x, 2 * x) == pytest.approx(2 * 2 / (1 + 4))
    assert ccc(x + 1e8, x + 1e8) == pytest.approx(1)
    assert ccc(x, [5, 5, 5]) == 0


def test_bad_input_is_one_line() -> None:
    for before, after, message in (
        ([1, 2], [1], "equally long"),
        ([1], [1], "equally long"),
        ([1, np.nan], [1, 2], "finite"),
        ([1, 1], [2, 2], "both lists are constant"),
    ):
        with pytest.raises(MetricError, match=message):
            ccc(before, after)
    with pytest.raises(MetricError, match="one speaker"):
        ccc_estimate([1, 2], [1, 2], speakers=["a"])


def test_interval_redraws_speakers() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    y = x + 0.5 * rng.normal(size=300)
    found = ccc_estimate(x, y, speakers=np.arange(300) % 15)
    assert found.value == pytest.approx(ccc(x, y))
    assert found.low < found.value < found.high
    assert found.n == 15


def test_rounding_never_makes_more_than_full_agreement_or_reversal() -> None:
    for seed in range(400):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=5)
        near = x + 1e-9 * rng.normal(size=5)
        assert 1 - 1e-12 < ccc(x, near) <= 1.0 and -1.0 <= ccc(x, 2 * x.mean() - near) < -1 + 1e-12
