"""Intervals: Wilson against scipy and its own equation, leaving out speakers against Student and by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import binomtest

from personare.core.errors import MetricError
from personare.metrics.intervals import (
    from_left_out,
    leave_out_groups,
    speaker_interval,
    speaker_intervals,
    speaker_mean,
    wilson,
)

from .by_hand import ends_by_hand


@pytest.mark.parametrize(("hits", "n"), [(0, 1), (0, 20), (3, 20), (10, 20), (20, 20), (415, 449)])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.99])
def test_wilson_is_scipys(hits: int, n: int, level: float) -> None:
    reference = binomtest(hits, n).proportion_ci(level, method="wilson")
    found = wilson(hits, n, level=level)
    assert (found.value, found.n) == (hits / n, n)
    assert found.low == pytest.approx(reference.low, abs=1e-12)
    assert found.high == pytest.approx(reference.high, abs=1e-12)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.floats(0, n), st.just(n))))
def test_wilson_solves_its_equation_and_mirrors(case: tuple[float, int]) -> None:
    successes, n = case
    found, mirrored = wilson(successes, n), wilson(n - successes, n)
    assert 0 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= 1
    assert mirrored.low == pytest.approx(1 - found.high, abs=1e-9)
    z = 1.959963984540054
    for end in (found.low, found.high):
        assert abs(found.value - end) == pytest.approx(z * math.sqrt(end * (1 - end) / n), abs=1e-7)


def test_more_attempts_narrow_the_interval() -> None:
    widths = [wilson(n / 4, n) for n in (4, 40, 400, 4000)]
    assert all(a.high - a.low > b.high - b.low for a, b in itertools.pairwise(widths))


@pytest.mark.parametrize(("successes", "n"), [(1, 0), (-0.1, 5), (5.1, 5), (math.nan, 5)])
def test_wilson_refuses_impossible_counts(successes: float, n: int) -> None:
    with pytest.raises(MetricError, match=r"attempt"):
        wilson(successes, n)


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, math.nan])
def test_levels_outside_0_to_1_are_refused(level: float) -> None:
    with pytest.raises(MetricError, match="level"):
        wilson(1, 2, level=level)


def test_the_interval_of_a_mean_is_students() -> None:
    values = np.random.default_rng(0).normal(5, 2, size=8)
    found = speaker_mean(values, np.ones(8))
    low, high = stats.t.interval(0.95, 7, loc=values.mean(), scale=values.std(ddof=1) / math.sqrt(8))
    assert (found.value, found.low, found.high) == pytest.approx((values.mean(), low, high), rel=1e-9)
    narrow = speaker_mean(values, np.ones(8), level=0.5)
    assert narrow.high - narrow.low == pytest.approx((high - low) * stats.t.ppf(0.75, 7) / stats.t.ppf(0.975, 7))


def test_a_number_from_zero_on_has_its_interval_on_the_scale_of_logarithms() -> None:
    """The leave-one-out means by hand, their logarithms, and three halves of the bias that those have."""
    wrong, words = np.array([3.0, 9.0, 1.0, 6.0]), np.array([50.0, 60.0, 40.0, 50.0])
    found = speaker_mean(wrong, words, bounds=(0.0, math.inf))
    value = wrong.sum() / words.sum()
    without = np.log([(wrong.sum() - e) / (words.sum() - w) for e, w in zip(wrong, words, strict=True)])
    reach = stats.t.ppf(0.975, 3) * math.sqrt(3 / 4 * ((without - without.mean()) ** 2).sum())
    corrected = math.log(value) - 1.5 * 3 * (without.mean() - math.log(value))
    ends = sorted([math.log(value), corrected])
    assert math.log(found.high) == pytest.approx(ends[1] + reach)
    plain = np.exp(without)
    reach = stats.t.ppf(0.975, 3) * math.sqrt(3 / 4 * ((plain - plain.mean()) ** 2).sum())
    assert (found.low == 0.0) == (min(value, value - 4.5 * (plain.mean() - value)) - reach <= 0)


def test_leaving_out_speakers_is_wider_than_leaving_out_trials() -> None:
    rng = np.random.default_rng(0)
    speaker_means = rng.normal(size=10)
    trials = np.repeat(speaker_means, 100) + 0.1 * rng.normal(size=1000)
    by_speaker = speaker_mean(trials.reshape(10, 100).sum(axis=1), np.full(10, 100))
    by_trial = speaker_mean(trials, np.ones(1000))
    assert by_speaker.value == pytest.approx(by_trial.value)
    assert by_speaker.high - by_speaker.low > 5 * (by_trial.high - by_trial.low)


def test_more_than_a_hundred_speakers_are_left_out_in_groups() -> None:
    assert leave_out_groups(100).tolist() == list(range(100))
    assert np.bincount(leave_out_groups(250)).tolist() == [3] * 50 + [2] * 50
    values = np.random.default_rng(0).normal(size=3000)
    found = speaker_mean(values, np.ones(3000))
    assert found.n == 3000 and found.high - found.low == pytest.approx(2 * 1.96 / math.sqrt(3000), rel=0.2)
    rest = [values[np.arange(3000) % 100 != group].mean() for group in range(100)]
    assert (found.low, found.high) == pytest.approx(ends_by_hand(values.mean(), rest, level=0.95), rel=1e-9)


def test_what_lies_at_the_end_of_its_scale_without_a_speaker_counts_as_near_it() -> None:
    """Log odds of 0 or 1 and the logarithm of 0 are endless: two thousandths of the scale, or a hundredth of the value.

    Where the value itself is nearer to the end than four times that, a quarter of its own distance.
    """
    for value, bounds, counted in (
        (0.5, (0.0, 1.0), 0.002),
        (0.5, (0.0, 5.0), 0.01),
        (0.004, (0.0, 1.0), 0.001),
        (3.0, (0.0, math.inf), 0.03),
        (3.0, (1.0, math.inf), 1.02),
        (-3.0, (-math.inf, 0.0), -0.03),
    ):
        end = bounds[0] if math.isfinite(bounds[0]) else bounds[1]
        near = [value, value, value, counted]
        (found,) = from_left_out(np.array([[value, *near[:3], end]]).T, speakers=4, bounds=[bounds], level=0.2)
        plain_low, plain_high = ends_by_hand(value, [*near[:3], end], level=0.2)
        low, high = ends_by_hand(value, near, bounds=bounds, level=0.2)
        low = bounds[0] if plain_low <= bounds[0] else low
        high = bounds[1] if plain_high >= bounds[1] else high
        assert (found.low, found.high) == pytest.approx((low, high), rel=1e-9), (value, bounds)
        assert bounds[0] < found.low or found.high < bounds[1], "one end at least tells"


def test_one_speaker_has_a_value_but_no_interval() -> None:
    found = speaker_mean([3], [6])
    assert (found.value, found.n) == (0.5, 1)
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_rows_without_a_value_are_left_out_and_too_many_leave_no_interval() -> None:
    def needs_the_first(kept: np.ndarray) -> np.ndarray:
        return np.where(kept[:, 0] > 0, kept @ np.arange(5.0) / kept.sum(axis=1), np.nan)

    assert not math.isnan(speaker_interval(needs_the_first, speakers=5).low)
    never = speaker_interval(lambda kept: np.where(kept.all(axis=1), 1.0, np.nan), speakers=9)
    assert never.value == 1.0
    assert math.isnan(never.low)


def test_a_statistic_that_few_speakers_pull_to_one_side_has_its_bias_in_the_interval() -> None:
    """The variance divided by n is too small by 1/n of itself; the interval reaches three halves of that further up."""
    values = np.random.default_rng(0).normal(size=12)

    def spread(kept: np.ndarray) -> np.ndarray:
        count = kept.sum(axis=1)
        return np.asarray(kept @ values**2 / count - (kept @ values / count) ** 2)

    found = speaker_interval(spread, speakers=12)
    bias = values.var() - values.var(ddof=1)
    assert bias < 0
    assert (found.high + found.low) / 2 == pytest.approx(found.value - 0.75 * bias, rel=1e-9)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_share_at_its_end_keeps_the_doubt_of_so_few_speakers(value: float) -> None:
    found = speaker_mean(np.full(6, value), np.ones(6), bounds=(0.0, 1.0))
    doubt = wilson(0, 6).high
    assert (found.low, found.high) == pytest.approx((0.0, doubt) if value == 0 else (1 - doubt, 1.0))


@given(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=12))
def test_an_interval_holds_its_value_and_stays_within_the_bounds(shares: list[float]) -> None:
    found = speaker_mean(shares, np.ones(len(shares)), bounds=(0.0, 1.0))
    assert -1e-12 <= found.low <= found.value <= found.high <= 1 + 1e-12


def test_each_statistic_has_its_own_bounds() -> None:
    def two(drawn: np.ndarray) -> np.ndarray:
        return np.stack([drawn[:, 0], -drawn[:, 0]], axis=1)

    limits = [(0.5, 1.5), (-math.inf, 9.0)]
    for estimate, bounds, sign in zip(speaker_intervals(two, speakers=9, bounds=limits), limits, (1, -1), strict=True):
        ends = ends_by_hand(sign, sign * (np.arange(9) > 0), bounds=bounds, level=0.95)
        assert (estimate.value, estimate.low, estimate.high) == pytest.approx((sign, *ends), rel=1e-9)
    with pytest.raises(ValueError, match="shorter"):
        speaker_intervals(two, speakers=9, bounds=[(0.0, 1.0)])


def test_speakers_without_counts_are_not_there() -> None:
    found = speaker_mean([1, 0, 2], [2, 0, 2])
    assert (found.value, found.n) == (0.75, 2)
    with pytest.raises(MetricError, match="at least one speaker"):
        speaker_mean([0], [0])
    with pytest.raises(MetricError, match="equal length"):
        speaker_mean([0, 1], [1])


def test_no_speakers_are_refused() -> None:
    with pytest.raises(MetricError, match="needs speakers, not 0"):
        speaker_intervals(lambda kept: kept, speakers=0)
    assert len(speaker_intervals(lambda kept: kept, speakers=3)) == 3


@pytest.mark.filterwarnings("error")
def test_an_infinite_number_without_some_speaker_leaves_no_interval_and_no_warning() -> None:
    endless = lambda kept: np.where(kept[:, 0] == 0, -np.inf, kept[:, 0])  # noqa: E731
    found = speaker_interval(endless, speakers=3)
    assert found.value == 1.0 and math.isnan(found.low) and math.isnan(found.high)
    always = speaker_interval(lambda kept: np.full(len(kept), -np.inf), speakers=3)
    assert (always.low, always.value) == (-np.inf, -np.inf)


@pytest.mark.parametrize("bounds", [(1.0, 5.0), (-1.0, 1.0), (0.0, 0.5), (0.0, 1.0)])
def test_the_doubt_at_the_end_of_a_scale_is_a_share_of_its_width_but_of_1_at_least(bounds: tuple[float, float]) -> None:
    """All of six people say 5 of 1 to 5: Wilson's 39 % of the width; an EER of 0 may be 39 %, not 39 % of 50 %."""
    width, doubt = bounds[1] - bounds[0], wilson(0, 6).high
    reach = min(width, doubt * max(1.0, width))
    lowest, highest = (speaker_mean(np.full(6, end), np.ones(6), bounds=bounds) for end in bounds)
    assert (lowest.value, lowest.low, lowest.high) == pytest.approx((bounds[0], bounds[0], bounds[0] + reach))
    assert (highest.value, highest.low, highest.high) == pytest.approx((bounds[1], bounds[1] - reach, bounds[1]))


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (0.0, math.inf), (-math.inf, 1.0)])
def test_to_be_nearly_certain_of_two_speakers_is_a_wide_interval_and_no_overflow(bounds: tuple[float, float]) -> None:
    for shares in ([0.001, 0.2], [0.8, 0.999]):
        found = speaker_mean(shares, [1, 1], bounds=bounds, level=1 - 1e-9)
        assert bounds[0] <= found.low < found.value < found.high <= bounds[1]


