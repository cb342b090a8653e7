"""The chance level: every deal by brute force, what gender alone tells, lists with gaps, laws, bad input."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from personare.core.errors import MetricError
from personare.core.findings import Finding
from personare.metrics.privacy import chance as chance_file
from personare.metrics.privacy.chance import Identities, _labels
from personare.metrics.privacy.cllr import min_cllr_of_levels
from personare.metrics.privacy.dealt import Dealt
from personare.metrics.privacy.dsys import dsys, dsys_estimate
from personare.metrics.privacy.eer import eer_finding, eer_of_levels, rocch_eer
from personare.metrics.privacy.summary import score_summary
from personare.metrics.privacy.zebra import d_ece_of_levels

RNG = np.random.default_rng


def chance_levels(*args: Any, **how: Any) -> list[float]:
    """Means over the deals."""
    return [dealt.mean for dealt in chance_file.chance_levels(*args, **how)]


def shuffled_levels(*args: Any, **how: Any) -> list[float]:
    """Means over shuffled labels."""
    return [dealt.mean for dealt in chance_file.shuffled_levels(*args, **how)]


def chance_of_split(*args: Any, **how: Any) -> list[float]:
    """Means over deals of trials split by class."""
    return [dealt.mean for dealt in chance_file.chance_of_split(*args, **how)]


def within_gender(sizes: tuple[int, ...], *, tests: int, seed: int = 0, offset: float = 0.0) -> tuple[Any, ...]:
    """Everybody is tested ``tests`` times against everybody of their group; ``offset`` parts the groups' scores."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    pairs = [(e, t) for t in range(len(group)) for e in range(len(group)) if group[e] == group[t]] * tests
    enrolled, tested = np.array(pairs).T
    scores = RNG(seed).normal(size=len(pairs)) + 1.5 * (enrolled == tested) + offset * group[tested]
    return scores, enrolled, tested, group


def split(scores: Any, enrolled: Any, tested: Any) -> tuple[Any, Any, Identities]:
    same = enrolled == tested
    names = np.array([f"p{i:02d}" for i in range(int(max(enrolled.max(), tested.max())) + 1)])
    return (
        scores[same],
        scores[~same],
        Identities(names[tested[same]], names[tested[~same]], names[enrolled[~same]]),
    )


# reference: every possible deal, one by one


def every_deal(scores: Any, enrolled: Any, tested: Any, group: Any) -> float:
    members = [np.flatnonzero(group == g) for g in np.unique(group)]
    values = []
    for dealt in itertools.product(*(itertools.permutations(some) for some in members)):
        identity = np.arange(len(group))
        for some, given_names in zip(members, dealt, strict=True):
            identity[some] = given_names
        target = identity[tested] == enrolled
        values.append(rocch_eer(scores[target], scores[~target]))
    return float(np.mean(values))


@pytest.mark.parametrize("sizes", [(3, 2), (4,), (2, 2, 2)])
def test_the_mean_over_deals_is_the_mean_over_every_deal(sizes: tuple[int, ...]) -> None:
    scores, enrolled, tested, group = within_gender(sizes, tests=4, offset=1.0)
    (found,) = chance_levels(scores, enrolled, tested, [eer_of_levels], groups=group, rng=RNG(1), deals=4000)
    assert found == pytest.approx(every_deal(scores, enrolled, tested, group), abs=0.005)


# closed form: what the gender alone tells


def test_chance_stays_within_genders() -> None:
    """Two women, twenty men, and scores that tell the gender only: the women's trials are targets half of the time.

    A guesser who knows the gender accepts 2 of 2 + 20 targets and 2 of 2 + 380 nontargets, or everything; across
    genders the labels would tell next to nothing.
    """
    group = np.repeat([0, 1], [2, 20])
    pairs = np.array([(e, t) for t in range(22) for e in range(22) if group[e] == group[t]])
    enrolled, tested = pairs.T
    gender_only = (group[tested] == 0).astype(float)
    (found,) = chance_levels(gender_only, enrolled, tested, [eer_of_levels], rng=RNG(1))
    same = enrolled == tested
    assert found == pytest.approx(rocch_eer(gender_only[same], gender_only[~same]), abs=1e-12)
    hits, alarms = 2 / 22, 2 / 382
    assert found == pytest.approx((1 - hits) / (2 - hits - alarms), abs=1e-12) and found < 0.48
    t, n, identities = split(gender_only, enrolled, tested)
    across = shuffled_levels(t, n, [eer_of_levels], rng=RNG(1))[0]
    assert across > found + 0.005
    given_groups = Identities(
        identities.target_speakers,
        identities.nontarget_tested,
        identities.nontarget_enrolled,
        {f"p{i:02d}": "f" if i < 2 else None for i in range(22)},
    )
    for known in (identities, given_groups):
        assert chance_of_split(t, n, [eer_of_levels], identities=known, rng=RNG(2)) == pytest.approx([found], abs=1e-12)


