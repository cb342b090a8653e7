"""Differences of evaluators, means of groups, t-tests, the analysis of variance: by hand, by scipy, by known truth."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from personare.core.errors import MetricError
from personare.metrics.privacy.listener_groups import differences, effects, group_mean, t_test

VALUES = st.lists(st.floats(-10, 10).map(lambda v: round(v, 3)), min_size=2, max_size=12)


def test_a_difference_is_the_control_less_the_mean_of_the_others() -> None:
    found = differences(
        [0.9, 0.5, 0.7, 0.2, 0.4, 1.0],
        control=[True, False, False, False, True, True],
        evaluators=["p", "p", "p", "q", "q", "alone"],
    )
    assert found == {"p": pytest.approx(0.3), "q": pytest.approx(0.2)}, "who has only one kind of trial has none"
    with pytest.raises(MetricError, match="one kind of trial"):
        differences([1.0], control=[True, False], evaluators=["p"])


def test_several_controls_count_by_their_mean() -> None:
    found = differences([1.0, 0.6, 0.5, 0.1], control=[True, True, False, False], evaluators=["p"] * 4)
    assert found == {"p": pytest.approx(0.5)}


@given(VALUES)
def test_a_mean_and_its_error_are_those_of_scipy(values: list[float]) -> None:
    found = group_mean(values)
    assert found.mean == pytest.approx(np.mean(values)) and found.n == len(values)
    assert found.error == pytest.approx(stats.sem(values))


@given(VALUES, VALUES)
def test_the_t_test_is_that_of_scipy(first: list[float], second: list[float]) -> None:
    if np.var(first) + np.var(second) < 1e-6:
        return
    assert t_test(first, second) == pytest.approx(stats.ttest_ind(first, second).pvalue, rel=1e-6, abs=1e-12)
    assert t_test(first, second) == pytest.approx(t_test(second, first))


def test_degenerate_groups() -> None:
    assert math.isnan(group_mean([1.0]).error) and math.isnan(t_test([1.0], [2.0]))
    assert t_test([1.0, 1.0], [1.0, 1.0]) == 1.0 and t_test([1.0, 1.0], [2.0, 2.0]) == 0.0
    with pytest.raises(MetricError, match="at least one value"):
        group_mean([])
    assert effects([1.0, 2.0], {"a": ["x", "x"]}) == (), "one level is no factor"
    assert effects([1.0, 2.0], {"a": ["x", "y"]}) == (), "nothing is left to compare with"
    assert effects([1.0, 2.0, 3.0, 4.0], {"a": list("xxyy"), "b": list("uuvv")}) == (), "not all combinations"
    with pytest.raises(MetricError, match="one level"):
        effects([1.0, 2.0], {"a": ["x", "y", "y"]})


def test_the_error_of_one_value_is_unknown_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alone = group_mean([0.5])
    assert alone.mean == 0.5 and math.isnan(alone.error) and alone.n == 1


def test_one_factor_is_the_one_way_analysis_of_scipy() -> None:
    rng = np.random.default_rng(1)
    groups = [rng.normal(mean, 1, n) for mean, n in ((0, 7), (0.5, 9), (1, 5))]
    (found,) = effects(np.concatenate(groups), {"g": [i for i, g in enumerate(groups) for _ in g]})
    truth = stats.f_oneway(*groups)
    assert found.f == pytest.approx(truth.statistic) and found.p == pytest.approx(truth.pvalue)
    assert (found.name, found.df, found.residual_df) == ("g", 2, 18)
    assert found.eta2 == pytest.approx(2 * found.f / (2 * found.f + 18)), "partial eta squared follows from F"


def test_two_levels_are_the_t_test() -> None:
    first, second = [1.0, 2.5, 3.0, 4.5], [2.0, 5.0, 6.5]
    (found,) = effects(first + second, {"g": ["a"] * 4 + ["b"] * 3})
    assert found.p == pytest.approx(t_test(first, second))


def test_a_balanced_two_way_table_by_hand() -> None:
    """Cells (2, 4), (6, 8), (4, 6), (12, 14): SS of a 32, of b 72, of both 8, of the rest 8, each with 1 and 4 df."""
    values = [2.0, 4.0, 6.0, 8.0, 4.0, 6.0, 12.0, 14.0]
    found = {e.name: e for e in effects(values, {"a": list("xxxxyyyy"), "b": list("uuvvuuvv")})}
    assert {name: e.f for name, e in found.items()} == {
        "a": pytest.approx(16.0),
        "b": pytest.approx(36.0),
        "a x b": pytest.approx(4.0),
    }
    assert found["a"].p == pytest.approx(stats.f.sf(16.0, 1, 4)) and found["b"].eta2 == pytest.approx(72 / 80)


def test_an_unbalanced_table_weighs_cells_equally() -> None:
    """Type III: an effect that is in no cell mean is not found because one group is larger."""
    values = [0.0, 0.2, 1.0, 1.2, 1.1, 0.9, 0.0, 0.1, -0.1, 0.2, 1.0, 1.1]
    a, b = list("xxxxxxyyyyyy"), list("uuvvvvuuuuvv")
    found = {e.name: e for e in effects(values, {"a": a, "b": b})}
    cells = {
        key: np.mean([v for v, i, j in zip(values, a, b, strict=True) if i + j == key])
        for key in ("xu", "xv", "yu", "yv")
    }
    assert abs(cells["xu"] + cells["xv"] - cells["yu"] - cells["yv"]) < 0.11
    assert found["a"].p > 0.1 > 1e-4 > found["b"].p


def test_false_alarms_are_as_rare_as_promised() -> None:
    """Three factors, no effect at all: p below 0.05 in one of twenty analyses."""
    rng = np.random.default_rng(2)
    factors = {name: rng.permutation([0, 1] * 20).tolist() for name in ("system", "language", "gender")}
    p = np.array([[e.p for e in effects(rng.standard_normal(40), factors)] for _ in range(300)])
    assert p.shape == (300, 7) and 0.03 < float((p < 0.05).mean()) < 0.07


def test_what_explains_everything_leaves_no_doubt_and_equal_values_nothing_to_explain() -> None:
    """Rounding leaves some 1e-30 of the squares: nothing, whatever the size of the values."""
    for scale in (1e-3, 1.0, 1e6):
        (found,) = effects(scale * np.array([0.1, 0.1, 0.3, 0.3, 0.7]), {"a": list("xxyyz")})
        assert (found.f, found.p, found.eta2) == (math.inf, 0.0, 1.0)
        assert effects([0.1 * scale] * 5, {"a": list("xxyyy")}) == ()


def test_factors_of_three_and_two_levels_interact_in_two_ways() -> None:
    values = np.random.default_rng(3).normal(size=24)
    found = effects(values, {"a": list("xyz") * 8, "b": list("uuuvvv") * 4})
    assert [(e.name, e.df, e.residual_df) for e in found] == [("a", 2, 18), ("b", 1, 18), ("a x b", 2, 18)]
