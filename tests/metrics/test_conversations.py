"""Conversations: means of L utterances, each used once, speakers with too few named."""

from __future__ import annotations

import numpy as np
import pytest

from personare.core.errors import MetricError
from personare.metrics.privacy.conversations import conversations, enrolment_means


def one_hot(utterances: int) -> np.ndarray:
    """One utterance per dimension, so that a mean shows which utterances went into it."""
    return np.eye(utterances)


def test_groups_are_disjoint_of_one_speaker_and_of_the_right_size() -> None:
    owner = np.array(["b"] * 7 + ["a"] * 5 + ["c"] * 2)
    made = conversations(one_hot(14), owner, length=3, rng=np.random.default_rng(0))
    assert made.speakers.tolist() == ["a", "b", "b"] and made.left_out == ("c",)
    used = made.vectors > 0
    assert (used.sum(axis=1) == 3).all() and (used.sum(axis=0) <= 1).all()
    assert made.vectors.sum(axis=1) == pytest.approx(1.0)
    for row, speaker in zip(used, made.speakers, strict=True):
        assert set(owner[row]) == {speaker}


def test_fewest_and_most_conversations() -> None:
    owner = np.repeat([3, 1, 2], [12, 3, 25])
    made = conversations(one_hot(40), owner, length=2, fewest=2, most=10, rng=np.random.default_rng(0))
    assert np.unique(made.speakers, return_counts=True)[1].tolist() == [10, 6] and made.left_out == ("1",)


def test_the_draw_comes_from_rng_alone() -> None:
    owner = np.repeat(np.arange(5), 8)
    made = [conversations(one_hot(40), owner, length=3, rng=np.random.default_rng(s)).vectors for s in (1, 1, 2)]
    assert (made[0] == made[1]).all() and (made[0] != made[2]).any()


def test_means_over_all_or_over_thirty_utterances() -> None:
    owner = np.repeat(["a", "b"], [40, 20])
    everything = enrolment_means(one_hot(60), owner)
    assert (everything.vectors > 0).sum(axis=1).tolist() == [40, 20]
    thirty = enrolment_means(one_hot(60), owner, most=30, rng=np.random.default_rng(0))
    assert (thirty.vectors > 0).sum(axis=1).tolist() == [30, 20]
    assert thirty.vectors[0].max() == pytest.approx(1 / 30)
    one = enrolment_means(one_hot(60), owner, most=1, rng=np.random.default_rng(0))
    assert (one.vectors > 0).sum(axis=1).tolist() == [1, 1] and one.vectors.max() == 1.0


def test_every_utterance_has_the_same_weight_unless_the_papers_raw_mean_is_asked_for() -> None:
    loud, rng = np.array([[1.0, 0.0], [0.0, 9.0]]), np.random.default_rng(0)
    assert enrolment_means(loud, ["a", "a"]).vectors.tolist() == [[0.5, 0.5]]
    assert enrolment_means(loud, ["a", "a"], unit_first=False).vectors.tolist() == [[0.5, 4.5]]
    assert conversations(loud, ["a", "a"], length=2, rng=rng).vectors.tolist() == [[0.5, 0.5]]
    assert conversations(loud, ["a", "a"], length=2, rng=rng, unit_first=False).vectors.tolist() == [[0.5, 4.5]]


@pytest.mark.parametrize(
    ("length", "fewest", "most", "says"),
    [
        (0, 1, None, "length >= 1"),
        (1, 0, None, "1 <= fewest"),
        (2, 3, 2, "fewest <= most"),
        (9, 1, None, "none of 1 speakers has 1 x 9"),
    ],
)
def test_impossible_wishes_are_one_line(length: int, fewest: int, most: int | None, says: str) -> None:
    with pytest.raises(MetricError, match=says):
        conversations(one_hot(4), ["a"] * 4, length=length, fewest=fewest, most=most, rng=np.random.default_rng(0))


def test_thirty_utterances_need_chance() -> None:
    with pytest.raises(MetricError, match="random generator"):
        enrolment_means(one_hot(4), ["a"] * 4, most=30)
    with pytest.raises(MetricError, match="most >= 1"):
        enrolment_means(one_hot(4), ["a"] * 4, most=0, rng=np.random.default_rng(0))
