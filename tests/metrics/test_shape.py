"""Contours without tempo: closed forms, properties, degenerate cases, and pairs for the zero line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from personare.core.errors import MetricError
from personare.metrics.utility.recall import class_recall_estimate, uar
from personare.metrics.utility.shape import (
    contour_points,
    same_words_pairs,
    shape_correlation,
    shape_correlations,
)

numbers = st.floats(-100, 100, allow_nan=False, width=32)
lists = st.lists(numbers, min_size=3, max_size=20)


def test_a_line_stays_a_line_and_a_stretched_one_has_the_same_points() -> None:
    line = np.linspace(0.0, 1.0, 1000)
    points = contour_points(line, np.ones(1000, bool), points=4)
    np.testing.assert_allclose(points, [0.125, 0.375, 0.625, 0.875], atol=1e-3)
    slow = np.repeat(line, 3)
    np.testing.assert_allclose(contour_points(slow, np.ones(3000, bool), points=4), points, atol=1e-9)


def test_pauses_and_unvoiced_stretches_change_no_shape() -> None:
    track, speech = np.sin(np.linspace(0, 6, 400)), np.ones(400, bool)
    plain = contour_points(track, speech)
    with_pause = np.concatenate([track[:200], np.full(150, np.nan), track[200:]])
    spoken = np.concatenate([speech[:200], np.zeros(150, bool), speech[200:]])
    np.testing.assert_allclose(contour_points(with_pause, spoken), plain, atol=1e-12)
    gaps = track.copy()
    gaps[50:60] = np.nan
    assert shape_correlation(contour_points(gaps, speech), plain) > 0.99


def test_points_are_means_over_fractions_of_frames() -> None:
    np.testing.assert_allclose(contour_points([0.0, 3.0, 6.0], [True] * 3, points=2), [1.0, 5.0])


@pytest.mark.parametrize(
    ("values", "speech"), [([1.0, 2.0], [True]), ([np.nan, 1.0], [True, True]), ([1.0, 2.0], [False, False]), ([], [])]
)
def test_contours_that_cannot_be_are_refused(values: list[float], speech: list[bool]) -> None:
    with pytest.raises(MetricError):
        contour_points(values, speech)


@given(st.lists(st.tuples(numbers, numbers), min_size=3, max_size=20))
def test_it_is_spearman(pairs: list[tuple[float, float]]) -> None:
    a, b = (np.array(side) for side in zip(*pairs, strict=True))
    found = shape_correlation(a, b)
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(spearmanr(a, b).statistic, abs=1e-9)


@given(lists)
def test_rising_transformations_change_nothing(values: list[float]) -> None:
    a = np.array(values)
    if np.ptp(a) > 0:
        assert shape_correlation(a, np.arctan(a / 50)) >= 1 - 1e-9 or len(np.unique(np.arctan(a / 50))) < len(
            np.unique(a)
        )
        assert shape_correlation(a, -a) == pytest.approx(-1.0)


def test_rows_are_correlated_one_by_one() -> None:
    a = np.array([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]])
    found = shape_correlations(a, a)
    assert found[0] == 1.0 and np.isnan(found[1])
    with pytest.raises(MetricError, match="equally long"):
        shape_correlation([1, 2, 3], [1, 2])


def test_pairs_are_of_other_speakers_where_there_are_any() -> None:
    one, other = same_words_pairs(["a b", "A, b!", "a b", "c", ""], ["p", "p", "q", "p", "q"])
    assert sorted(zip(one.tolist(), other.tolist(), strict=True)) == [(0, 2), (1, 2), (2, 0), (2, 1)]
    one, other = same_words_pairs(["a", "a"], ["p", "p"])
    assert sorted(zip(one.tolist(), other.tolist(), strict=True)) == [(0, 1), (1, 0)]
    assert not len(same_words_pairs(["a", "b"], ["p", "q"])[0])
    with pytest.raises(MetricError, match="each text needs one speaker"):
        same_words_pairs(["a"], [])


@given(st.lists(st.sampled_from("abc"), max_size=60), st.integers(1, 8))
def test_no_utterance_is_paired_with_itself_and_none_too_often(words: list[str], most: int) -> None:
    speakers = [str(place % 5) for place in range(len(words))]
    one, other = same_words_pairs(words, speakers, most=most)
    assert (one != other).all() and all(words[i] == words[j] for i, j in zip(one, other, strict=True))
    if len(one):
        assert np.bincount(one).max() <= most


def test_the_recall_of_classes_averages_to_uar() -> None:
    truth, heard, speakers = list("aaabbbccab"), list("abababcbab"), [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]
    each = [class_recall_estimate(truth, heard, of=name, speakers=speakers).value for name in "abc"]
    assert np.mean(each) == pytest.approx(uar(truth, heard))
    sure = class_recall_estimate(["a", "a"], ["a", "a"], of="a", speakers=[1, 2])
    assert sure.value == 1.0 and sure.n == 2
    with pytest.raises(MetricError, match="no utterance is truly of the class 'd'; classes: a, b, c"):
        class_recall_estimate(truth, heard, of="d", speakers=speakers)
