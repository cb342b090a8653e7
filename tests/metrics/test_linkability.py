"""Linkability: real x-vectors with published counts, the exact formula against drawing subsets, laws, bad input."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from personare.core.errors import MetricError
from personare.metrics.privacy import nontargets_above as counting
from personare.metrics.privacy.linkability import (
    _drawn_links,
    default_sizes,
    exact_curve,
    link_probability,
    linkability,
    linkability_from_counts,
    linkability_from_scores,
)
from personare.metrics.privacy.nontargets_above import gallery_parts, nontargets_above, nontargets_above_in_scores

GOLDEN = Path("golden") / "vpc2020"
SIDES = {"oo": ("orig", "orig"), "oa": ("orig", "anon"), "aa": ("anon", "anon")}


def golden(shared_folder: Path, condition: str) -> tuple[NDArray[Any], ...]:
    gender, sides = condition.split("_")
    enroll_side, trial_side = SIDES[sides]
    enroll = np.load(shared_folder / GOLDEN / f"xvectors_enroll_{enroll_side}.npz", allow_pickle=False)
    trial = np.load(shared_folder / GOLDEN / f"xvectors_trial_{gender}_{trial_side}.npz", allow_pickle=False)
    kept = np.isin(trial["speaker"], enroll["speaker"])
    return trial["vector"][kept], trial["speaker"][kept], enroll["vector"], enroll["speaker"]


def voices(seed: int, *, people: int, tests: int, noise: float = 1.0) -> tuple[NDArray[Any], ...]:
    rng = np.random.default_rng(seed)
    enroll = rng.standard_normal((people, 8))
    speakers = rng.integers(0, people, tests)
    return enroll[speakers] + noise * rng.standard_normal((tests, 8)), speakers, enroll, np.arange(people)


# reference: VoicePrivacy 2020 x-vectors


@pytest.mark.shared
@pytest.mark.parametrize("condition", ["f_oo", "m_oo", "f_oa", "m_oa", "f_aa", "m_aa"])
def test_vpc2020_linkability_counts(shared_folder: Path, condition: str) -> None:
    expected = json.loads((shared_folder / GOLDEN / "expected.json").read_text())["linkability_counts"]
    found = linkability(*golden(shared_folder, condition), sizes=(29,))
    links, tests = expected[condition]
    assert (int((found.nontargets_above == 0).sum()), len(found.nontargets_above)) == (links, tests)
    assert found.estimates[0].value == pytest.approx(links / tests, rel=1e-12)
    if condition in expected["mean_rank_ties_against"]:
        assert 1 + found.nontargets_above.mean() == pytest.approx(
            expected["mean_rank_ties_against"][condition], abs=5e-5
        )


# closed forms


@pytest.mark.parametrize("b", range(5))
def test_the_formula_counts_subsets_without_the_closer_nontargets(b: int) -> None:
    n = 6
    for size in range(1, n + 1):
        subsets = list(itertools.combinations(range(n - 1), size - 1))  # nontargets 0..b-1 are the closer ones
        share = sum(not set(s) & set(range(b)) for s in subsets) / len(subsets)
        assert link_probability([b], enrolled=n, sizes=(size,))[0, 0] == pytest.approx(share, rel=1e-14, abs=0)


def test_the_exact_value_is_the_mean_of_drawn_subsets() -> None:
    test, owner, enroll, people = voices(3, people=30, tests=200)
    exact = linkability(test, owner, enroll, people, sizes=(5, 12, 30))
    rng = np.random.default_rng(0)
    scores = (test / np.linalg.norm(test, axis=1, keepdims=True)) @ (enroll / np.linalg.norm(enroll, axis=1)[:, None]).T
    for size, estimate in zip(exact.sizes, exact.estimates, strict=True):
        links = []
        for row, own in zip(scores, owner, strict=True):
            others = np.delete(people, own)
            for _ in range(40):
                chosen = rng.choice(others, size - 1, replace=False)
                links.append(row[own] > row[chosen].max())
        assert abs(np.mean(links) - estimate.value) < 4 * 0.5 / math.sqrt(len(links))


def test_the_exact_value_agrees_with_binomials_where_factorials_would_overflow() -> None:
    n, size, b = 22_024, 10_000, 3
    exact = math.comb(n - 1 - b, size - 1) / math.comb(n - 1, size - 1)
    assert link_probability([b], enrolled=n, sizes=(size,))[0, 0] == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("enrolled", [1, 2, 7, 400])
def test_the_whole_curve_equals_the_sizes_one_by_one(enrolled: int) -> None:
    b = np.random.default_rng(enrolled).integers(0, enrolled, 50)
    one_by_one = link_probability(b, enrolled=enrolled, sizes=range(1, enrolled + 1)).mean(axis=0)
    np.testing.assert_allclose(exact_curve(b, enrolled=enrolled), one_by_one, rtol=1e-11, atol=1e-24)


def test_random_ranks_give_chance() -> None:
    n = 50
    curve = exact_curve(np.arange(n), enrolled=n)  # every rank equally often
    np.testing.assert_allclose(curve, 1 / np.arange(1, n + 1), rtol=1e-12)


def test_five_draws_scatter_around_the_exact_value() -> None:
    test, owner, enroll, people = voices(5, people=60, tests=3000, noise=1.5)
    exact = linkability(test, owner, enroll, people, sizes=(10, 30, 60))
    drawn = linkability(test, owner, enroll, people, sizes=(10, 30, 60), draws=5, rng=np.random.default_rng(1))
    assert drawn.drawn is not None and drawn.drawn.shape == (5, 3)
    for column, e, d in zip(drawn.drawn.T, exact.estimates, drawn.estimates, strict=True):
        assert d.value == pytest.approx(column.mean())
        assert abs(d.value - e.value) < 4 * 0.5 / math.sqrt(5 * 3000)
    assert (np.diff(drawn.drawn, axis=1) <= 0).all(), "subsets are nested, so a larger one cannot link more"
    assert np.ptp(drawn.drawn[:, 2]) == 0, "with everybody enrolled nothing is left to chance"
    once = linkability(test, owner, enroll, people, sizes=(10,), draws=1, rng=np.random.default_rng(1))
    assert once.drawn is not None and once.drawn.shape == (1, 1)
    assert not _drawn_links(np.zeros((1, 1)), np.zeros((1, 1))).any(), "what cannot happen never does"


def test_one_test_per_speaker_gives_wilson_several_give_a_wider_interval_than_counting_tests() -> None:
    wilson = linkability_from_counts([0] * 8 + [3] * 2, np.arange(10), enrolled=5, sizes=(5,)).estimates[0]
    assert (wilson.value, round(wilson.low, 4), round(wilson.high, 4), wilson.n) == (0.8, 0.4902, 0.9433, 10)
    talkative = linkability_from_counts([0] * 80 + [3] * 20, np.repeat(np.arange(10), 10), enrolled=5, sizes=(5,))
    assert talkative.estimates[0].n == 10
    assert talkative.estimates[0].high - talkative.estimates[0].low > 0.3


def test_risk_tells_who_is_linked() -> None:
    found = linkability_from_counts([0, 0, 0, 2, 4, 4], ["a", "a", "b", "b", "c", "c"], enrolled=5, sizes=(5,))
    assert dict(zip(found.speakers.tolist(), found.risk().tolist(), strict=True)) == {"a": 1.0, "b": 0.5, "c": 0.0}
    assert found.risk(2)[2] == 0.0 and found.risk(1).tolist() == [1.0, 1.0, 1.0]
    (finding,) = found.findings(attacker="ignorant")
    assert finding.conditions == {"attacker": "ignorant", "N": 5} and finding.chance_level == 0.2


# laws


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(1, 30))
def test_order_names_and_lengths_of_vectors_change_nothing(seed: int, people: int, tests: int) -> None:
    test, owner, enroll, names = voices(seed, people=people, tests=tests)
    rng = np.random.default_rng(seed)
    order, place = rng.permutation(tests), rng.permutation(people)
    plain = nontargets_above(test, owner, enroll, names)
    shuffled = nontargets_above(
        test[order] * rng.uniform(0.1, 9, (tests, 1)),
        [f"p{i}" for i in owner[order]],
        enroll[place] * rng.uniform(0.1, 9, (people, 1)),
        [f"p{i}" for i in names[place]],
    )
    assert plain[order].tolist() == shuffled.tolist()


@pytest.mark.parametrize(("rows", "at_once"), [(50, 8192), (7, 8192), (50, 7), (20, 7)])
def test_a_gallery_in_parts_or_blocks_counts_as_the_whole(
    monkeypatch: pytest.MonkeyPatch, rows: int, at_once: int
) -> None:
    """A test's own speaker is left out in the part and block they are in, and nobody else is in any other."""
    test, owner, enroll, names = voices(3, people=50, tests=200)
    enroll[11], enroll[37] = enroll[2], 5 * enroll[30]  # the same direction: within NEAR, above by the rule of ties
    scores = (enroll / np.linalg.norm(enroll, axis=1)[:, None] @ test.T).round(9)
    plain = [int(sum(scores[:, t] >= scores[who, t])) - 1 for t, who in enumerate(owner)]
    monkeypatch.setattr(counting, "ENROLLED_AT_ONCE", at_once)
    tests = counting.tests_against(test, owner, enroll, names)
    parts = [tests.above_in(enroll[first:last], first=first) for first, last in gallery_parts(50, rows=rows)]
    assert sum(parts).tolist() == plain  # type: ignore[union-attr]


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(1, 30))
def test_enrolling_more_people_never_links_more(seed: int, people: int, tests: int) -> None:
    test, owner, enroll, names = voices(seed, people=people, tests=tests)
    more = np.vstack([enroll, np.random.default_rng(seed + 1).standard_normal((3, 8))])
    few = linkability(test, owner, enroll, names)
    many = linkability(test, owner, more, np.arange(people + 3))
    assert many.estimates[-1].value <= few.estimates[-1].value
    assert (np.diff(few.curve()) <= 1e-15).all() and (np.diff(many.curve()) <= 1e-15).all()
    assert few.curve()[0] == pytest.approx(1.0)