def test_all_tests_of_a_speaker_keep_one_identity() -> None:
    """Scores that tell the pair of people: a deal turns whole blocks, shuffled labels would mix them to nothing."""
    _, enrolled, tested, group = within_gender((4,), tests=50)
    pair = (enrolled * 7 + tested * 3) % 11 + 0.0
    (dealt,) = chance_levels(pair, enrolled, tested, [eer_of_levels], groups=group, rng=RNG(0), deals=400)
    assert dealt == pytest.approx(every_deal(pair, enrolled, tested, group), abs=0.01)
    t, n, _ = split(pair, enrolled, tested)
    assert shuffled_levels(t, n, [eer_of_levels], rng=RNG(0))[0] > dealt + 0.1


def test_chance_tends_to_the_textbook_and_ties_have_it() -> None:
    many = [
        shuffled_levels(np.arange(n), np.arange(10 * n), [eer_of_levels], rng=RNG(1), deals=50)[0] for n in (10, 1000)
    ]
    assert many[0] < 0.45 < 0.49 < many[1] < 0.5
    _, enrolled, tested, group = within_gender((5, 5), tests=2)
    tied = np.zeros(len(enrolled))
    every = [eer_of_levels, min_cllr_of_levels, d_ece_of_levels]
    assert chance_levels(tied, enrolled, tested, every, groups=group, rng=RNG(1)) == [0.5, 1.0, 0.0]
    assert shuffled_levels(tied[:9], tied, every, rng=RNG(1)) == [0.5, 1.0, 0.0]


def test_few_trials_are_dealt_200_times_and_many_less_often_but_ten_times() -> None:
    for trials, expected in ((40, 200), (100_000, 40), (500_000, 10)):
        count = lambda t, n: t.sum(axis=-1)  # noqa: E731
        (dealt,) = chance_file.shuffled_levels(np.zeros(10), np.zeros(trials - 10), [count], rng=RNG(0))
        assert len(dealt.values) == expected


# lists with gaps


@pytest.mark.parametrize(("targets", "nontargets"), [(3, 4), (19, 30), (30, 19), (20, 20)])
def test_few_scores_without_names_can_be_labelled_in_so_many_ways(targets: int, nontargets: int) -> None:
    """From 20 of each on it is no limit to what can be proved."""
    dealt = chance_file.shuffled_levels(
        np.arange(targets), np.arange(nontargets) - 0.5, [eer_of_levels], rng=np.random.default_rng(0)
    )
    few = min(targets, nontargets)
    assert dealt[0].possible == (math.comb(targets + nontargets, few) if few < 20 else math.inf)


def test_gaps_shuffle_labels_within_groups_and_keep_the_number_of_targets() -> None:
    scores, enrolled, tested, group = within_gender((6, 6), tests=3, offset=3.0)
    kept = np.ones(len(scores), dtype=bool)
    kept[np.flatnonzero(enrolled != tested)[::7]] = False
    targets = lambda t, n: t.sum(axis=-1)  # noqa: E731
    (kept_targets,) = chance_file.chance_levels(
        scores[kept], enrolled[kept], tested[kept], [targets], groups=group, rng=RNG(1), deals=20
    )
    assert set(kept_targets.values) == {36}
    groups_tell = (group[tested[kept]]).astype(float)  # only the gender: labels shuffled within genders change nothing
    (found,) = chance_levels(groups_tell, enrolled[kept], tested[kept], [eer_of_levels], groups=group, rng=RNG(1))
    same = enrolled[kept] == tested[kept]
    assert found == pytest.approx(rocch_eer(groups_tell[same], groups_tell[~same]), abs=1e-12)


