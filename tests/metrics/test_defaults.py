"""What a metric does when nothing is said: seed 0 where it draws, a level of 95 %, equal costs, nothing failed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from personare import metrics
from personare.core.findings import Estimate
from personare.metrics.privacy import linkability as linking
from personare.metrics.privacy.detection import min_dcf, min_dcf_estimate
from personare.metrics.privacy.eer import eer_finding
from personare.metrics.privacy.population import Check, PopulationLinkability, population_linkability
from personare.metrics.privacy.ranks import rank_test
from personare.metrics.privacy.relink import relink_estimate
from personare.metrics.privacy.singling_out import singling_out, singling_out_control
from personare.metrics.privacy.vectors import checked_vectors

RNG = np.random.default_rng
OWNER = np.repeat([f"p{i:02d}" for i in range(24)], 4)
VOICES = RNG(0).normal(size=(24, 6)).repeat(4, axis=0)
TEST, ENROLL = (VOICES + 1.2 * RNG(seed).normal(size=VOICES.shape) for seed in (1, 2))
SIDES = (TEST, OWNER, ENROLL, OWNER)
ONE_EACH = (TEST, OWNER, ENROLL[::4], OWNER[::4])
TRACKS = [RNG(i).uniform(80, 300, 30 + i) * (RNG(i + 50).random(30 + i) > 0.2) for i in range(20)]
OTHERS = [
    track * RNG(i + 70).uniform(0.8, 1.2, 30 + i) * (RNG(i).random(30 + i) > 0.1) for i, track in enumerate(TRACKS)
]
TEXTS = tuple(["".join(RNG(s + i).choice(list("abc "), 20 + i)) for i in range(30)] for s in (0, 90))
COUNTS = RNG(3).integers(0, 30, 60)

BEATEN = RNG(3).lognormal(0, 1.5, 240).astype(int)  # by so many of 299 others, four speakers with sixty tests each
MANY = RNG(0).normal(size=(210, 6)).repeat(4, axis=0)
MANY_TEST, MANY_ENROLL = (MANY + 0.5 * RNG(seed).normal(size=MANY.shape) for seed in (1, 2))
MANY_OWNER = np.repeat(np.arange(210), 4)
Calls = dict[str, tuple[Any, tuple[Any, ...], dict[str, Any]]]

CHANCE: Calls = {  # something is drawn: utterances, galleries, names, smaller enrolments
    "linkability": (metrics.linkability, SIDES, {"L": 2}),
    "population_linkability": (
        metrics.population_linkability,
        (MANY_TEST[:60], MANY_OWNER[:60], MANY_ENROLL, MANY_OWNER),
        {"L": 2, "populations": (1000,)},
    ),
    "singling_out": (metrics.singling_out, SIDES, {"N": 20}),
    "ranks": (metrics.ranks, SIDES, {"tests": 3}),
    "dsys": (metrics.dsys, (TEST[:, 0] + 1, ENROLL[:, 1]), {}),
    "eer of trials": (metrics.eer, (TEST[:, 0] + 1, ENROLL[:, 1]), {}),
    "cllr of trials": (metrics.cllr, (TEST[:, 0] + 1, ENROLL[:, 1]), {}),
    "min_cllr of trials": (metrics.min_cllr, (TEST[:, 0] + 1, ENROLL[:, 1]), {}),
    "min_dcf of trials": (metrics.min_dcf, (TEST[:, 0] + 2, ENROLL[:, 1]), {"prior": 0.5}),
    "d_ece of trials": (metrics.d_ece, (TEST[:, 0] + 1, ENROLL[:, 1]), {}),
    "linkability of vectors": (linking.linkability, ONE_EACH, {"draws": 3, "sizes": (9,)}),
    "linkability of scores": (
        linking.linkability_from_scores,
        (TEST @ ENROLL[::4].T, np.arange(96) // 4, OWNER),
        {"draws": 3, "sizes": (9,)},
    ),
    "linkability of counts": (
        linking.linkability_from_counts,
        (COUNTS, OWNER[:60]),
        {"enrolled": 30, "draws": 3, "sizes": (9,)},
    ),
    "population of counts": (
        population_linkability,
        (BEATEN, np.arange(240) % 4),
        {"enrolled": 300, "populations": (1000,)},
    ),
    "singling out": (singling_out, (ENROLL[::4], OWNER[::4], TEST, OWNER), {"sizes": (20,)}),
    "control": (singling_out_control, (ENROLL[:20:4], OWNER[:20:4], TEST, OWNER), {"sizes": (15,)}),
    "rank test": (rank_test, SIDES, {"variant": "linkability", "tests": 3}),
}
NO_CHANCE: Calls = {  # nothing is drawn: there is no seed to ask for
    "deid": (metrics.deid, (TEST, ENROLL, OWNER), {}),
    "g_vd": (metrics.g_vd, (TEST, ENROLL, OWNER), {}),
    "sim": (metrics.sim, (TEST, ENROLL, OWNER), {}),
    "wer": (metrics.wer, TEXTS, {}),
    "cer": (metrics.cer, TEXTS, {}),
    "ccc": (metrics.ccc, (RNG(1).normal(size=9), RNG(2).normal(size=9)), {}),
    "uar": (metrics.uar, (list("aabbabcabacbcab"), list("abbbaacacabbcba")), {}),
    "f0_spearman": (metrics.f0_spearman, (TRACKS, OTHERS), {}),
    "pitch_correlation": (metrics.pitch_correlation, (TRACKS, OTHERS), {}),
    "voicing_error": (metrics.voicing_error, (TRACKS, OTHERS), {}),
    "relink": (relink_estimate, (TEST, COUNTS.repeat(2)[:96] % 6), {"speakers": OWNER}),
}
UNUSED: Calls = {  # a seed may be given, for what these do not do: with speakers, or without draws, nothing is drawn
    "eer of speakers": (
        metrics.eer,
        (TEST[:, 0] + 1, ENROLL[:, 1]),
        {"target_speakers": OWNER, "nontarget_speakers": OWNER},
    ),
    "exact linkability": (linking.linkability_from_counts, (COUNTS, OWNER[:60]), {"enrolled": 30}),
}


def numbers(result: Any) -> list[float]:
    """Every number of a result."""
    if isinstance(result, Estimate):
        return [result.value, result.low, result.high]
    estimates = result.estimates if hasattr(result, "estimates") else (result.p50, result.p1)
    return [number for estimate in estimates for number in numbers(estimate)]


@pytest.mark.parametrize("name", list(CHANCE))
def test_without_a_seed_it_is_seed_0(name: str) -> None:
    function, sides, options = CHANCE[name]
    silent = numbers(function(*sides, **options))
    assert silent == numbers(function(*sides, rng=0, **options)) == numbers(function(*sides, rng=RNG(0), **options))
    assert silent != numbers(function(*sides, rng=1, **options)), "the seed matters"


@pytest.mark.parametrize("name", ["linkability", "population_linkability", "singling_out"])
def test_one_utterance_is_heard_at_once_unless_more_are_asked_for(name: str) -> None:
    function, sides, options = CHANCE[name]
    less = {option: value for option, value in options.items() if option != "L"}
    silent = numbers(function(*sides, **less))
    assert silent == numbers(function(*sides, **less, L=1)) != numbers(function(*sides, **less, L=2))


@pytest.mark.parametrize("name", [*NO_CHANCE, *UNUSED])
def test_the_seed_matters_only_where_chance_has_a_part(name: str) -> None:
    function, sides, options = (NO_CHANCE | UNUSED)[name]
    silent = numbers(function(*sides, **options))
    assert silent == numbers(function(*sides, **options)) and np.isfinite(silent).all()
    if name in UNUSED:
        assert silent == numbers(function(*sides, rng=1, **options))
    else:
        with pytest.raises(TypeError, match="unexpected keyword argument 'rng'"):
            function(*sides, rng=0, **options)


@pytest.mark.parametrize("name", [*CHANCE, *NO_CHANCE, *UNUSED])
def test_without_a_level_it_is_95_percent(name: str) -> None:
    function, sides, options = (CHANCE | NO_CHANCE | UNUSED)[name]
    if name in ("singling_out", "linkability"):  # these have no level to ask for
        with pytest.raises(TypeError, match="unexpected keyword argument 'level'"):
            function(*sides, level=0.95, **options)
        return
    silent, same = numbers(function(*sides, **options)), numbers(function(*sides, level=0.95, **options))
    assert silent == same
    less = numbers(function(*sides, level=0.6, **options))
    assert silent[::3] == less[::3], "the value is the same"
    assert silent[2] - silent[1] > less[2] - less[1], "less sure is narrower"


def test_the_groups_of_a_linkability_are_counted_at_95_percent_and_draw_nothing() -> None:
    linked = metrics.linkability(*SIDES)
    groups: dict[str, str | None] = {f"p{i:02d}": "f" if i < 11 else "m" for i in range(24)}
    silent, less = linked.by_group(groups), linked.by_group(groups, level=0.8)
    owners = linked.speakers[linked.owner]
    for name, part in silent.items():
        own = np.array([groups[str(owner)] == name for owner in owners])
        how: dict[str, Any] = {"enrolled": 24, "sizes": linked.sizes}
        by_hand = linking.linkability_from_counts(linked.nontargets_above[own], owners[own], **how, level=0.95)
        assert part.estimates == by_hand.estimates == linked.by_group(groups)[name].estimates
        wide, narrow = part.estimate, less[name].estimate
        assert wide.low < narrow.low < narrow.high < wide.high
    assert list(silent) == ["f", "m"]


def test_costs_are_equal_and_nothing_has_failed_unless_said() -> None:
    t, n = RNG(0).normal(1, 1, 40), RNG(1).normal(0, 1, 200)
    who: dict[str, Any] = {"target_speakers": np.arange(40) % 8, "nontarget_speakers": np.arange(200) % 8}
    costs = {"cost_miss": 1.0, "cost_false_alarm": 1.0}
    for prior in (0.2, 0.7):
        plain = min_dcf(t, n, prior=prior)
        assert plain == min_dcf(t, n, prior=prior, **costs)
        assert plain == metrics.min_dcf(t, n, prior=prior).value
        assert plain == min_dcf_estimate(t, n, prior=prior, **who).value
    dear = [min_dcf(t, n, prior=0.2, **{**costs, cost: 3.0}) for cost in costs]
    assert plain not in dear and dear[0] != dear[1]
    finding = eer_finding(t, n, rng=RNG(0), **who)
    assert finding.failed == 0 and finding.conditions == {}


def test_populations_from_a_town_to_a_thousand_million() -> None:
    found = population_linkability(COUNTS, OWNER[:60], enrolled=30)
    assert found.populations == (100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000)
    assert found.chance == (1e-5, 1e-6, 1e-7, 1e-8, 1e-9)


def test_a_forecast_is_trusted_to_5_percent_points_and_from_20_beaten_tests() -> None:
    found = population_linkability(COUNTS, OWNER[:60], enrolled=30, populations=(10**5,))

    def with_errors(*errors: float, beaten: int = 20) -> PopulationLinkability:
        checks = tuple(Check(10**i, 30, 0.5 + e, 0.5) for i, e in enumerate(errors, 1))
        return replace(found, enrolled=300, checks=checks, beaten=beaten)

    assert with_errors(0.04, -0.04, 0.01).trusted_to() == 300_000
    assert with_errors(0.04, -0.06, 0.01).trusted_to() == 3000, "a later check that happens to fit proves nothing"
    assert with_errors(0.06).trusted_to() == with_errors().trusted_to() == 300
    assert with_errors(0.0, beaten=19).trusted_to() == 300 and with_errors(0.0, beaten=20).trusted_to() == 3000
    assert with_errors(0.25).trusted_to(tolerance=0.25) == 3000


def test_a_result_with_a_missing_row_is_refused_not_shortened() -> None:
    linked = metrics.linkability(*SIDES, N=(10, 24))
    single = metrics.singling_out(*SIDES, N=(10, 20), draws=1)
    larger = population_linkability(COUNTS, OWNER[:60], enrolled=30)
    for result in (linked, single, larger):
        short = replace(result, chance=result.chance[:1])
        with pytest.raises(ValueError, match="shorter"):
            str(short)
        with pytest.raises(ValueError, match="shorter"):
            short.findings()


def test_vectors_keep_their_precision_and_whole_numbers_become_double() -> None:
    for dtype in (np.float16, np.float32, np.float64):
        table = np.ones((2, 3), dtype=dtype)
        assert checked_vectors(table, of="test") is table
    assert checked_vectors([[1, 2]], of="test").dtype == np.float64
    assert checked_vectors(np.ones((1, 2), dtype=np.uint8), of="test").dtype == np.float64