@settings(max_examples=30)
@given(st.lists(st.lists(st.integers(-5, 5), min_size=4, max_size=4), min_size=1, max_size=20), st.integers(0, 3))
def test_monotone_maps_of_scores_change_nothing(rows: list[list[int]], column: int) -> None:
    scores = np.array(rows, dtype=float)
    target = np.full(len(rows), column)
    plain = nontargets_above_in_scores(scores, target)
    assert plain.tolist() == nontargets_above_in_scores(np.exp(3 * scores) - 7, target).tolist()
    assert plain.tolist() == [sum(v >= row[column] for v in row) - 1 for row in rows]


@pytest.mark.parametrize("cells", [1, 120])
def test_scores_and_vectors_agree_beyond_one_block(monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    monkeypatch.setattr("personare.metrics.privacy.nontargets_above.BLOCK_CELLS", cells)
    test, owner, enroll, names = voices(11, people=40, tests=50)
    scores = (test @ enroll.T) / np.outer(np.linalg.norm(test, axis=1), np.linalg.norm(enroll, axis=1))
    from_scores = linkability_from_scores(scores, owner, owner)
    from_vectors = linkability(test, owner, enroll, names)
    assert from_scores.nontargets_above.tolist() == from_vectors.nontargets_above.tolist()
    assert from_scores.estimates == from_vectors.estimates


# degenerate


def test_ties_are_not_links_even_where_single_precision_cannot_see_them() -> None:
    voice = np.random.default_rng(0).standard_normal(192)
    twins = np.vstack([voice, 3 * voice, voice + 1e-6 * np.arange(192)])
    counts = nontargets_above(twins[2:], ["c"], twins, ["a", "b", "c"])
    assert counts.tolist() == [0], "a small difference is a difference"
    assert nontargets_above(voice[None], ["a"], twins[:2], ["a", "b"]).tolist() == [1], "a scaled copy is a tie"


def test_all_alike_links_nobody_and_one_person_is_always_linked() -> None:
    same = np.ones((6, 3))
    found = linkability(same, list("abcdef"), same, list("abcdef"), sizes=(1, 2, 6))
    assert [e.value for e in found.estimates] == [1.0, 0.0, 0.0]
    assert found.estimates[2].low == 0.0 and 0 < found.estimates[2].high < 0.5
    alone = linkability(same[:2], ["a", "a"], same[:1], ["a"])
    assert alone.sizes == (1,) and alone.estimates[0].value == 1.0


def test_speakers_who_all_fail_do_not_pretend_certainty() -> None:
    none = linkability_from_counts([4] * 40, np.repeat(np.arange(4), 10), enrolled=5, sizes=(5,)).estimates[0]
    assert none.value == none.low == 0.0 and none.high > 0.4


GOOD: dict[str, Any] = {
    "test_vectors": [[1.0, 0.0]],
    "test_speakers": ["a"],
    "enroll_vectors": [[1.0, 0.0], [0.0, 1.0]],
    "enroll_speakers": ["a", "b"],
}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"test_vectors": [[math.nan, 0.0]]}, "NaN"),
        ({"enroll_vectors": [[1.0, 0.0], [math.inf, 1.0]]}, "NaN or infinite"),
        ({"test_vectors": [[0.0, 0.0]]}, "all zeros"),
        ({"test_vectors": [[1.0, 0.0, 0.0]]}, "3 dimensions, enrolment vectors 2"),
        ({"test_vectors": np.zeros((0, 2)), "test_speakers": []}, "no test vectors"),
        ({"test_vectors": [1.0, 0.0]}, "shape"),
        ({"test_vectors": [["x", "y"]]}, "must be numbers"),
        ({"test_speakers": ["c"]}, "not enrolled (first: 'c')"),
        ({"test_speakers": ["a", "b"]}, "1 speakers"),
        ({"test_speakers": [0]}, "both be text"),
        ({"test_speakers": [0.5]}, "whole numbers"),
        ({"enroll_speakers": ["a", "a"]}, "repeat (first: 'a')"),
        ({"sizes": (3,)}, "within 1..2"),
        ({"sizes": (0,)}, "within 1..2"),
        ({"sizes": ()}, "at least one"),
        ({"draws": 0}, "at least 1"),
    ],
)
def test_bad_input_is_one_line(change: dict[str, Any], says: str) -> None:
    with pytest.raises(MetricError) as caught:
        linkability(**{**GOOD, **change})
    assert says in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("scores", "columns", "says"),
    [
        ([[math.nan, 1.0]], [0], "NaN"),
        ([[1.0, 2.0]], [2], "0..1"),
        ([[1.0, 2.0], [1.0, 2.0]], [-1, 0], "0..1; got -1..0"),
        ([[1.0, 2.0]], [0.0], "target columns"),
        ([[1.0, 2.0]], [0, 1], "target columns"),
        (np.zeros((0, 2)), [], "shape"),
    ],
)
def test_bad_scores_are_one_line(scores: Any, columns: list[int], says: str) -> None:
    with pytest.raises(MetricError, match=says):
        nontargets_above_in_scores(scores, columns)


