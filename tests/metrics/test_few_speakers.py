"""As few speakers as there can be: two have an interval, by hand, and one has a value without one, in every metric."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from personare import metrics
from personare.core.findings import LEVEL_OF_PROOF
from personare.metrics.intervals import wilson
from personare.metrics.privacy.cllr import cllr
from personare.metrics.privacy.dsys import dsys_reference, dsys_reference_estimate
from personare.metrics.privacy.human_attack import abx_estimate
from personare.metrics.privacy.speaker_rates import rate_tails, rates_over_speakers

from .by_hand import ends_by_hand, without_each
from .test_by_hand import EVERY, SCORES, UTTERANCES, N, T, score_ends

RNG = np.random.default_rng
TWO, TWO_TRIALS = np.arange(40) % 2, np.arange(190) % 2
LEVEL = 0.1  # two speakers leave every end of a scale open at 95 %


@pytest.mark.parametrize("name", list(UTTERANCES))
def test_two_speakers_of_utterances(name: str) -> None:
    metric, sides, bounds, plain = UTTERANCES[name]
    found = metric(*sides, speakers=TWO, level=LEVEL)
    ends = ends_by_hand(plain(EVERY), without_each(TWO, plain), bounds=bounds, level=LEVEL)
    assert (found.value, found.low, found.high) == pytest.approx((plain(EVERY), *ends), rel=1e-9) and found.n == 2
    alone = metric(*sides, speakers=np.zeros(40, dtype=int), level=LEVEL)
    assert (alone.value, alone.n) == (pytest.approx(plain(EVERY)), 1)
    assert math.isnan(alone.low) and math.isnan(alone.high)


@pytest.mark.parametrize("name", list(SCORES))
def test_two_speakers_of_trials(name: str) -> None:
    metric, plain, _ = SCORES[name]
    who = {"target_speakers": TWO_TRIALS[:40], "nontarget_speakers": TWO_TRIALS[40:]}
    found = metric(T, N, **who, rng=3, level=LEVEL)
    ends = score_ends(name, TWO_TRIALS, LEVEL)
    assert (found.value, found.low, found.high) == pytest.approx((plain(T, N), *ends), rel=1e-9) and found.n == 2
    one = {"target_speakers": np.zeros(40, int), "nontarget_speakers": np.zeros(150, int)}
    alone = metric(T, N, **one, rng=3, level=LEVEL)
    assert (alone.value, alone.n) == (pytest.approx(plain(T, N)), 1)
    assert math.isnan(alone.low) and math.isnan(alone.high)


def test_two_speakers_of_histograms() -> None:
    who: dict[str, Any] = {"target_speakers": TWO_TRIALS[:40], "nontarget_speakers": TWO_TRIALS[40:]}
    found = dsys_reference_estimate(T, N, **who, level=LEVEL)
    assert found.value == pytest.approx(dsys_reference(T, N)) and found.low < found.value < found.high
    one: dict[str, Any] = {"target_speakers": np.zeros(40, int), "nontarget_speakers": np.zeros(150, int)}
    alone = dsys_reference_estimate(T, N, **one)
    assert alone.value == pytest.approx(dsys_reference(T, N)) and math.isnan(alone.low) and math.isnan(alone.high)


def test_two_voices_before_and_after() -> None:
    """Without either of two speakers there is nobody to compare the other with: values, and no interval."""
    voices = RNG(0).normal(size=(2, 8)).repeat(4, axis=0)
    before, after = (voices + 0.3 * RNG(seed).normal(size=voices.shape) for seed in (1, 2))
    for metric in (metrics.deid, metrics.g_vd):
        found = metric(before, after, np.repeat(["a", "b"], 4))
        assert math.isfinite(found.value) and found.n == 2 and math.isnan(found.low) and math.isnan(found.high)


def test_a_rate_of_two_speakers_is_worth_more_where_they_agree() -> None:
    owner = np.repeat([0, 1], 10)
    for hits in ([6, 6], [7, 5]):
        column = np.concatenate([np.arange(10) < many for many in hits]).astype(float)
        (found,) = rates_over_speakers(column[:, None], owner, level=0.5)
        spread = stats.sem(np.array(hits) / 10) ** 2
        worth = 0.24 / spread if spread else math.inf
        ratio = (stats.norm.ppf(0.75) / stats.t.ppf(0.75, 1)) ** 2
        by_hand = wilson(0.6 * min(100, worth * ratio), min(100, worth * ratio), level=0.5)
        assert (found.low, found.high) == pytest.approx((by_hand.low, by_hand.high)) and found.n == 2
    (alone,) = rates_over_speakers(np.array([[1.0], [0.0]]), np.array([0, 0]), level=0.5)
    once = wilson(0.5, 1, level=0.5)
    assert (alone.low, alone.high) == pytest.approx((once.low, once.high)), "one speaker is one outcome"


def test_one_evaluator_has_wilsons_interval_of_answers_and_two_have_their_own() -> None:
    right = [1, 1, 0, 1, 0, 1]
    alone = abx_estimate(right, evaluators=["p"] * 6, level=0.8)
    assert alone == wilson(4, 6, level=0.8)
    found = abx_estimate(right, evaluators=list("pppqqq"), level=0.1)
    ends = ends_by_hand(4 / 6, [2 / 3, 2 / 3], bounds=(0.0, 1.0), level=0.1)
    assert (found.low, found.high) == pytest.approx(ends) and found.n == 6


@pytest.mark.parametrize("speakers", [5, 8, 30])
@pytest.mark.parametrize("chance", [0.05, 0.4])
def test_speakers_who_are_all_found_or_not_are_counted_by_the_binomial_law(speakers: int, chance: float) -> None:
    law = stats.binom(speakers, chance)
    for hits in range(speakers + 1):
        better, worse = rate_tails(hits / speakers, chance, speakers)
        assert better == pytest.approx(law.sf(hits - 1)) and worse == pytest.approx(law.cdf(hits))


def test_so_few_that_even_all_found_are_no_proof_have_no_probability() -> None:
    chance = LEVEL_OF_PROOF**0.5
    assert rate_tails(1.0, chance * 0.999, 2)[0] < LEVEL_OF_PROOF
    for rate, level, speakers in ((1.0, chance * 1.001, 2), (math.nan, 0.1, 9), (0.5, 0.0, 9), (0.5, 1.0, 9)):
        assert all(map(math.isnan, rate_tails(rate, level, speakers)))


def test_one_trial_that_is_left_of_a_class_is_enough_for_a_value() -> None:
    """Speaker a has all targets but one: without a that one is left, and Cllr is that of it and the others' trials."""
    t, n = np.array([1.0, 2.0, 0.5, 1.5]), RNG(1).normal(size=12)
    mine, others = np.array(list("aaab")), np.array(list("abc") * 4)
    for targets, nontargets, who in ((t, n, (mine, others)), (-n, -t, (others, mine))):
        found = metrics.cllr(targets, nontargets, target_speakers=who[0], nontarget_speakers=who[1], level=0.2)
        rest = [cllr(targets[who[0] != one], nontargets[who[1] != one]) for one in "abc"]
        ends = ends_by_hand(cllr(targets, nontargets), rest, bounds=(0.0, math.inf), level=0.2)
        assert (found.low, found.high) == pytest.approx(ends, rel=1e-9)
