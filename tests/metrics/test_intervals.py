"""Intervals: Wilson against scipy and its own equation, the speaker bootstrap against theory and brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from personare.core.errors import MetricError
from personare.metrics.intervals import bootstrap_many, speaker_bootstrap, speaker_mean, wilson


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


def test_bootstrap_of_a_mean_has_the_standard_error_of_theory() -> None:
    values = np.random.default_rng(0).normal(5, 2, size=200)
    found = speaker_mean(values, np.ones(200), rng=np.random.default_rng(1), resamples=4000)
    reach = 1.96 * values.std() / math.sqrt(200)
    assert found.value == pytest.approx(values.mean())
    assert found.high - found.low == pytest.approx(2 * reach, rel=0.06)


def test_redrawing_speakers_is_wider_than_redrawing_trials() -> None:
    rng = np.random.default_rng(0)
    speaker_means = rng.normal(size=10)
    trials = np.repeat(speaker_means, 100) + 0.1 * rng.normal(size=1000)
    by_speaker = speaker_mean(trials.reshape(10, 100).sum(axis=1), np.full(10, 100), rng=np.random.default_rng(1))
    by_trial = speaker_mean(trials, np.ones(1000), rng=np.random.default_rng(1))
    assert by_speaker.value == pytest.approx(by_trial.value)
    assert by_speaker.high - by_speaker.low > 5 * (by_trial.high - by_trial.low)


def test_same_chance_same_interval_and_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    sums, counts = np.arange(9.0), np.arange(1.0, 10.0)
    whole = speaker_mean(sums, counts, rng=np.random.default_rng(3), resamples=100)
    monkeypatch.setattr("personare.metrics.intervals.CELLS_AT_ONCE", 30)
    assert speaker_mean(sums, counts, rng=np.random.default_rng(3), resamples=100) == whole


def test_one_speaker_has_a_value_but_no_interval() -> None:
    found = speaker_mean([3], [6], rng=np.random.default_rng(0))
    assert (found.value, found.n) == (0.5, 1)
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_redraws_without_a_value_are_left_out_and_too_many_leave_no_interval() -> None:
    def needs_the_first(drawn: np.ndarray) -> np.ndarray:
        return np.where(drawn[:, 0] > 0, drawn[:, 0], np.nan)

    found = speaker_bootstrap(needs_the_first, speakers=5, rng=np.random.default_rng(0))
    assert found.low >= 1
    never = speaker_bootstrap(
        lambda drawn: np.where((drawn == 1).all(axis=1), 1.0, np.nan), speakers=9, rng=np.random.default_rng(0)
    )
    assert never.value == 1.0
    assert math.isnan(never.low)


def test_a_centred_interval_holds_the_value_and_its_bounds() -> None:
    values = np.random.default_rng(0).random(30)

    def largest(drawn: np.ndarray) -> np.ndarray:
        return np.array([values[row > 0].max() for row in drawn])

    kwargs = {"speakers": 30, "rng": np.random.default_rng(1)}
    found = speaker_bootstrap(largest, centred=True, bounds=(0.0, 1.0), **kwargs)  # type: ignore[arg-type]
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_a_centred_interval_is_shifted_against_the_bias_of_the_redraws() -> None:
    """Redraws of this statistic lie 5 above the value: the shift brings them back, and must not push them further."""
    values = np.linspace(-1, 1, 40)

    def pulled(drawn: np.ndarray) -> np.ndarray:
        return np.asarray(drawn @ values / 40 + 5.0 * (drawn != 1).any(axis=1))

    plain = speaker_bootstrap(pulled, speakers=40, rng=np.random.default_rng(1))
    shifted = speaker_bootstrap(pulled, speakers=40, rng=np.random.default_rng(1), centred=True)
    assert plain.value == pytest.approx(0.0, abs=1e-12) and 4.7 < plain.low < 5.0 < plain.high < 5.3
    middle = np.median([pulled(row[None])[0] for row in np.random.default_rng(1).multinomial(40, [1 / 40] * 40, 1000)])
    assert (shifted.low, shifted.high) == pytest.approx((plain.low - middle, plain.high - middle), abs=1e-9)
    assert -0.3 < shifted.low < 0.0 < shifted.high < 0.3
    bounded = speaker_bootstrap(pulled, speakers=40, rng=np.random.default_rng(1), centred=True, bounds=(-0.05, 0.07))
    assert (bounded.low, bounded.high) == (-0.05, 0.07)


def test_speakers_without_counts_are_not_there() -> None:
    found = speaker_mean([1, 0, 2], [2, 0, 2], rng=np.random.default_rng(0))
    assert (found.value, found.n) == (0.75, 2)
    with pytest.raises(MetricError, match="at least one speaker"):
        speaker_mean([0], [0], rng=np.random.default_rng(0))
    with pytest.raises(MetricError, match="equal length"):
        speaker_mean([0, 1], [1], rng=np.random.default_rng(0))


def test_no_speakers_or_no_resamples_are_refused() -> None:
    with pytest.raises(MetricError, match="speakers and resamples"):
        bootstrap_many(lambda drawn: drawn, speakers=0, rng=np.random.default_rng(0))
    with pytest.raises(MetricError, match="speakers and resamples"):
        bootstrap_many(lambda drawn: drawn, speakers=3, rng=np.random.default_rng(0), resamples=0)


@pytest.mark.filterwarnings("error")
def test_infinite_redraws_give_an_infinite_end_and_no_warning() -> None:
    endless = lambda drawn: np.where(drawn[:, 0] == 0, -np.inf, drawn[:, 0])  # noqa: E731
    found = speaker_bootstrap(endless, speakers=3, rng=np.random.default_rng(1))
    assert found.value == 1.0 and found.low == -np.inf and found.high in (2.0, 3.0)