@pytest.mark.parametrize("counts", [[-1], [-1, 3], [5], [0, 5], [0.5], [], [[1, 2]]])
def test_impossible_counts_are_refused(counts: list[Any]) -> None:
    with pytest.raises(MetricError):
        linkability_from_counts(counts, ["a"] * len(counts), enrolled=5)


def test_default_sizes_end_with_everybody() -> None:
    assert default_sizes(22_024)[:3] == (20, 50, 100) and default_sizes(22_024)[-2:] == (20_000, 22_024)
    assert default_sizes(20) == (20,) and default_sizes(3) == (3,)


@pytest.mark.parametrize("cells", [1, 500_000])
def test_voices_all_nearly_alike_are_counted_as_in_double_precision(monkeypatch: Any, cells: int) -> None:
    monkeypatch.setattr("personare.metrics.privacy.nontargets_above.DOUBLE_CELLS", cells)
    rng = np.random.default_rng(4)
    shared = rng.standard_normal(192)
    enroll = shared + 1e-3 * rng.standard_normal((300, 192))  # cosines differ in the seventh digit
    test = enroll[:40] + 1.5e-2 * rng.standard_normal((40, 192))
    rows = [v / np.linalg.norm(v) for v in enroll]
    exact = [sum(float(r @ t) >= float(rows[i] @ t) for r in rows) - 1 for i, t in enumerate(test)]
    assert nontargets_above(test, np.arange(40), enroll, np.arange(300)).tolist() == exact
    assert len(set(exact)) > 10
