"""The curves of z that are fitted to measured ranks: their cells, their limits, and what the skewed one weighs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from personare.metrics.privacy.exceedance import FINE, GRID, BellCurve, CountBins, Exceedance, fit_exceedance


def test_the_skewed_curve_weighs_what_akaikes_criterion_gives_it() -> None:
    """One more parameter costs one: equal fits weigh 1 : e, and a law that is far from a bell leaves nothing to it."""
    bins = CountBins.of(2000)
    truth = [BellCurve(2.0, 1.0), BellCurve(0.5, 2.5, 6.0)]
    straight, skewed = (fit_exceedance(bins, 3000 * bins.probability @ curve.cells(GRID)) for curve in truth)
    assert straight.weight == pytest.approx(1 / (1 + math.e), abs=0.01)
    assert skewed.weight > 0.999 and skewed.skewed.skew > 3
    assert skewed.linkability(10**4) == pytest.approx(truth[1].linkability(10**4), rel=0.02)


def test_curves_stay_within_their_limits_where_the_counts_ask_for_more() -> None:
    """Half of the tests beaten by nobody and half by everybody: no spread is large enough."""
    bins = CountBins.of(1000)
    counts = np.zeros(len(bins.edges))
    counts[0] = counts[-1] = 500.0
    fit = fit_exceedance(bins, counts)
    assert fit.bell.spread == pytest.approx(5.0) and fit.skewed.spread <= 5.0 + 1e-9
    counts[0], counts[-1] = 1000.0, 0.0
    assert -4.0 <= fit_exceedance(bins, counts).bell.mean <= 9.0
    counts[0], counts[-1] = 0.0, 1000.0
    assert fit_exceedance(bins, counts).linkability(1000) < 1e-3


def test_the_cells_of_the_fit_are_made_of_the_cells_of_the_forecast() -> None:
    """Eight fine cells to one: what was fitted on the coarse grid has the same probabilities on the fine one."""
    for curve in (BellCurve(0.5, 1.3), BellCurve(8.0, 2.0, 3.0), BellCurve(-4.0, 2.0)):
        fine = curve.cells(FINE).reshape(len(GRID) - 1, -1)
        assert fine.shape[1] == 8
        np.testing.assert_allclose(fine.sum(axis=1), curve.cells(GRID), atol=1e-12)


@pytest.mark.parametrize(("place", "mean"), [(0, 9.0), (-1, -4.0)])
def test_a_fit_that_starts_beyond_the_limits_ends_within_them(place: int, mean: float) -> None:
    """Nobody was beaten, or everybody was: there is no slope that would lead back by itself."""
    bins = CountBins.of(1000)
    counts = np.zeros(len(bins.edges))
    counts[place] = 500.0
    for spread, kept in ((0.01, 0.05), (0.05, 0.05), (0.06, 0.06)):
        far = BellCurve(5 * mean, spread, 99.0)
        fit = fit_exceedance(bins, counts, start=Exceedance(far, far, 0.5))
        for curve in (fit.bell, fit.skewed):
            assert (curve.mean, curve.spread) == pytest.approx((mean, kept))
        assert fit.skewed.skew == pytest.approx(6.0)
    low = BellCurve(mean, 0.06, -99.0)
    assert fit_exceedance(bins, counts, start=Exceedance(low, low, 0.5)).skewed.skew == pytest.approx(-6.0)
