"""Linkability at population scale: known laws of p recovered, forecasts that come true on held-out people, laws."""

from __future__ import annotations

import itertools
import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.stats import binom, skewnorm

from personare.core.errors import MetricError
from personare.core.findings import Estimate
from personare.metrics.privacy import population as population_file
from personare.metrics.privacy.exceedance import GRID, BellCurve, CountBins, Exceedance, fit_exceedance
from personare.metrics.privacy.linkability import exact_curve
from personare.metrics.privacy.nontargets_above import nontargets_above
from personare.metrics.privacy.population import CARD, Check, population_linkability


def bell_counts(seed: int, *, mean: float, spread: float, tests: int, enrolled: int) -> NDArray[np.int64]:
    """Counts of nontargets above when the distance of the speaker from the others is a bell curve."""
    rng = np.random.default_rng(seed)
    p = [0.5 * math.erfc(z / math.sqrt(2)) for z in mean + spread * rng.standard_normal(tests)]
    return rng.binomial(enrolled - 1, p)


def voice_counts(seed: int, *, people: int, tests: int) -> NDArray[np.int64]:
    """Counts of nontargets above among vectors of people whose recordings differ in quality."""
    rng = np.random.default_rng(seed)
    enroll = rng.standard_normal((people, 48))
    noise = 1.8 * np.exp(0.3 * rng.standard_normal((tests, 1)))
    return nontargets_above(
        enroll[:tests] + noise * rng.standard_normal((tests, 48)), np.arange(tests), enroll, np.arange(people)
    )


# closed form


def test_guessing_stays_at_one_in_n_up_to_a_thousand_million() -> None:
    guess = BellCurve(0.0, 1.0)
    for people in (2, 20, 10**4, 10**6, 10**9):
        assert guess.linkability(people) * people == pytest.approx(1.0, rel=0.02)


def test_two_unit_bell_curves_have_the_known_rate_against_one_stranger() -> None:
    for distance in (0.5, 1.0, 2.0):  # Phi(d / sqrt 2) for two unit Gaussians d apart
        known = 0.5 * math.erfc(-distance / 2)
        assert BellCurve(distance, 1.0).linkability(2) == pytest.approx(known, abs=1e-4)


def test_the_fit_finds_the_curve_that_made_the_counts() -> None:
    b = bell_counts(0, mean=2.5, spread=1.1, tests=4000, enrolled=5000)
    bins = CountBins.of(5000)
    fit = fit_exceedance(bins, np.bincount(bins.place(b), minlength=len(bins.edges)).astype(float))
    assert fit.bell.mean == pytest.approx(2.5, abs=0.1) and fit.bell.spread == pytest.approx(1.1, abs=0.1)
    truth = BellCurve(2.5, 1.1)
    for people in (10**4, 10**6):
        assert fit.linkability(people) == pytest.approx(truth.linkability(people), rel=0.25)


@pytest.mark.parametrize(("mean", "spread"), [(3.0, 0.5), (1.0, 2.5), (-0.5, 0.2)])
def test_narrow_and_wide_curves_are_found_too(mean: float, spread: float) -> None:
    b = bell_counts(1, mean=mean, spread=spread, tests=3000, enrolled=3000)
    bins = CountBins.of(3000)
    fit = fit_exceedance(bins, np.bincount(bins.place(b), minlength=len(bins.edges)).astype(float))
    truth = BellCurve(mean, spread)
    for people in (3000, 30_000):
        assert fit.bell.linkability(people) == pytest.approx(truth.linkability(people), rel=0.3, abs=2e-3)
    if mean > 0:
        assert fit.bell.spread == pytest.approx(spread, rel=0.15)


def test_bins_of_few_people_and_where_they_begin_to_grow() -> None:
    assert CountBins.of(4).edges.tolist() == [0, 1, 2, 3] and CountBins.of(3).edges.tolist() == [0, 1, 2]
    assert CountBins.of(20).edges.tolist() == [0, 1, 2, 3] and CountBins.of(41).edges.tolist() == [0, 1, 2, 3, 4, 5]
    assert CountBins.of(320).edges.tolist() == list(range(33))
    assert CountBins.of(500).edges.tolist() == [*range(33), 40, 50]
    assert CountBins.of(100).place(np.array([0, 3, 9, 10, 11, 99])).tolist() == [0, 3, 9, 10, 10, 10]


@pytest.mark.parametrize("enrolled", [25, 500])
def test_a_bin_holds_the_binomial_probability_of_its_counts(enrolled: int) -> None:
    bins = CountBins.of(enrolled)
    ends = [*bins.edges[1:], enrolled]
    for cell in (0, 120, 200, 300, 420):
        p = NormalDist().cdf(-(GRID[cell] + GRID[cell + 1]) / 2)
        each = binom.pmf(np.arange(enrolled), enrolled - 1, p)
        expected = [each[a:b].sum() for a, b in zip(bins.edges, ends, strict=True)]
        np.testing.assert_allclose(bins.probability[:, cell], expected, atol=1e-12)


