"""Where an argument begins and ends to make sense: the last value each metric takes, and the first it refuses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from personare.core.errors import ConfigError, MetricError
from personare.core.findings import Estimate
from personare.core.vectors import kmeans_labels
from personare.metrics.intervals import check_level, speaker_intervals, wilson
from personare.metrics.privacy.chance import chance_levels, shuffled_levels
from personare.metrics.privacy.clustering import classification_change, contingency, macro_f1
from personare.metrics.privacy.control import attack_risk, risk_over_control
from personare.metrics.privacy.conversations import conversations, enrolment_means
from personare.metrics.privacy.detection import min_dcf
from personare.metrics.privacy.dsys import dsys, dsys_reference
from personare.metrics.privacy.eer import eer_of_levels
from personare.metrics.privacy.linkability import checked_counts, linkability_from_counts
from personare.metrics.privacy.listener_groups import group_mean
from personare.metrics.privacy.nontargets_above import nontargets_above_in_scores
from personare.metrics.privacy.population import population_linkability
from personare.metrics.privacy.ranks import rank_test
from personare.metrics.privacy.singling_chance import chance_at_rank, chance_of_isolation
from personare.metrics.privacy.singling_out import singling_out, singling_out_control
from personare.metrics.privacy.zebra import ece, log10_l_maximum, tag
from personare.metrics.utility.concordance import ccc
from personare.metrics.utility.pitch import f0_spearman, pitch_correlation
from personare.metrics.utility.voicing import voicing_error

RNG = np.random.default_rng
VOICES, OWNER = np.eye(4).repeat(3, axis=0), np.repeat(list("abcd"), 3)
T, N = [1.0, 2.0, 3.0], [0.0, 1.0, 2.0]
SCORES = RNG(0).normal(size=(3, 5))
BEATEN = [0, 1, 0, 3]


def link(**how: Any) -> Any:
    return linkability_from_counts(BEATEN, list("abcd"), enrolled=5, **how)


def single(**how: Any) -> Any:
    return singling_out(np.eye(4), list("abcd"), VOICES, OWNER, **{"sizes": (4,), "draws": 1, **how})


def outside(*sizes: int) -> Any:
    """Four people with 4, 4, 4 and 2 conversations: rank 3 may need the one spare score of each of four people."""
    who = np.repeat(list("wxyz"), (4, 4, 4, 2))
    voices = RNG(1).normal(size=(len(who), 5))
    return singling_out_control(RNG(2).normal(size=(1, 5)), ["a"], voices, who, sizes=sizes, draws=1)


def means(**how: Any) -> Any:
    return conversations(VOICES, OWNER, rng=RNG(0), **{"length": 1, **how})


def rate(value: float, low: float, high: float) -> Any:
    return risk_over_control(Estimate(value, low, high, 9), Estimate(0.2, 0.1, 0.3, 9))


def other(value: float, low: float, high: float) -> Any:
    return risk_over_control(Estimate(0.5, 0.4, 0.6, 9), Estimate(value, low, high, 9))


def tracks(metric: Callable[..., float]) -> Callable[[int, int], float]:
    return lambda before, after: metric(np.arange(100.0, 100 + before), np.arange(100.0, 100 + after))


def deal(**how: Any) -> Any:
    return shuffled_levels(T, N, [eer_of_levels], rng=RNG(0), **how)


def number(*codes: int) -> Any:
    """Four trials of the people of these numbers, each of whom meets number 0."""
    return chance_levels(range(len(codes)), [0] * len(codes), codes, [eer_of_levels], rng=RNG(0), deals=1)


Case = tuple[Callable[..., Any], Sequence[tuple[Any, ...]], Sequence[tuple[Any, ...]]]
LIMITS: dict[str, Case] = {  # a call, arguments at its limits, arguments just beyond
    "attempts": (lambda n: wilson(0, n), [(1,), (1.5,)], [(0.99,), (0,), (math.nan,)]),
    "successes": (lambda hits: wilson(hits, 4), [(0,), (4,)], [(-0.01,), (4.01,)]),
    "level": (check_level, [(1e-9,), (1 - 1e-9,)], [(0.0,), (1.0,), (-0.5,), (1.5,)]),
    "speakers of an interval": (
        lambda n: speaker_intervals(lambda drawn: drawn.sum(axis=1)[:, None], speakers=n),
        [(1,), (2,)],
        [(0,), (-1,)],
    ),
    "prior": (lambda p: min_dcf(T, N, prior=p), [(1e-9,), (1 - 1e-9,)], [(0.0,), (1.0,), (-0.5,), (1.5,)]),
    "cost of a miss": (lambda c: min_dcf(T, N, prior=0.5, cost_miss=c), [(1e-9,), (9.0,)], [(0.0,), (-1.0,)]),
    "cost of an alarm": (lambda c: min_dcf(T, N, prior=0.5, cost_false_alarm=c), [(1e-9,), (9.0,)], [(0.0,), (-1.0,)]),
    "ratio of priors": (lambda w: dsys(T, N, rng=RNG(0), w=w), [(1e-9,), (1.0,)], [(0.0,), (-1.0,), (math.nan,)]),
    "targets of a histogram": (lambda n: dsys_reference(range(n), range(n)), [(20,), (21,)], [(19,)]),
    "different scores": (lambda last: dsys_reference([1.0] * 20, [1.0, last]), [(1.1,), (0.9,)], [(1.0,)]),
    "deals": (lambda n: deal(deals=n), [(1,), (2,)], [(0,), (-1,)]),
    "numbers of people": (number, [(0, 1), (1, 0, 2)], [(0, -1), (0, 0), (1, 2)]),
    "recordings": (lambda n: classification_change(0, n), [(1,)], [(0,), (-1,)]),
    "moves": (lambda n: classification_change(n, 4), [(0,), (9,)], [(-1,)]),
    "clusters": (lambda n: macro_f1(range(n), ["a"] * n), [(1,), (6,)], [(7,)]),
    "recordings of a trial": (lambda n: contingency(range(n), range(n)), [(1,), (2,)], [(0,)]),
    "rate of guessing": (
        lambda b: attack_risk(1, 2, control_successes=1, control_attempts=2, baseline=b),
        [(0.0,), (1.0,)],
        [(-0.01,), (1.01,), (math.nan,)],
    ),
    "rate of an attack": (
        rate,
        [(0.0, 0.0, 0.5), (1.0, 0.5, 1.0), (0.5, 0.5, 0.5)],
        [(0.5, -0.01, 0.6), (0.5, 0.4, 1.01), (0.5, 0.51, 0.6), (0.5, 0.4, 0.49)],
    ),
    "rate of a control": (
        other,
        [(0.0, 0.0, 0.5), (0.99, 0.5, 1.0), (0.5, 0.5, 0.5)],
        [(0.5, -0.01, 0.6), (0.5, 0.4, 1.01), (0.5, 0.51, 0.6), (0.5, 0.4, 0.49), (1.0, 0.5, 1.0)],
    ),
    "length": (lambda n: means(length=n), [(1,), (3,)], [(0,), (-1,), (4,)]),
    "fewest conversations": (lambda n: means(fewest=n), [(1,), (3,)], [(0,), (-1,), (4,)]),
    "most conversations": (lambda n: means(fewest=2, most=n), [(2,), (3,)], [(1,), (0,)]),
    "utterances to enrol": (lambda n: enrolment_means(VOICES, OWNER, most=n, rng=RNG(0)), [(1,), (9,)], [(0,), (-1,)]),
    "nontargets above": (lambda b: checked_counts([b], enrolled=5), [(0,), (4,)], [(-1,), (5,)]),
    "N enrolled": (lambda n: link(sizes=(n,)), [(1,), (5,), (2.0,)], [(0,), (6,), (2.5,)]),
    "sizes": (lambda *sizes: link(sizes=sizes), [(3,), (3, 4)], [()]),
    "draws of enrolments": (lambda n: link(draws=n), [(1,), (2,)], [(0,), (-1,)]),
    "values of a group": (lambda n: group_mean(range(n)), [(1,), (2,)], [(0,)]),
    "column of a target": (lambda c: nontargets_above_in_scores(SCORES, [0, 1, c]), [(0,), (4,)], [(-1,), (5,)]),
    "tests in a table": (lambda n: nontargets_above_in_scores(SCORES[:n], [0] * n), [(1,), (3,)], [(0,)]),
    "people enrolled in a table": (lambda n: nontargets_above_in_scores(SCORES[:, :n], [0] * 3), [(1,), (5,)], [(0,)]),
    "enrolled of a forecast": (
        lambda n: population_linkability(BEATEN, list("abcd"), enrolled=n, populations=(1000,)),
        [(20,)],
        [(19,)],
    ),
    "beaten tests of a forecast": (
        lambda *b: population_linkability(b, range(len(b)), enrolled=20, populations=(1000,)),
        [(0, 0, 1), (1, 2, 3)],
        [(0, 0, 0)],
    ),
    "populations": (
        lambda *people: population_linkability(BEATEN, list("abcd"), enrolled=20, populations=people),
        [(1,), (2, 1), (10**9,)],
        [(0,), (), (5, 0), (-1, 5)],
    ),
    "tests of ranks": (
        lambda n: rank_test(np.eye(3), list("abc"), np.eye(3), list("abc"), variant="linkability", tests=n),
        [(1,), (2,)],
        [(0,), (-1,)],
    ),
    "folds": (lambda n: single(folds=n), [(2,), (3,), (9,)], [(1,), (0,)]),
    "draws of galleries": (lambda n: single(draws=n), [(1,), (2,)], [(0,), (-1,)]),
    "N in a gallery": (lambda *sizes: single(sizes=sizes), [(2,), (4,), (2, 4)], [(1,), (5,), (), (2, 5), (1, 4)]),
    "N in a control": (outside, [(4,)], [(3,), (2,), (3, 4)]),
    "people to isolate": (lambda n: chance_of_isolation(n, calibration=9, rank=2), [(1,), (2,)], [(0,), (-1,)]),
    "rank of a threshold": (lambda r: chance_of_isolation(5, calibration=9, rank=r), [(1,), (8,)], [(0,), (9,)]),
    "people at a rank": (lambda n: chance_at_rank(n, calibration=9, rank=2), [(1,), (2,)], [(0,), (-1,)]),
    "rank of a score": (lambda r: chance_at_rank(5, calibration=9, rank=r), [(1,), (9,)], [(0,), (10,)]),
    "trials of both classes": (log10_l_maximum, [(1, 1), (2, 1), (1, 2)], [(0, 1), (1, 0), (0, 0)]),
    "evidence": (tag, [(0.0,), (1e-9,), (math.inf,)], [(-1e-9,), (math.nan,)]),
    "priors of a profile": (lambda p: ece([0.0], [0.0], [p]), [(0.0,), (1.0,)], [(-0.01,), (1.01,), (math.nan,)]),
    "values to agree": (lambda n: ccc(range(n), range(n)), [(2,), (3,)], [(1,), (0,)]),
    "values that differ": (lambda *last: ccc([1, last[0]], [1, last[1]]), [(2, 1), (1, 2), (2, 2)], [(1, 1)]),
    "frames of a voicing error": (
        tracks(voicing_error),
        [(1, 1), (1, 2), (2, 1), (10, 11), (20, 18), (18, 20), (30, 27)],
        [(1, 3), (3, 1), (20, 17), (17, 20), (30, 26), (0, 1), (1, 0)],
    ),
    "frames of ranks of pitch": (
        tracks(f0_spearman),
        [(1, 1), (10, 9), (9, 10), (20, 18), (30, 27)],
        [(9, 8), (8, 9), (20, 17), (17, 20), (30, 26), (0, 1), (1, 0)],
    ),
    "lowest pitch": (lambda hz: f0_spearman([hz, 100.0], [90.0, 100.0]), [(0.0,), (1e-9,)], [(-1e-9,), (math.inf,)]),
    "choices of frames": (lambda f: pitch_correlation([90.0], [90.0], frames=f), [("voiced",), ("all",)], [("both",)]),
    "clusters of voices": (lambda k: kmeans_labels(np.eye(3), k, rng=RNG(0)), [(1,), (3,)], [(0,), (4,)]),
}


@pytest.mark.parametrize("name", LIMITS)
def test_what_is_at_the_limit_is_taken_and_what_is_beyond_is_refused(name: str) -> None:
    call, taken, refused = LIMITS[name]
    for arguments in taken:
        call(*arguments)
    for arguments in refused:
        with pytest.raises((MetricError, ConfigError)) as caught:
            call(*arguments)
        assert "\n" not in str(caught.value)
