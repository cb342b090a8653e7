"""How far beyond all deals a result lies: Student's law for one more deal, down to the smallest number of deals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from personare.metrics.privacy.dealt import Dealt

RNG = np.random.default_rng


@pytest.mark.parametrize("deals", [2, 3, 5, 200])
def test_one_more_deal_reaches_a_far_value_as_often_as_students_law_says(deals: int) -> None:
    """The next of n values of a bell curve differs from their mean by t s sqrt(1 + 1/n), with n - 1 degrees."""
    values = RNG(deals).normal(0.45, 0.01, deals)
    far = values.max() + 0.3
    scale = values.std(ddof=1) * math.sqrt(1 + 1 / deals)
    expected = stats.t.sf((far - values.mean()) / scale, deals - 1)
    assert expected < 1 / (1 + deals)
    found = Dealt(values, math.inf).tails(far, attacker_wants_more=True)
    assert found[0] == pytest.approx(expected, rel=1e-9) and found[1] == 1.0
    assert Dealt(-values, math.inf).tails(-far, attacker_wants_more=False) == found


@pytest.mark.filterwarnings("error")
def test_one_deal_and_equal_deals_have_no_spread_and_only_their_number_counts() -> None:
    for values in ([0.4], [0.5, 0.5, 0.5]):
        share = 1 / (1 + len(values))
        assert Dealt(np.array(values), math.inf).tails(0.9, attacker_wants_more=True) == (share, 1.0)


def test_what_differs_from_a_deal_by_rounding_is_reached_by_it() -> None:
    values = np.array([0.1, 0.2, 0.3, 0.1 + 0.2])
    better, worse = Dealt(values, math.inf).tails(0.3, attacker_wants_more=True)
    assert (better, worse) == (3 / 5, 1.0)
    assert Dealt(values, math.inf).tails(0.1 + 0.2, attacker_wants_more=False) == (1.0, 3 / 5)


def test_as_many_possible_deals_as_proof_needs_are_enough() -> None:
    """A probability of 2.5 % is one in forty: with 39 deals nothing can be as unlikely."""
    values = RNG(0).normal(size=30)
    for possible, proves in ((39.0, False), (40.0, True)):
        assert math.isnan(Dealt(values, possible).tails(9.0, attacker_wants_more=True)[0]) != proves
    assert all(map(math.isnan, Dealt(values, math.inf).tails(math.nan, attacker_wants_more=True)))


def test_a_million_millionth_is_rounding_and_twice_as_much_is_a_difference() -> None:
    values = np.array([0.1, 0.2, 0.5])
    for step, reached in ((0.6e-12, 1), (1.6e-12, 0)):
        found = Dealt(values, math.inf).tails(0.5 + step, attacker_wants_more=True)[0]
        assert (found == 2 / 4) == bool(reached)