@pytest.mark.parametrize("curve", [BellCurve(0.5, 1.3), BellCurve(-1.0, 2.0, 3.0), BellCurve(2.0, 0.5, -4.0)])
def test_cells_and_linkability_are_scipys_skew_normal_law(curve: BellCurve) -> None:
    law = skewnorm(curve.skew, curve.mean, curve.spread)
    below = law.cdf(GRID)
    below[0], below[-1] = 0.0, 1.0
    np.testing.assert_allclose(curve.cells(GRID), np.diff(below), atol=1e-9)
    for people in (2, 50, 10**4):
        mean = quad(lambda z: law.pdf(z) * (1 - NormalDist().cdf(-z)) ** (people - 1), -12, 14, limit=400)[0]  # noqa: B023
        assert curve.linkability(people) == pytest.approx(mean, rel=2e-4, abs=1e-9)


def test_a_mixture_weighs_both_curves() -> None:
    one, two = BellCurve(1.0, 1.0), BellCurve(3.0, 1.0, 2.0)
    mixed = Exceedance(one, two, 0.25).linkability(100)
    assert mixed == pytest.approx(0.75 * one.linkability(100) + 0.25 * two.linkability(100))


def test_bins_share_all_probability() -> None:
    for enrolled in (20, 29, 500, 22_024):
        bins = CountBins.of(enrolled)
        np.testing.assert_allclose(bins.probability.sum(axis=0), 1.0, atol=1e-12)
        assert bins.place(np.array([0, enrolled - 1])).tolist() == [0, len(bins.edges) - 1]


# reference: what was measured among people the fit did not see


def test_forecasts_come_true_among_held_out_people() -> None:
    people, tests = 4000, 1500
    b = voice_counts(1, people=people, tests=tests)
    measured = float(exact_curve(b, enrolled=people)[-1])
    few = 400
    seen = np.random.default_rng(2).hypergeometric(b, people - 1 - b, few - 1)
    forecast = population_linkability(seen, np.arange(tests), enrolled=few, populations=(people,))
    assert forecast.estimates[0].value == pytest.approx(measured, abs=0.03)
    assert forecast.estimates[0].low <= measured <= forecast.estimates[0].high
    assert exact_curve(seen, enrolled=few)[-1] > measured + 0.1, "the forecast had something to foretell"


def test_the_checks_report_the_error_and_set_the_reach() -> None:
    b = voice_counts(3, people=4000, tests=600)
    found = population_linkability(b, np.arange(600), enrolled=4000, populations=(10**6, 10**9))
    assert [c.factor for c in found.checks] == [10, 100] and [c.fitted_on for c in found.checks] == [400, 40]
    for check in found.checks:
        assert check.measured == float((b == 0).mean())
        assert check.error == check.forecast - check.measured and abs(check.error) < 0.1
    assert abs(found.checks[0].error) < 0.03
    assert found.trusted_to(tolerance=1.0) == 400_000 and found.trusted_to(tolerance=0.0) == 4000
    finding = found.findings(attacker="informed")[1]
    assert finding.conditions["N"] == 10**9 and finding.conditions["checked_to"] == found.trusted_to()
    assert finding.chance_level == 1e-9 and "Do not trust" in CARD.caution


def test_the_error_of_the_checks_grows_with_each_factor_of_ten_beyond_the_enrolled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decades: list[float] = []
    widened = population_file._widened

    def noted(*given: Any) -> Any:
        decades.append(given[-1])
        return widened(*given)

    monkeypatch.setattr(population_file, "_widened", noted)
    counts = np.random.default_rng(1).lognormal(0, 1.5, 400).astype(int)
    population_linkability(counts, np.arange(400) % 40, enrolled=500, populations=(500, 5000, 5 * 10**7))
    assert decades == pytest.approx([0.0, 1.0, 5.0])


def test_few_beaten_tests_carry_no_further_than_the_data() -> None:
    b = np.zeros(200, dtype=np.int64)
    b[:5] = [1, 1, 2, 4, 9]
    found = population_linkability(b, np.arange(200), enrolled=300, populations=(10**6,))
    assert found.beaten == 5 and found.trusted_to() == 300


def test_half_clear_and_half_lost_voices_are_within_the_interval() -> None:
    """Nobody resembles half of the voices, the rest are guesses: a bell curve fits, and its forecast is far too low."""
    rng = np.random.default_rng(0)
    b = np.where(np.arange(500) < 240, 0, rng.integers(0, 500, 500))
    found = population_linkability(b, np.arange(500), enrolled=500, populations=(10**9,))
    assert found.estimates[0].value < 0.4
    assert found.estimates[0].low <= 0.48 <= found.estimates[0].high


def test_what_cannot_be_checked_has_no_interval() -> None:
    b = bell_counts(4, mean=1.0, spread=1.0, tests=100, enrolled=100)
    found = population_linkability(b, np.arange(100), enrolled=100, populations=(10**6,))
    assert not found.checks and np.isnan([found.estimates[0].low, found.estimates[0].high]).all()
    assert found.estimates[0].value == found.model.linkability(10**6)


