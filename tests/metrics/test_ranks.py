"""The rank test: the paper's random row, the same ranks by a plain loop, percentiles as numpy's, laws, bad input."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from personare.core.errors import MetricError
from personare.core.vectors import cosine
from personare.metrics.privacy import ranks as ranks_file
from personare.metrics.privacy.nontargets_above import nontargets_above
from personare.metrics.privacy.ranks import percentile_estimate, rank_test


def utterances(seed: int, *, people: int, each: int, noise: float) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    voice, owner = rng.standard_normal((people, 16)), np.repeat(np.arange(people), each)
    sides = [voice[owner] + noise * rng.standard_normal((len(owner), 16)) for _ in range(2)]
    return sides[0], owner, sides[1], owner


def random_percentile(people: int, *, tests: int) -> float:
    """The paper's random row: a mean of uniform ranks, nearly Gaussian, of endless people."""
    return (people + 1) / 2 + NormalDist().inv_cdf(0.01) * math.sqrt((people**2 - 1) / 12 / tests)


def test_usc_table_2_random_row() -> None:
    """Its closed form gives the printed 3452.06; deals of names come near it where every test has new utterances."""
    assert random_percentile(7974, tests=100) == pytest.approx(3452.06, abs=0.5)
    found = rank_test(*utterances(0, people=300, each=40, noise=1e6), variant="linkability", tests=20)
    assert found.random_p1 == pytest.approx(random_percentile(300, tests=20), rel=0.05)


def test_noise_gives_the_random_row() -> None:
    found = rank_test(*utterances(0, people=300, each=8, noise=1e6), variant="linkability", tests=40)
    assert found.random_p50 == pytest.approx(150.5, abs=1.0)
    assert found.p50.value == pytest.approx(150.5, abs=5)
    assert found.p1.value == pytest.approx(found.random_p1, abs=15)
    assert found.p50.low <= found.random_p50 <= found.p50.high


def test_one_utterance_each_is_a_plain_rank() -> None:
    test, owner, reference, _ = utterances(1, people=40, each=1, noise=1.0)
    found = rank_test(test, owner, reference, owner, variant="singling_out", tests=3)
    for i, rank in enumerate(found.mean_ranks):
        scores = [test[i] @ r / np.linalg.norm(r) for r in reference]
        assert rank == 1 + sum(s > scores[i] for s in scores)
    assert found.p50.value == np.percentile(found.mean_ranks, 50)
    assert found.p1.value == pytest.approx(np.percentile(found.mean_ranks, 1), rel=1e-12)
    assert found.k_anonymity is found.p1
    assert found.p50.low <= found.p50.value <= found.p50.high


def test_percentiles_are_numpys_and_their_ends_order_statistics() -> None:
    """Of 37 speakers 13 to 25 lie below the median in 97 % of cases (level 0.95), 15 to 23 in 86 % (level 0.8)."""
    test, owner, reference, _ = utterances(4, people=37, each=1, noise=4.0)
    for level, first, last in ((0.95, 12, 24), (0.8, 14, 22)):
        found = rank_test(test, owner, reference, owner, variant="linkability", tests=1, level=level, rng=3)
        ordered = np.sort(found.mean_ranks)
        assert found.p50.value == pytest.approx(np.percentile(ordered, 50), rel=1e-12)
        assert (found.p50.low, found.p50.high) == (ordered[first], ordered[last])
        below = stats.binom(37, 0.5)
        assert below.cdf(first) <= (1 - level) / 2 < below.cdf(first + 1)
        assert below.cdf(last - 1) < (1 + level) / 2 <= below.cdf(last)
        assert math.isnan(found.p1.low), "37 speakers do not tell where one in a hundred lies"


def test_intervals_begin_with_six_speakers_and_with_368() -> None:
    for share, fewest in ((0.5, 6), (0.01, 368)):
        few, enough = (percentile_estimate(np.arange(1.0, n + 1.0), share, level=0.95) for n in (fewest - 1, fewest))
        assert math.isnan(few.low) and enough.low <= enough.value <= enough.high


