"""Word error rate: against an edit distance written here, sums over utterances, silence."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.core.errors import MetricError
from personare.metrics.utility.wer import WordErrors, wer, wer_estimate, word_errors

from .by_hand import ends_by_hand

SENTENCES = st.lists(st.sampled_from("abcd"), max_size=8).map(" ".join)


def edit_distance(said: list[str], heard: list[str]) -> int:
    """Levenshtein's distance, row by row."""
    row = list(range(len(heard) + 1))
    for i, word in enumerate(said, 1):
        previous, row[0] = row[0], i
        for j, other in enumerate(heard, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (word != other))
    return row[-1]


@given(st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=6))
def test_errors_are_the_least_edits_of_each_utterance(pairs: list[tuple[str, str]]) -> None:
    found = word_errors([p[0] for p in pairs], [p[1] for p in pairs])
    assert found.errors.tolist() == [edit_distance(s.split(), h.split()) for s, h in pairs]
    assert found.words.tolist() == [len(s.split()) for s, _ in pairs]
    surplus = found.insertions - found.deletions
    assert surplus.tolist() == [len(h.split()) - len(s.split()) for s, h in pairs]


def test_kinds_of_errors_and_rates_by_hand() -> None:
    found = word_errors(["one two three four", "five", ""], ["one too three", "five five", "noise"])
    assert found.substitutions.tolist() == [1, 0, 0]
    assert found.deletions.tolist() == [1, 0, 0]
    assert found.insertions.tolist() == [0, 1, 1]
    assert wer(found) == pytest.approx(4 / 5)
    assert wer(word_errors(["a b"], ["c d e f"])) == 2.0
    assert wer(word_errors(["one\ttwo\n"], [" one  two"])) == 0.0


def test_the_interval_leaves_out_speakers_and_keeps_those_without_words() -> None:
    """Errors and words of s, t, u, v: 0 of 3, 1 of 3, 1 of none, 1 of 2."""
    found = word_errors(["a b c", "a b c", "", "a b"], ["a b c", "a x c", "y", "a z"])
    estimate = wer_estimate(found, speakers=["s", "t", "u", "v"], level=0.3)
    assert estimate.value == wer(found) == 3 / 8
    assert estimate.n == 4
    ends = ends_by_hand(3 / 8, [3 / 5, 2 / 5, 2 / 8, 2 / 6], bounds=(0.0, math.inf), level=0.3)
    assert (estimate.low, estimate.high) == pytest.approx(ends, rel=1e-9) and estimate.low > 0


def test_without_whom_no_word_was_said_there_is_no_rate() -> None:
    """Without s only noise is left, in which nothing was said; that is no rate, and u and v alone make the interval."""
    found = word_errors(["a b c d e f g h i j", "", ""], ["a b c d e f g h i j", "v w x y z", "x y"])
    estimate = wer_estimate(found, speakers=["s", "u", "v"], level=0.2)
    ends = ends_by_hand(0.7, [math.nan, 0.2, 0.5], bounds=(0.0, math.inf), level=0.2)
    assert (estimate.value, estimate.n) == (0.7, 3)
    assert (estimate.low, estimate.high) == pytest.approx(ends, rel=1e-9) and estimate.low > 0
    two = wer_estimate(word_errors(["a b", ""], ["a b", "c"]), speakers=["s", "u"])
    assert two.value == 0.5 and math.isnan(two.low) and math.isnan(two.high), "one rate is no spread"


def test_perfect_hearing_has_no_doubt() -> None:
    found = word_errors(["a b", "c"], ["a b", "c"])
    estimate = wer_estimate(found, speakers=["s", "t"])
    assert (estimate.value, estimate.low, estimate.high) == (0, 0, 0)


def test_bad_input_is_one_line() -> None:
    with pytest.raises(MetricError, match="2 references do not fit 1"):
        word_errors(["a", "b"], ["a"])
    with pytest.raises(MetricError, match="at least one utterance"):
        word_errors([], [])
    with pytest.raises(MetricError, match="at least one word"):
        wer(word_errors([""], ["a"]))
    none = np.zeros(2, dtype=np.int64)
    with pytest.raises(MetricError, match="one speaker: 2 utterances, 1 speakers"):
        wer_estimate(WordErrors(none, none, none, none + 1), speakers=["s"])


def test_one_word_that_is_left_without_the_others_is_enough_for_a_rate() -> None:
    found = word_errors(["a", "a b c"], ["b", "a b d"])
    estimate = wer_estimate(found, speakers=["s", "t"], level=0.2)
    ends = ends_by_hand(2 / 4, [1 / 3, 1 / 1], bounds=(0.0, math.inf), level=0.2)
    assert (estimate.low, estimate.high) == pytest.approx(ends, rel=1e-9) and estimate.low > 0