# laws


@settings(max_examples=8)
@given(st.floats(-0.5, 5.0), st.floats(0.3, 2.0), st.floats(-3.0, 3.0))
def test_a_larger_population_never_links_more(mean: float, spread: float, skew: float) -> None:
    curve = BellCurve(mean, spread, skew)
    rates = [curve.linkability(people) for people in (1, 2, 10, 10**3, 10**6, 10**9)]
    assert rates[0] == pytest.approx(1.0) and all(a >= b >= 0 for a, b in itertools.pairwise(rates))


def test_order_changes_nothing() -> None:
    b = bell_counts(4, mean=2.0, spread=1.0, tests=300, enrolled=200)
    speakers = np.repeat(np.arange(100), 3)
    order = np.random.default_rng(0).permutation(300)
    one = population_linkability(b, speakers, enrolled=200, populations=(10**5,))
    two = population_linkability(b[order], speakers[order], enrolled=200, populations=(10**5,))
    assert one.estimates[0].value == pytest.approx(two.estimates[0].value, rel=1e-9)
    assert one.estimates[0].n == 100


# degenerate


@pytest.mark.parametrize(
    ("counts", "options", "says"),
    [
        ([0, 0, 0], {"enrolled": 100}, "no test was beaten by any of 99 other speakers"),
        ([1, 2], {"enrolled": 10}, "at least 20 enrolled"),
        ([], {"enrolled": 100}, "at least one test"),
        ([1, 2], {"enrolled": 100, "populations": ()}, "populations"),
        ([1, 2], {"enrolled": 100, "populations": (0,)}, "populations"),
        ([1, 200], {"enrolled": 100}, "0..99 are other speakers"),
    ],
)
def test_bad_input_is_one_line(counts: list[int], options: dict[str, Any], says: str) -> None:
    with pytest.raises(MetricError, match=says):
        population_linkability(counts, np.arange(len(counts)), **options)


def test_the_model_is_fitted_to_all_tests_of_all_speakers() -> None:
    b = bell_counts(4, mean=2.0, spread=1.0, tests=300, enrolled=100)
    found = population_linkability(b, np.arange(300) % 7, enrolled=100, populations=(1, 10**6))
    bins = CountBins.of(100)
    assert found.model == fit_exceedance(bins, np.bincount(bins.place(b), minlength=len(bins.edges)).astype(float))
    assert found.estimates[0].value == pytest.approx(1.0), "somebody alone is found"


def test_an_interval_reaches_down_by_the_worst_check_for_each_factor_of_ten_and_up_to_what_was_measured() -> None:
    """Odds of 9 foretold and 1 measured at a factor of 100: three times too high for each factor of ten."""
    curves = [Estimate(0.3, low, 0.9, 8) for low in (0.2, math.nan)]
    checks = [Check(100, 40, 0.9, 0.5), Check(10, 400, 0.5, 0.6)]
    measured = Estimate(0.7, 0.6, 0.8, 8)

    def widened(value: float, decades: float, some: list[Check] = checks) -> Estimate:
        return population_file._widened(value, curves, some, measured, decades)

    for decades, odds in ((0.0, 1 / 4), (1.0, 1 / 12), (3.0, 1 / 108)):
        found = widened(0.3, decades)
        assert found.low / (1 - found.low) == pytest.approx(odds) and (found.high, found.n) == (0.8, 8)
    assert widened(0.1, 0.0).low == 0.1, "the value itself is in it"
    assert widened(0.9, 1.0).high == 0.9
    smaller = widened(0.3, -0.5)
    assert (smaller.low, smaller.high) == (0.2, 1.0), "fewer people than measured: anything above may be"
    certain = widened(0.3, 1.0, [Check(10, 40, 1.0, 0.5)])
    assert certain.low == pytest.approx(0.25e-12, rel=1e-3), "certainty counts as odds of 10^12"
    assert widened(0.3, 1.0, [Check(10, 40, 0.0, 0.5)]).low == pytest.approx(0.25e-12, rel=1e-3)
    assert widened(0.3, 100.0).low >= 0.0, "no overflow"


def test_a_check_is_the_forecast_of_twenty_smaller_enrolments_drawn_from_the_same_people() -> None:
    b = bell_counts(6, mean=1.5, spread=1.0, tests=120, enrolled=2500)
    found = population_linkability(b, np.arange(120) % 30, enrolled=2500, populations=(10**5,), rng=7)
    rng = np.random.default_rng(7)
    for check, few in zip(found.checks, (250, 25), strict=True):
        seen = rng.hypergeometric(b, 2499 - b, few - 1, size=(20, 120))
        bins = CountBins.of(few)
        counts = np.bincount(bins.place(seen.ravel()), minlength=len(bins.edges)) / 20
        assert (check.fitted_on, check.forecast) == (few, fit_exceedance(bins, counts).linkability(2500))