def test_the_chance_level_is_that_of_everybody_under_another_name() -> None:
    """Few people: every deal of names counts; what the attacker knows does not touch it."""
    people = 6
    test, owner, reference, _ = utterances(5, people=people, each=1, noise=0.01)
    found = rank_test(test, owner, reference, owner, variant="linkability", tests=1)
    scores = cosine(test, reference)
    ranks = 1.0 + (scores[:, None, :] > scores[:, :, None]).sum(axis=2)
    deals = [np.median(ranks[np.arange(people), list(p)]) for p in itertools.permutations(range(people))]
    assert found.random_p50 == pytest.approx(np.mean(deals), abs=0.15)
    assert found.p50.value == 1.0 and found.findings()[0].differs_from_chance


@pytest.mark.parametrize("people", [12, 410])
def test_noise_seldom_differs_from_guessing(people: int) -> None:
    """At N = 10 the level of an endless population was undercut nine times in ten."""
    rounds, wrong = 40 if people < 100 else 3, 0
    for seed in range(rounds):
        rng = np.random.default_rng(seed)
        owner = np.repeat(np.arange(people), 3)
        sides = (rng.normal(size=(len(owner), 8)), owner, rng.normal(size=(len(owner), 8)), owner)
        found = rank_test(*sides, variant="linkability", tests=10, rng=seed)
        wrong += sum(bool(finding.differs_from_chance) for finding in found.findings())
    assert wrong <= 0.1 * 2 * rounds + 1


def test_recordings_are_found_first_and_the_card_names_the_variant() -> None:
    found = rank_test(*utterances(2, people=50, each=5, noise=0.05), variant="linkability", tests=10)
    assert (found.p50.value, found.p1.value) == (1.0, 1.0)
    median, factor = found.findings(attacker="lazy")
    assert (median.metric.name, factor.metric.name) == ("rank_link_p50", "rank_link_p1")
    single = replace(found, variant="singling_out").findings()
    assert [finding.metric.name for finding in single] == ["rank_single_p50", "rank_single_p1"]
    assert factor.chance_level == found.random_p1
    assert factor.conditions == {"attacker": "lazy", "N": 50, "tests": 10}


def test_identical_voices_are_indistinguishable_from_all() -> None:
    same = np.ones((6, 4))
    found = rank_test(same, list("abcdef"), same, list("abcdef"), variant="linkability", tests=2)
    assert found.mean_ranks.tolist() == [6.0] * 6


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.floats(0.01, 100.0))
def test_scale_changes_nothing_and_more_tests_stay_in_range(seed: int, scale: float) -> None:
    test, owner, reference, _ = utterances(seed, people=9, each=3, noise=1.0)
    plain = rank_test(test, owner, reference, owner, variant="linkability", tests=4)
    scaled = rank_test(scale * test, owner, reference / scale, owner, variant="linkability", tests=4)
    assert (plain.mean_ranks == scaled.mean_ranks).all()
    assert ((plain.mean_ranks >= 1) & (plain.mean_ranks <= 9)).all()
    again = rank_test(test, owner, reference, owner, variant="linkability", tests=4, rng=np.random.default_rng(5))
    assert again.mean_ranks.shape == (9,)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"tests": 0}, "at least 1 test"),
        ({"test_speakers": [0, 0, 1, 2]}, "first: '3'"),
        ({"test_speakers": ["0", "1", "2", "3"]}, "both be text"),
        ({"test_vectors": np.full((4, 16), np.nan)}, "NaN"),
        ({"test_vectors": np.ones((4, 3))}, "3 dimensions, reference vectors 16"),
        ({"test_vectors": np.zeros((0, 16)), "test_speakers": []}, "no test vectors"),
    ],
)
def test_bad_input_is_one_line(change: dict[str, Any], says: str) -> None:
    test, owner, reference, _ = utterances(3, people=4, each=1, noise=1.0)
    good = {"test_vectors": test, "test_speakers": owner, "reference_vectors": reference, "reference_speakers": owner}
    with pytest.raises(MetricError, match=says):
        rank_test(**{**good, "variant": "linkability", **change})


