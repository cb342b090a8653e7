"""Speaker vectors before anything is measured: what is refused, which row or person the error names, who is whom."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.core.errors import MetricError
from personare.core.vectors import ROWS_AT_ONCE
from personare.metrics.privacy.gallery import GalleryDraw, gallery_of
from personare.metrics.privacy.nontargets_above import nontargets_above, nontargets_above_in_scores
from personare.metrics.privacy.vectors import checked_speakers, checked_vectors, same_dimension, target_columns

RNG = np.random.default_rng


@pytest.mark.parametrize("row", [0, 1, ROWS_AT_ONCE - 1, ROWS_AT_ONCE, 2 * ROWS_AT_ONCE + 3])
@pytest.mark.parametrize(("value", "says"), [(np.nan, "finite; row {} holds"), (0.0, "direction; row {} is all zeros")])
def test_the_first_bad_row_is_named_in_any_block(row: int, value: float, says: str) -> None:
    table = np.ones((3 * ROWS_AT_ONCE, 2))
    table[row:, 0] = value
    table[row:, 1] = 0.0
    with pytest.raises(MetricError, match=says.format(row)):
        checked_vectors(table, of="test")
    assert checked_vectors(table[:row], of="test").shape == (row, 2) if row else True


@pytest.mark.parametrize(
    ("vectors", "says"),
    [
        (np.ones((2, 0)), r"shape \[2, 0\]"),
        (np.ones(3), r"shape \[3\]"),
        (np.ones((1, 2, 3)), r"shape \[1, 2, 3\]"),
        (np.ones((0, 3)), "there are no odd vectors"),
        ([[True, False]], "must be numbers, not bool"),
        ([[1j, 2]], "must be numbers, not complex"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(vectors: Any, says: str) -> None:
    with pytest.raises(MetricError, match=says):
        checked_vectors(vectors, of="odd")


def test_one_coordinate_that_is_not_zero_gives_a_direction() -> None:
    assert checked_vectors([[0.0, 0.0, -1e-300]], of="test").shape == (1, 3)
    assert checked_vectors([[7.0]], of="test").shape == (1, 1)


def test_speakers_are_text_or_whole_numbers_one_per_row() -> None:
    for speakers, kind in ((["a", "b"], "U"), ([1, 2], "i"), (np.array([1, 2], dtype=np.uint8), "u")):
        assert checked_speakers(speakers, rows=2, of="test").dtype.kind == kind
    for raw in (np.array(["a", "b"], dtype=object), np.array([b"a", b"b"])):
        assert checked_speakers(raw, rows=2, of="test").dtype.kind == "U", "bytes and objects become text"
    with pytest.raises(MetricError, match=r"3 test vectors need 3 speakers; got shape \[2\]"):
        checked_speakers(["a", "b"], rows=3, of="test")
    with pytest.raises(MetricError, match="not float64"):
        checked_speakers([0.5, 1.0], rows=2, of="test")


def test_tables_that_cannot_be_compared_are_named() -> None:
    same_dimension(np.ones((1, 4)), np.ones((9, 4)), names=("one", "two"))
    with pytest.raises(MetricError, match="one vectors have 4 dimensions, two vectors 5"):
        same_dimension(np.ones((5, 4)), np.ones((5, 5)), names=("one", "two"))


@given(st.integers(0, 10**6), st.integers(1, 20), st.integers(1, 40), st.booleans())
def test_everybody_is_found_in_their_own_column(seed: int, people: int, tests: int, text: bool) -> None:
    names = RNG(seed).permutation(100)[:people]
    spoken = RNG(seed + 1).choice(names, tests)
    if text:
        names, spoken = names.astype(str), spoken.astype(str)
    assert (names[target_columns(spoken, names)] == spoken).all()


@pytest.mark.parametrize(("below", "counted"), [(0.0, 1), (0.5e-12, 1), (1.5e-12, 0), (1e-9, 0), (1e-3, 0), (-1e-3, 1)])
def test_scores_closer_than_a_million_millionth_are_a_tie(below: float, counted: int) -> None:
    """Cosines of 0.6 and of a little less: 1e-12 is far more than rounding, and far less than any two voices differ."""
    near = 0.6 - below
    enroll = np.array([[0.6, 0.8], [near, -np.sqrt(1 - near * near)]])
    assert nontargets_above([[1.0, 0.0]], ["a"], enroll, ["a", "b"]).tolist() == [counted]


@pytest.mark.parametrize(
    ("tested", "enrolled", "says"),
    [
        (["a", "x", "b", "y"], ["b", "a"], r"2 tests have a speaker who is not enrolled \(first: 'x'\)"),
        (["zz"], ["b", "a"], "1 tests have .* 'zz'"),
        (["a"], ["c", "b", "a", "c", "b"], r"2 enrolment speakers repeat \(first: 'b'\)"),
        ([1], ["1"], "both be text or both be whole numbers"),
        (["1"], [1], "both be text or both be whole numbers"),
    ],
)
def test_who_cannot_be_found_is_named(tested: list[Any], enrolled: list[Any], says: str) -> None:
    with pytest.raises(MetricError, match=says):
        target_columns(np.array(tested), np.array(enrolled))


@given(st.integers(0, 10**6), st.integers(2, 6))
def test_a_gallery_holds_the_first_conversations_of_each_speaker_in_their_order(seed: int, most: int) -> None:
    owner = RNG(seed).permutation(np.repeat(np.arange(5), RNG(seed).integers(2, 9, 5)))
    if seed % 2:
        owner = np.sort(owner)
    vectors = RNG(seed + 1).standard_normal((len(owner), 3))
    gallery = gallery_of(vectors, owner, most=most)
    rows = [np.flatnonzero(owner == person)[:most] for person in range(5)]
    assert gallery.conversations.tolist() == [len(r) for r in rows] and gallery.folds == max(len(r) for r in rows)
    assert (gallery.vectors[:] == vectors[np.concatenate(rows)]).all()
    assert gallery.owner.tolist() == [person for person in range(5) for _ in rows[person]]
    for person, begin in enumerate(gallery.start):
        assert (gallery.vectors[begin : begin + len(rows[person])] == vectors[rows[person]]).all()
    some = np.array([4, 0, 2])
    assert gallery.rows_of(some).tolist() == [gallery.start[p] + i for p in some for i in range(len(rows[p]))]
    draw = GalleryDraw.of(gallery, RNG(seed))
    assert (draw.order[draw.position] == np.arange(5)).all() and sorted(draw.order) == list(range(5))
    for person in range(5):
        assert sorted(draw.place[gallery.owner == person]) == list(range(len(rows[person]))), "each is tested once"


def test_people_heard_once_are_counted_and_the_first_is_named() -> None:
    with pytest.raises(MetricError, match=r"2 test speakers have one conversation only \(first: 'b'\)"):
        gallery_of(np.ones((4, 2)), np.array(["a", "c", "b", "a"]), most=10)


@pytest.mark.parametrize("largest", [0.5, 1.0, 100.0, -100.0])
def test_given_scores_tie_within_a_million_millionth_of_the_largest(largest: float) -> None:
    unit = 1e-12 * max(1.0, abs(largest))
    table = [[0.25, 0.25 - 0.6 * unit, 0.25 - 1.6 * unit, -np.inf], [largest, 0.125, 0.125, 0.125]]
    assert nontargets_above_in_scores(table, [0, 0])[0] == 1