def test_trials_across_groups_keep_their_own_number_of_targets_in_either_direction() -> None:
    """A woman against an enrolled man is another kind of trial than a man against an enrolled woman."""
    group = np.array([0, 0, 1, 1])
    enrolled, tested = np.array([0, 1, 0, 1, 2, 3, 2, 3]), np.array([2, 2, 3, 3, 0, 0, 1, 1])
    target = np.array([True] * 4 + [False] * 4)
    for _ in range(20):
        dealt = _labels(target, enrolled, tested, group, RNG(0))()
        assert dealt[:4].all() and not dealt[4:].any()


def test_people_who_are_tested_only_are_never_targets_and_leave_the_list_complete() -> None:
    scores, enrolled, tested, _ = within_gender((4,), tests=5)
    visitors = np.repeat([4, 5], 4)
    more = np.concatenate([scores, RNG(3).normal(size=8)])
    enrolled, tested = np.append(enrolled, np.tile(np.arange(4), 2)), np.append(tested, visitors)
    (found,) = chance_levels(more, enrolled, tested, [eer_of_levels], rng=RNG(0), deals=2000)
    expected = every_deal(more, enrolled, tested, np.array([0, 0, 0, 0, 1, 2]))
    assert found == pytest.approx(expected, abs=0.006)


# laws


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 4))
def test_order_and_monotone_maps_change_nothing_and_complete_lists_keep_their_targets(
    seed: int, people: int, tests: int
) -> None:
    scores, enrolled, tested, group = within_gender((people, 2), tests=tests, seed=seed)
    counted: list[NDArray[Any]] = []

    def targets(t: Any, n: Any) -> Any:
        counted.extend(np.stack([t.sum(axis=-1), n.sum(axis=-1)], axis=-1).reshape(-1, 2))
        return eer_of_levels(t, n)

    (plain,) = chance_levels(scores, enrolled, tested, [targets], groups=group, rng=RNG(seed), deals=5)
    order = RNG(seed).permutation(len(scores))
    (mapped,) = chance_levels(
        np.exp(scores[order]), enrolled[order], tested[order], [eer_of_levels], rng=RNG(seed), deals=5
    )
    assert mapped == pytest.approx(plain, abs=1e-12) and 0 <= plain <= 0.5
    assert all(c.tolist() == [(people + 2) * tests, len(scores) - (people + 2) * tests] for c in counted)


def test_noise_seldom_differs_from_its_own_chance_level_across_genders_of_different_loudness() -> None:
    wrong, rounds = 0, 40
    for seed in range(rounds):
        _, enrolled, tested, _ = within_gender((6, 14), tests=6)
        rng = RNG(seed)
        noise = rng.normal(size=len(enrolled)) + 2.0 * (tested < 6)
        t, n, identities = split(noise, enrolled, tested)
        found = eer_finding(
            t,
            n,
            target_speakers=identities.target_speakers,
            nontarget_speakers=identities.nontarget_tested,
            identities=identities,
            rng=rng,
        )
        wrong += bool(found.differs_from_chance)
    assert wrong <= 8


def test_summary_finding_and_dsys_use_the_same_chance() -> None:
    scores, enrolled, tested, _ = within_gender((2, 20), tests=3, offset=-4.0)
    t, n, identities = split(scores, enrolled, tested)
    who: Any = {"target_speakers": identities.target_speakers, "nontarget_speakers": identities.nontarget_tested}
    found = score_summary(t, n, dcf_prior=0.1, identities=identities, rng=RNG(1), **who)
    chance = {f.metric.name: f.chance for f in found.findings}
    alone = eer_finding(t, n, identities=identities, rng=RNG(1), conditions={"L": 1}, **who)
    assert isinstance(alone, Finding) and alone.conditions == {"L": 1}
    dealt = chance_of_split(t, n, [eer_of_levels], identities=identities, rng=RNG(5))[0]
    shuffled = chance_of_split(t, n, [eer_of_levels], identities=None, rng=RNG(5))[0]
    assert chance["eer"] == pytest.approx(dealt, abs=0.01) and alone.chance == pytest.approx(dealt, abs=0.01)
    assert shuffled > dealt + 0.02
    within = dsys_estimate(t, n, identities=identities, rng=RNG(1), **who).value
    assert within < dsys(t, n, rng=RNG(1)) - 0.01, "what the gender tells is not charged to the voices"
    values = {f.metric.name: f.estimate.value for f in found.findings}
    assert values["dsys"] == pytest.approx(within, abs=0.02)


# degenerate