def test_the_rank_of_the_next_of_very_many_people_is_counted_from_one() -> None:
    """Of more than 400 people only one other is ranked for every test; the best of all has rank 1."""
    from personare.metrics.privacy.ranks import FULL_MATRIX, _ranks_of_others

    n = FULL_MATRIX + 1
    rng = np.random.default_rng(1)
    test, reference = rng.normal(size=(n, 6)), rng.normal(size=(n, 6))
    ranks = _ranks_of_others(test, reference, np.arange(n))[:, 0]
    unit = [x / np.linalg.norm(x, axis=1, keepdims=True) for x in (test, reference)]
    scores = unit[0] @ unit[1].T
    other = np.roll(np.arange(n), -1)
    above = [sum(scores[i, j] > scores[i, other[i]] for j in range(n) if j != other[i]) for i in range(0, n, 40)]
    assert ranks[::40].tolist() == [1.0 + count for count in above]


def test_an_interval_that_is_just_as_sure_as_asked_is_one() -> None:
    """Of two speakers one lies on either side of the median in exactly half of all cases."""
    found = percentile_estimate(np.array([3.0, 8.0]), 0.5, level=0.5)
    assert (found.value, found.low, found.high) == (5.5, 3.0, 8.0)
    assert math.isnan(percentile_estimate(np.array([3.0, 8.0]), 0.5, level=0.51).low)


def test_a_guesser_is_dealt_200_names_whether_everybody_meets_everybody_or_the_next_one() -> None:
    for people in (5, 402):
        voices = np.random.default_rng(people).normal(size=(people, 3))
        found = rank_test(voices, np.arange(people), voices[::-1], np.arange(people), variant="linkability", tests=1)
        assert found.dealt_p50.values.shape == found.dealt_p1.values.shape == (200,)


@pytest.mark.parametrize(("people", "names"), [(400, 400), (401, 1)])
def test_up_to_400_people_everybody_is_ranked_under_every_name(
    monkeypatch: pytest.MonkeyPatch, people: int, names: int
) -> None:
    shapes: list[tuple[int, ...]] = []
    dealt = ranks_file._dealt

    def noted(guessed: Any, rng: Any) -> Any:
        shapes.append(guessed.shape)
        return dealt(guessed, rng)

    monkeypatch.setattr(ranks_file, "_dealt", noted)
    voices = np.random.default_rng(people).normal(size=(people, 3))
    rank_test(voices, np.arange(people), voices[::-1], np.arange(people), variant="linkability", tests=1)
    assert shapes == [(people, names)]


@pytest.mark.parametrize(("step", "ranks"), [(3e-13, [2, 2, 3]), (3e-12, [1, 2, 3])])
def test_a_guesser_meets_ties_up_to_rounding_as_the_attacker_does(step: float, ranks: list[int]) -> None:
    """Cosines of 0.5 that differ by less than a million millionth: whoever is named, the other one is as close."""
    angle = math.acos(0.5)
    at = [angle - step / math.sin(angle), angle, angle + 1.0]
    reference = np.array([[math.cos(a), math.sin(a)] for a in at])
    test = np.tile([[1.0, 0.0]], (3, 1))
    found = ranks_file._ranks_of_others(test, reference, np.arange(3))
    assert found.tolist() == [ranks] * 3
    assert (1 + nontargets_above(test, np.arange(3), reference, np.arange(3))).tolist() == ranks


@pytest.mark.parametrize(("people", "possible"), [(2, 2.0), (5, 120.0), (6, 720.0), (250, math.exp(700))])
def test_the_names_of_so_many_people_can_be_dealt_in_n_factorial_ways(people: int, possible: float) -> None:
    found = ranks_file._dealt(np.random.default_rng(0).uniform(1, people, (people, people)), np.random.default_rng(1))
    assert [dealt.possible for dealt in found] == pytest.approx([possible, possible])
