"""Intervals by hand: the plain metric of what is left without each speaker, and Tukey's pseudo-values of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from personare import metrics
from personare.core.errors import MetricError
from personare.metrics.intervals import speaker_intervals, wilson
from personare.metrics.privacy.cllr import calibration_loss, calibration_loss_estimate, cllr, min_cllr
from personare.metrics.privacy.detection import min_dcf
from personare.metrics.privacy.dsys import dsys, dsys_of_levels
from personare.metrics.privacy.eer import kaldi_eer, kaldi_eer_estimate, rocch_eer, rocch_eer_estimate
from personare.metrics.privacy.levels import levels_of
from personare.metrics.privacy.relink import relink_estimate
from personare.metrics.privacy.speaker_rates import rates_over_speakers
from personare.metrics.privacy.zebra import D_ECE_MAX, d_ece, log10_l
from personare.metrics.utility.concordance import ccc
from personare.metrics.utility.opinion import mann_whitney, mean_rating, rated_above
from personare.metrics.utility.pitch import correlation_estimate, f0_spearman
from personare.metrics.utility.quality import mean_estimate
from personare.metrics.utility.recall import uar
from personare.metrics.utility.wer import character_errors, wer, word_errors

from .by_hand import FREE, Ends, Picked, ends_by_hand, without_each

RNG = np.random.default_rng
SPEAKERS = np.array(list("abcdefg"))[RNG(4).integers(0, 7, 40)]
EVERY = np.arange(40)


def mean_of(values: Any) -> Callable[[Picked], float]:
    return lambda items: float(np.mean(np.asarray(values)[items]))


def texts_of(count: Callable[[Any, Any], Any]) -> Callable[[Picked], float]:
    return lambda items: wer(count([SAID[i] for i in items], [HEARD[i] for i in items]))


X, Y = RNG(1).normal(5, 1, 40), RNG(2).normal(5.5, 2, 40)
TRUTH, GUESS = (np.array(list("abc"))[RNG(seed).integers(0, 3, 40)] for seed in (5, 6))
SAID, HEARD = (["".join(RNG(s + i).choice(list("ab "), 20 + i)) for i in range(40)] for s in (0, 90))
ONE, TWO = RNG(7).normal(size=(40, 5)), RNG(8).normal(size=(40, 5))
COSINES = [float(a @ b / np.sqrt((a @ a) * (b @ b))) for a, b in zip(ONE, TWO, strict=True)]
TRACKS = [RNG(i).uniform(80, 300, 20) for i in range(40)]
UNVOICED = [track * (RNG(i + 60).random(20) > 0.01 * i) for i, track in enumerate(TRACKS)]
MOVED = [track + RNG(i + 9).uniform(0, 200, 20) for i, track in enumerate(TRACKS)]
SHARES = [float(np.mean(track == 0)) for track in UNVOICED]
ORDERS = [f0_spearman(a, b) for a, b in zip(TRACKS, MOVED, strict=True)]
STARS = RNG(11).integers(1, 6, 40).astype(float)
LIKENESS = RNG(12).integers(0, 3, (40, 4))
CREDIT = [float(row[0] == row.max()) / np.count_nonzero(row == row.max()) for row in LIKENESS]
Utterances = tuple[Callable[..., Any], tuple[Any, ...], Ends, Callable[[Picked], float]]
UTTERANCES: dict[str, Utterances] = {
    # the metric, what it takes, its bounds, and the same without an interval
    "ccc": (metrics.ccc, (X, Y), (-1.0, 1.0), lambda items: ccc(X[items], Y[items])),
    "uar": (metrics.uar, (TRUTH, GUESS), (0.0, 1.0), lambda items: uar(TRUTH[items], GUESS[items])),
    "wer": (metrics.wer, (SAID, HEARD), (0.0, math.inf), texts_of(word_errors)),
    "cer": (metrics.cer, (SAID, HEARD), (0.0, math.inf), texts_of(character_errors)),
    "sim": (metrics.sim, (ONE, TWO), (-1.0, 1.0), mean_of(COSINES)),
    "voicing_error": (metrics.voicing_error, (TRACKS, UNVOICED), (0.0, 1.0), mean_of(SHARES)),
    "f0_spearman": (metrics.f0_spearman, (TRACKS, MOVED), (-1.0, 1.0), mean_of(ORDERS)),
    "quality": (lambda x, **how: mean_estimate(x, bounds=(1.0, 5.0), **how), (STARS,), (1.0, 5.0), mean_of(STARS)),
    "quality without bounds": (mean_estimate, (STARS,), FREE, mean_of(STARS)),
    "opinion": (
        lambda x, speakers, **how: mean_rating(x, evaluators=speakers, bounds=(1.0, 5.0), **how),
        (STARS,),
        (1.0, 5.0),
        mean_of(STARS),
    ),
    "rated_above": (
        lambda x, y, speakers, **how: rated_above(x, y, evaluators=speakers, other_evaluators=speakers, **how),
        (STARS, STARS[::-1] + 0.5),
        (0.0, 1.0),
        lambda items: mann_whitney(STARS[items], STARS[::-1][items] + 0.5).above,
    ),
    "relink": (relink_estimate, (LIKENESS, np.zeros(40, int)), (0.0, 1.0), mean_of(CREDIT)),
}


@pytest.mark.parametrize("name", list(UTTERANCES))
def test_metrics_of_utterances(name: str) -> None:
    metric, sides, bounds, plain = UTTERANCES[name]
    for level in (0.99, 0.8, 0.5):
        found = metric(*sides, speakers=SPEAKERS, level=level)
        assert (found.value, found.n) == (pytest.approx(plain(EVERY)), 7)
        ends = ends_by_hand(plain(EVERY), without_each(SPEAKERS, plain), bounds=bounds, level=level)
        assert (found.low, found.high) == pytest.approx(ends, rel=1e-9)
    assert bounds[0] < found.low < found.value < found.high < bounds[1], "neither end hides the rest"


def test_a_mean_of_correlations_leaves_out_utterances_without_one() -> None:
    values = RNG(1).uniform(-1, 1, 40)
    values[[0, 9, 17]] = np.nan
    there = ~np.isnan(values)
    found = correlation_estimate(values, speakers=SPEAKERS, level=0.8)
    by_hand = without_each(SPEAKERS[there], mean_of(values[there]))
    assert found.value == pytest.approx(values[there].mean())
    ends = ends_by_hand(values[there].mean(), by_hand, bounds=(-1.0, 1.0), level=0.8)
    assert (found.low, found.high) == pytest.approx(ends, rel=1e-9)


T, N = RNG(4).normal(1.0, 1, 40), RNG(105).normal(-0.5, 1, 150)
WHO = np.append(SPEAKERS, np.array(list("abcdefg"))[np.arange(150) % 7])
ENROLLED = np.append(SPEAKERS, np.array(list("bcdefga"))[np.arange(150) * 5 // 3 % 7])
Plain = Callable[[Any, Any], float]


def dsys_by_hand(t: Any, n: Any) -> float:
    """D_sys with the chance taken out that the value of all trials has in it."""
    levels = levels_of(T, N)
    whole = dsys_of_levels(levels.targets, levels.nontargets)
    value = dsys(T, N, rng=RNG(3))
    chance = (whole - value) / (1 - value)
    levels = levels_of(t, n)
    return float(max(0.0, (dsys_of_levels(levels.targets, levels.nontargets) - chance) / (1 - chance)))


SCORES: dict[str, tuple[Any, Plain, Ends]] = {
    # the metric, the same without an interval, and its bounds
    "eer": (metrics.eer, rocch_eer, (0.0, 0.5)),
    "kaldi": (lambda *sides, **how: metrics.eer(*sides, definition="kaldi", **how), kaldi_eer, (0.0, 1.0)),
    "cllr": (metrics.cllr, cllr, (0.0, math.inf)),
    "min_cllr": (metrics.min_cllr, min_cllr, (0.0, 1.0)),
    "d_ece": (metrics.d_ece, d_ece, (0.0, D_ECE_MAX)),
    "min_dcf": (
        lambda *sides, **how: metrics.min_dcf(*sides, prior=0.3, **how),
        lambda t, n: min_dcf(t, n, prior=0.3),
        (0.0, 1.0),
    ),
    "calibration_loss": (
        lambda *sides, rng, **how: calibration_loss_estimate(*sides, **how),
        calibration_loss,
        (0.0, math.inf),
    ),
    "dsys": (metrics.dsys, dsys_by_hand, (0.0, 1.0)),
}
BIASES = {"dsys": 0.0}  # chance is taken out of it already; of all others an interval spans three halves


def score_ends(name: str, who: Any, level: float) -> Ends:
    _, plain, bounds = SCORES[name]
    rest = without_each(who, of_trials(plain))
    return ends_by_hand(plain(T, N), rest, bounds=bounds, level=level, biases=BIASES.get(name, 1.5))


def of_trials(plain: Plain) -> Callable[[Picked], float]:
    both = np.append(T, N)
    return lambda items: plain(both[items[items < 40]], both[items[items >= 40]])


@pytest.mark.parametrize("name", list(SCORES))
def test_metrics_of_scores(name: str) -> None:
    metric, plain, bounds = SCORES[name]
    who = {"target_speakers": WHO[:40], "nontarget_speakers": WHO[40:]}
    for level in (0.99, 0.8, 0.5):
        found = metric(T, N, **who, rng=3, level=level)
        assert (found.value, found.n) == (pytest.approx(plain(T, N)), 7)
        assert (found.low, found.high) == pytest.approx(score_ends(name, WHO, level), rel=1e-9)
    assert bounds[0] < found.low < found.value < found.high < bounds[1], "neither end hides the rest"


def test_a_worst_case_has_no_interval() -> None:
    found = metrics.log10_l(T, N, target_speakers=WHO[:40], nontarget_speakers=WHO[40:])
    assert (found.value, found.n) == (log10_l(T, N), 7) and math.isnan(found.low) and math.isnan(found.high)


@pytest.mark.parametrize(
    ("estimate", "plain", "bounds"),
    [
        (rocch_eer_estimate, rocch_eer, (0.0, 0.5)),
        (kaldi_eer_estimate, kaldi_eer, (0.0, 1.0)),
        (calibration_loss_estimate, calibration_loss, (0.0, math.inf)),
    ],
)
def test_nontarget_trials_go_with_either_of_their_two_people(estimate: Any, plain: Plain, bounds: Ends) -> None:
    """Some of them have the same person on both sides: such a trial is lost once, not twice."""
    assert 0 < np.count_nonzero(WHO[40:] == ENROLLED[40:]) < 150
    how = {"target_speakers": WHO[:40], "nontarget_speakers": WHO[40:], "nontarget_enrolled": ENROLLED[40:]}
    found = estimate(T, N, **how, level=0.8)
    by_hand = without_each(WHO, of_trials(plain), also=ENROLLED)
    ends = ends_by_hand(plain(T, N), by_hand, bounds=bounds, level=0.8)
    assert (found.value, found.n) == (pytest.approx(plain(T, N)), 7)
    assert (found.low, found.high) == pytest.approx(ends, rel=1e-9)
    assert by_hand != without_each(WHO, of_trials(plain))


def effective(column: Any, owner: Any, level: float) -> float:
    """As many independent outcomes as speakers are worth, by the docstring of ``speaker_rates``."""
    n, p = len(np.unique(owner)), float(np.mean(column))
    tests = np.array([np.count_nonzero(owner == one) for one in np.unique(owner)])
    fewest = tests.sum() ** 2 / (tests**2).sum()
    rest = np.array(without_each(owner, mean_of(column)))
    worth = p * (1 - p) / stats.sem(n * p - (n - 1) * rest) ** 2
    share = (1 + level) / 2
    return float(max(fewest, worth * (stats.norm.ppf(share) / stats.t.ppf(share, n - 1)) ** 2))


def test_success_rates_where_a_speaker_was_tested_more_than_once() -> None:
    hits = (RNG(2).random((40, 3)) < [0.3, 0.6, 2.0]).astype(float)
    hits[:, 0] = np.isin(SPEAKERS, list("abc"))
    owner = np.unique(SPEAKERS, return_inverse=True)[1]
    tests = np.bincount(owner)
    fewest = tests.sum() ** 2 / (tests**2).sum()
    for level in (0.8, 0.95):
        found = rates_over_speakers(hits, owner, level=level)
        worth = [effective(column, owner, level) for column in hits[:, :2].T]
        assert worth[0] == fewest < 7 < worth[1], "all or nothing counts as speakers, mixed outcomes as more"
        for column, outcomes, estimate in zip(hits.T, [*worth, fewest], found, strict=True):
            by_hand = wilson(min(outcomes, column.mean() * outcomes), outcomes, level=level)
            assert estimate.value == pytest.approx(column.mean()) and estimate.n == 7
            assert (estimate.low, estimate.high) == pytest.approx((by_hand.low, by_hand.high), rel=1e-9)
    alone = rates_over_speakers(hits[:7], np.arange(7), level=0.8)
    for column, estimate in zip(hits[:7].T, alone, strict=True):
        once = wilson(float(column.sum()), 7, level=0.8)
        assert (estimate.low, estimate.high) == pytest.approx((once.low, once.high)), "once each is Wilson's"
    (alike,) = rates_over_speakers(np.full((7, 1), 0.3), np.arange(7), level=0.8)
    most = wilson(0.3 * 350, 350, level=0.8)
    assert (alike.low, alike.high) == pytest.approx((most.low, most.high)), "nobody is worth more than fifty"


def test_without_whom_there_is_no_class_there_is_no_value_and_that_one_is_left_out() -> None:
    """Speaker a has all targets: without a there is no value, and b and c alone make the interval."""
    how: dict[str, Any] = {"target_speakers": ["a"] * 9, "nontarget_speakers": list("abc") * 6}
    t, n = np.arange(9.0), RNG(1).normal(1, 2, 18)
    found = metrics.cllr(t, n, **how, level=0.8)
    rest = [cllr(t, n[np.arange(18) % 3 != place]) for place in (1, 2)]
    ends = ends_by_hand(cllr(t, n), [math.nan, *rest], bounds=(0.0, math.inf), level=0.8)
    assert (found.low, found.high) == pytest.approx(ends, rel=1e-9) and found.n == 3
    assert 0 < found.low < found.value < found.high


@pytest.mark.parametrize("level", [0.0, 1.0, 1.5])
def test_no_interval_is_quite_sure_or_not_at_all(level: float) -> None:
    with pytest.raises(MetricError, match="confidence level"):
        speaker_intervals(lambda drawn: drawn, speakers=3, level=level)