@pytest.mark.parametrize("share", [0.004, 0.3, 0.5, 0.9, 0.9999])
@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-1.0, 1.0), (1.0, 5.0)])
def test_a_share_and_what_is_missing_to_all_have_mirrored_intervals(share: float, bounds: tuple[float, float]) -> None:
    """Near either end a quarter of the distance to it is what counts as being at the end."""
    shares = np.array([[share, share, share, 0.9 * share, 0.0, 1.0]]).T
    low, high = bounds
    for column in (shares[:5], shares[[0, 1, 2, 3, 5]]):
        (one,) = from_left_out(low + (high - low) * column, speakers=4, bounds=[bounds], level=0.2)
        (other,) = from_left_out(high - (high - low) * column, speakers=4, bounds=[bounds], level=0.2)
        assert (one.low, one.high) == pytest.approx((low + high - other.high, low + high - other.low))


def test_a_value_at_its_end_that_moves_without_somebody_is_no_certain_one() -> None:
    ends = [
        from_left_out(np.array([[0.0, 0.0, 0.0, x]]).T, speakers=3, bounds=[(0.0, 1.0)])[0] for x in (0.0, 0.1, 0.3)
    ]
    assert len({end.high for end in ends}) == 3
    for bounds in ((-math.inf, 1.0), (1.0, math.inf)):
        found = speaker_mean(np.ones(4), np.ones(4), bounds=bounds)
        assert (found.low, found.value, found.high) == (1.0, 1.0, 1.0), "a scale without a width has no share of it"


def test_an_end_exactly_at_the_bound_is_the_bound() -> None:
    """Corrected by 3/2 (n - 1)(mean u - u) the value lies at 4, where the scale ends, or at 0."""
    for value, without, expected in ((2.5, 1.5, (2.5, 4.0)), (1.5, 2.5, (0.0, 1.5))):
        (estimate,) = from_left_out(np.array([[value], [without], [without]]), speakers=2, bounds=[(0.0, 4.0)])
        assert (estimate.low, estimate.high) == pytest.approx(expected, abs=1e-12)