def test_bad_input_is_one_line() -> None:
    good: dict[str, Any] = {"scores": [1.0, 0.0], "enrolled": [0, 1], "tested": [0, 0], "statistics": [eer_of_levels]}
    cases: list[tuple[dict[str, Any], str]] = [
        ({"scores": [1.0, np.nan]}, "must be finite"),
        ({"enrolled": [0]}, "2 trials need 2 numbers of enrolled speakers"),
        ({"tested": [0, -1]}, "numbers of tested speakers, 0 or above"),
        ({"tested": ["a", "b"]}, "numbers of tested speakers"),
        ({"tested": [1, 0]}, "target and nontarget trials"),
        ({"tested": [0, 1]}, "target and nontarget trials"),
        ({"groups": [0]}, "each of 2 speakers needs the number of a group"),
        ({"groups": [0.5, 1.0]}, "number of a group"),
        ({"groups": [0, -1]}, "number of a group"),
        ({"groups": [[0, 0], [0, 0]]}, "number of a group"),
        ({"tested": [-1, 0]}, "numbers of tested speakers, 0 or above"),
        ({"deals": 0}, "at least one deal"),
    ]
    for change, says in cases:
        with pytest.raises(MetricError, match=says):
            chance_levels(**{**good, "rng": RNG(0), **change})
    for identities, says in (
        (Identities(["a"], ["a", "b"], ["b"]), "each of 3 trials needs the speakers it compares"),
        (Identities(["a"], ["a"], ["b"]), "each of 3 trials needs"),
        (Identities(["a"], ["a", "b"], ["b", "b"]), "one has 'b' on both sides"),
    ):
        with pytest.raises(MetricError, match=says):
            chance_of_split([1.0], [0.0, 0.5], [eer_of_levels], identities=identities, rng=RNG(0))


# the test that the deals are


def test_the_share_of_deals_that_do_as_well_is_the_probability_of_guessing() -> None:
    """With three possible deals beyond the value of 120: (1 + how many reach it) / (1 + deals), on both sides."""
    dealt = Dealt(np.arange(120) / 120, 120.0)
    assert dealt.tails(117 / 120, attacker_wants_more=True) == (4 / 121, 119 / 121)
    assert dealt.tails(117 / 120, attacker_wants_more=False) == (119 / 121, 4 / 121)
    assert dealt.mean == pytest.approx(119 / 240)


def test_beyond_all_deals_the_t_law_says_how_far_but_never_below_one_deal_of_all_possible() -> None:
    values = RNG(0).normal(0.45, 0.01, 200)
    near, _ = Dealt(values, np.inf).tails(0.49, attacker_wants_more=True)
    far, other = Dealt(values, np.inf).tails(0.60, attacker_wants_more=True)
    assert far < near < 1 / 201 and far < 1e-9 and other == 1.0
    assert Dealt(values, 120.0).tails(0.60, attacker_wants_more=True)[0] == min(1 / 201, 1 / 120)
    assert Dealt(values, 720.0).tails(0.60, attacker_wants_more=True)[0] == pytest.approx(1 / 720)


def test_four_people_prove_nothing_and_five_may() -> None:
    for people, proves in ((4, False), (5, True)):
        scores, enrolled, tested, group = within_gender((people,), tests=6)
        (dealt,) = chance_file.chance_levels(
            scores + 9.0 * (enrolled == tested), enrolled, tested, [eer_of_levels], groups=group, rng=RNG(0)
        )
        better, _ = dealt.tails(0.0, attacker_wants_more=False)
        assert (better <= 0.025) == proves and np.isnan(better) != proves


def test_one_missing_pair_makes_a_list_incomplete_also_where_another_group_is_complete() -> None:
    """A dealt speaker of that group might have no target trial: labels are shuffled, and there are endless deals."""
    pairs = [(e, t) for group in ((0, 1, 2, 6, 7), (3, 4, 5)) for e in group for t in group]
    noise = np.random.default_rng(1).normal(size=len(pairs))
    for missing, possible in ((None, math.factorial(5) * math.factorial(3)), ((3, 4), math.inf)):
        kept = [i for i, pair in enumerate(pairs) if pair != missing]
        enrolled, tested = np.array([pairs[i] for i in kept]).T
        groups = np.array([0, 0, 0, 1, 1, 1, 0, 0])
        (found,) = chance_file.chance_levels(
            noise[kept], enrolled, tested, [eer_of_levels], groups=groups, rng=np.random.default_rng(2), deals=5
        )
        assert found.possible == pytest.approx(possible)
