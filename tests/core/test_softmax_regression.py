"""The one softmax regression: at its minimum, blind to units and order, weights as good as repeated rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from personare.core.errors import ConfigError
from personare.core.softmax_regression import SoftmaxRegression, fit_softmax_regression, softmax, standardize

RNG = np.random.default_rng(7)
ROWS = RNG.normal(size=(90, 4)) * [1, 10, 0.1, 1] + [0, 5, 0, -3]
LABELS = [["a", "b", "c"][k] for k in np.argmax(ROWS[:, [0, 2, 3]] + RNG.normal(size=(90, 3)), axis=1)]
WEIGHTS = RNG.uniform(0.5, 1.5, 90)


def _fit(rows: NDArray[Any] = ROWS, labels: list[str] = LABELS, **changes: Any) -> SoftmaxRegression:
    return fit_softmax_regression(rows, labels, **{"example_weights": WEIGHTS, "l2": 0.7, **changes})


def test_the_slope_of_its_objective_is_zero() -> None:
    model = _fit()
    x = (ROWS - model.mean) / model.scale
    wrong = WEIGHTS[:, None] * (
        softmax(x @ model.weights.T + model.bias) - (np.array(LABELS)[:, None] == model.classes)
    )
    np.testing.assert_allclose(wrong.T @ x + 0.7 * model.weights, 0, atol=2e-3)
    np.testing.assert_allclose(wrong.sum(axis=0), 0, atol=2e-3)


def test_units_of_the_inputs_change_nothing() -> None:
    scaled = ROWS * [3, 0.01, 100, 1] - 4
    np.testing.assert_allclose(_fit(scaled).log_probabilities(scaled), _fit().log_probabilities(ROWS), atol=1e-6)


def test_a_weight_of_two_is_the_row_twice() -> None:
    x, _, _ = standardize(np.r_[ROWS, ROWS])  # twice the rows: the same mean and scale
    twice = fit_softmax_regression(x, LABELS + LABELS, example_weights=np.r_[WEIGHTS, WEIGHTS], l2=0.7)
    once = fit_softmax_regression(x[:90], LABELS, example_weights=2 * WEIGHTS, l2=0.7)
    np.testing.assert_allclose(twice.log_probabilities(x[:90]), once.log_probabilities(x[:90]), atol=2e-3)


def test_probabilities_sum_to_one_and_a_constant_column_says_nothing() -> None:
    rows = np.c_[ROWS, np.full(90, 5.0)]
    model = _fit(rows)
    np.testing.assert_allclose(np.exp(model.log_probabilities(rows)).sum(axis=1), 1)
    np.testing.assert_allclose(model.weights[:, -1], 0)
    np.testing.assert_allclose(model.log_probabilities(rows), _fit().log_probabilities(ROWS), atol=1e-6)


def test_one_class_or_a_missing_label_is_one_line() -> None:
    for labels in (["a"] * 90, LABELS[:-1]):
        with pytest.raises(ConfigError, match="one class per row and two classes"):
            _fit(labels=labels)
