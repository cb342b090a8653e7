"""Ratings by people: ranks by hand, Mann-Whitney against scipy and by counting pairs, intervals that hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from personare.core.errors import MetricError
from personare.metrics.privacy.human_attack import abx_estimate, similarity_eer, similarity_eer_finding
from personare.metrics.utility.opinion import mann_whitney, mean_rating, normalized_ranks, rated_above

RATINGS = st.lists(st.integers(1, 10), min_size=1, max_size=30)


def test_ranks_by_hand() -> None:
    ranks = normalized_ranks([3, 1, 3, 10, 7, 7], ["p", "p", "p", "p", "q", "q"])
    assert ranks.tolist() == pytest.approx([0.5, 0.0, 0.5, 1.0, 0.5, 0.5])


@given(RATINGS, st.integers(-5, 5), st.floats(0.1, 9))
def test_ranks_forget_how_high_an_evaluator_rates(ratings: list[int], shift: int, scale: float) -> None:
    who = ["p"] * len(ratings)
    ranks = normalized_ranks(ratings, who)
    assert ((ranks >= 0) & (ranks <= 1)).all() and ranks.mean() == pytest.approx(0.5)
    assert normalized_ranks([scale * r + shift for r in ratings], who).tolist() == pytest.approx(ranks.tolist())


@given(RATINGS, RATINGS)
def test_mann_whitney_counts_pairs(a: list[int], b: list[int]) -> None:
    pairs = sum((x > y) + 0.5 * (x == y) for x in a for y in b)
    sums = mann_whitney(a, b)
    assert sums.u == pytest.approx(pairs) and sums.above == pytest.approx(pairs / (len(a) * len(b)))
    assert mann_whitney(b, a).above == pytest.approx(1 - sums.above) and 0 <= sums.p <= 1


def test_mann_whitney_against_scipy_and_a_permutation_test() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(1, 8, 40), rng.integers(2, 10, 50)
    ours, theirs = mann_whitney(a, b), stats.mannwhitneyu(a, b)
    assert (ours.u, ours.p) == pytest.approx((theirs.statistic, theirs.pvalue))
    both, extreme = np.concatenate([a, b]), abs(ours.above - 0.5)
    shares = []
    for _ in range(4000):
        drawn = rng.permutation(both)
        shares.append(stats.mannwhitneyu(drawn[:40], drawn[40:], method="asymptotic").statistic / 2000)
    share = np.mean(np.abs(np.array(shares) - 0.5) >= extreme)
    assert share == pytest.approx(ours.p, abs=0.01)
    assert mann_whitney([5, 5], [5, 5, 5]).p == 1.0


def test_rated_above_is_u_and_its_interval_is_over_evaluators() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.normal(0.4, 0.2, 60), rng.normal(0.6, 0.2, 60)
    who = np.repeat([f"e{i}" for i in range(12)], 5)
    estimate = rated_above(a, b, evaluators=who, other_evaluators=who)
    assert estimate.value == pytest.approx(mann_whitney(a, b).above)
    assert estimate.low < estimate.value < estimate.high < 0.5 and estimate.n == 12


def test_intervals_of_means_cover_the_truth() -> None:
    """Evaluators differ by 1 around a mean of 3: the interval over evaluators holds it about 19 times in 20."""
    rng = np.random.default_rng(5)
    inside = 0
    for _ in range(300):
        habits = rng.normal(0, 1, 25)
        ratings = (3 + habits[:, None] + rng.normal(0, 0.3, (25, 10))).ravel()
        estimate = mean_rating(ratings, evaluators=np.repeat(np.arange(25), 10).astype(str))
        inside += estimate.low <= 3 <= estimate.high
    assert 0.87 <= inside / 300 <= 0.985


def test_abx_of_guessers_covers_a_half_and_of_the_sure_is_not_certain() -> None:
    rng = np.random.default_rng(6)
    inside = 0
    for _ in range(200):
        right = rng.random(400) < 0.5
        estimate = abx_estimate(right, evaluators=np.repeat(np.arange(20), 20).astype(str))
        inside += estimate.low <= 0.5 <= estimate.high
    assert inside / 200 > 0.87
    sure = abx_estimate([1] * 40, evaluators=["p"] * 20 + ["q"] * 20)
    assert sure.value == 1 and 0.3 < sure.low < 0.5 and sure.n == 40, "two people prove little"
    alone = abx_estimate([1, 0, 1, 1], evaluators=["p"] * 4)
    assert alone.value == 0.75 and alone.low < 0.75 < alone.high, "one evaluator: the interval is over answers"


def test_eer_of_people_who_hear_no_difference_is_a_half() -> None:
    who = np.repeat([f"e{i}" for i in range(10)], 20)
    rng = np.random.default_rng(7)
    same = similarity_eer(rng.random(200), rng.random(200), target_evaluators=who, nontarget_evaluators=who)
    assert same.value > 0.42
    apart = similarity_eer(1 + rng.random(200), rng.random(200), target_evaluators=who, nontarget_evaluators=who)
    assert apart.value == 0 < apart.high


def test_a_rating_that_is_as_high_counts_half() -> None:
    how: Any = {"evaluators": ["p", "q"], "other_evaluators": ["p", "q"]}
    assert rated_above([2, 2], [2, 2], **how).value == 0.5
    assert rated_above([3, 2], [2, 1], **how).value == (1 + 1 + 0.5 + 1) / 4


def test_what_is_no_rating_is_refused() -> None:
    with pytest.raises(MetricError, match="each rating needs one evaluator"):
        normalized_ranks([1, 2], ["p"])
    with pytest.raises(MetricError, match="finite"):
        normalized_ranks([1, float("nan")], ["p", "p"])
    with pytest.raises(MetricError):
        mann_whitney([], [1])
    with pytest.raises(MetricError, match="each answer needs"):
        abx_estimate([], evaluators=[])


def test_the_eer_of_ratings_is_compared_with_shuffled_ratings_of_each_evaluator() -> None:
    """p rates everything high and heard mostly targets, q the other way round: an EER of 20 % of habits alone."""
    who: Any = {"target_evaluators": ["p"] * 8 + ["q"] * 2, "nontarget_evaluators": ["p"] * 2 + ["q"] * 8}
    how: Any = {**who, "conditions": {}, "rng": np.random.default_rng(0)}
    habits = similarity_eer_finding([0.9] * 8 + [0.1] * 2, [0.9] * 2 + [0.1] * 8, **how)
    assert habits.estimate.value == pytest.approx(0.2) == habits.chance
    assert (habits.p_better, habits.p_worse) == (1.0, 1.0) and habits.differs_from_chance is False
    heard = similarity_eer_finding(np.linspace(0.6, 0.9, 10), np.linspace(0.1, 0.4, 10), **how)
    assert heard.estimate.value == 0 and heard.chance is not None and heard.chance < 0.5
    assert heard.p_better is not None and heard.p_better <= 1 / 200
    few = {"target_evaluators": ["p"], "nontarget_evaluators": ["p"]}
    nothing = similarity_eer_finding([0.9], [0.1], **few, conditions={}, rng=np.random.default_rng(0))
    assert nothing.differs_from_chance is None, "two ways to label two ratings prove nothing"


def test_two_ratings_of_one_evaluator_are_the_lowest_and_the_highest() -> None:
    assert normalized_ranks([4, 2, 3, 3, 5], list("ppqqr")).tolist() == [1.0, 0.0, 0.5, 0.5, 0.5]


def test_equal_ratings_are_no_difference_however_few() -> None:
    for n, m in ((1, 1), (1, 2), (4, 3)):
        found = mann_whitney([2.0] * n, [2.0] * m)
        assert (found.u, found.above, found.p) == (n * m / 2, 0.5, 1.0)
