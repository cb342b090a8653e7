"""Vector arithmetic: plain numpy references, precision at the ends of the range, the one enrolment rule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.core import vectors as arithmetic
from personare.core.vectors import angles, cosine, pairwise_cosine, run_means, speaker_means, unit_rows


def some(seed: int, n: int, d: int = 7) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d)) * np.exp(np.random.default_rng(seed + 1).normal(size=(n, 1)))


@given(st.integers(0, 10**6), st.integers(1, 1300), st.sampled_from([np.float16, np.float32, np.float64]))
def test_unit_rows_are_numpys_in_any_block(seed: int, n: int, dtype: type[np.floating]) -> None:
    given_rows = some(seed, n).astype(dtype)
    wide = given_rows.astype(np.float64)
    np.testing.assert_allclose(unit_rows(given_rows), wide / np.linalg.norm(wide, axis=1)[:, None], rtol=1e-14)
    assert unit_rows(given_rows).dtype == np.float64
    assert unit_rows(given_rows, dtype=np.float32).dtype == np.float32


def test_the_ends_of_the_range_keep_their_direction_and_zeros_stay() -> None:
    rows = [[3e200, 4e200], [3e-200, 4e-200], [0.0, 0.0], [-5.0, 0.0]]
    expected = [[0.6, 0.8], [0.6, 0.8], [0.0, 0.0], [-1.0, 0.0]]
    np.testing.assert_allclose(unit_rows(rows), expected, rtol=1e-15)
    small = np.array([[3e-30, 4e-30], [3e30, 4e30]], dtype=np.float32)
    np.testing.assert_allclose(unit_rows(small), [[0.6, 0.8]] * 2, rtol=1e-6)
    assert unit_rows([[3, 4]]).tolist() == [[0.6, 0.8]], "whole numbers and lists are taken"
    assert np.isnan(unit_rows([[np.nan, 1.0]])).any(), "what is no number is not hidden"
    assert unit_rows(np.zeros((0, 4))).shape == (0, 4)


def test_cosine_is_the_textbooks_and_never_leaves_its_range() -> None:
    x, y = some(1, 30), some(2, 20)
    expected = [[a @ b / np.sqrt((a @ a) * (b @ b)) for b in y] for a in x]
    np.testing.assert_allclose(cosine(x, y), expected, atol=1e-14)
    assert cosine(x, y, dtype=np.float32).dtype == np.float32
    for dtype in (np.float32, np.float64):
        same = cosine(x, np.concatenate([x, -x]), dtype=dtype)
        assert same.max() <= 1.0 and same.min() >= -1.0
    assert cosine(np.zeros((1, 7)), y).tolist() == [[0.0] * 20]


def test_pairs_and_angles() -> None:
    x = some(3, 6)
    every = cosine(x, x)
    assert pairwise_cosine(x).tolist() == [every[i, j] for i in range(6) for j in range(i + 1, 6)]
    np.testing.assert_allclose(np.cos(np.pi * angles(x, x)), every, atol=1e-12)
    assert angles([[1.0, 0.0]], [[7.0, 0.0], [0.0, 2.0], [-3.0, 0.0]]).tolist() == [[0.0, 0.5, 1.0]]


@given(st.integers(0, 10**6), st.integers(1, 40), st.booleans())
def test_speaker_means_are_a_plain_loop_in_any_order_and_block(seed: int, people: int, unit_first: bool) -> None:
    rng = np.random.default_rng(seed)
    owner = rng.permutation(np.repeat(np.arange(people), rng.integers(1, 60, people)))
    table = some(seed, len(owner)).astype(np.float32)
    means = speaker_means(table, owner, unit_first=unit_first)
    rows = unit_rows(table) if unit_first else table.astype(np.float64)
    assert means.speakers.tolist() == list(range(people)) and means.vectors.dtype == np.float32
    expected = [rows[owner == who].mean(axis=0) for who in range(people)]
    np.testing.assert_allclose(means.vectors, expected, rtol=2e-6, atol=1e-7)


def test_the_enrolment_rule_is_the_mean_of_unit_vectors() -> None:
    loud = [[1.0, 0.0], [0.0, 9.0], [0.0, 0.0]]
    assert speaker_means(loud[:2], ["a", "a"]).vectors.tolist() == [[0.5, 0.5]]
    assert speaker_means(loud[:2], ["a", "a"], unit_first=False).vectors.tolist() == [[0.5, 4.5]]
    with_silence = speaker_means(loud, ["a", "a", "a"]).vectors
    np.testing.assert_allclose(with_silence, [[1 / 3, 1 / 3]], rtol=1e-7)


@pytest.mark.parametrize("at_once", [1, 3, 512])
def test_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    table, rows, counts = some(5, 12), np.arange(12)[::-1], np.array([1, 5, 2, 4])
    monkeypatch.setattr(arithmetic, "ROWS_AT_ONCE", at_once)
    unit = table / np.linalg.norm(table, axis=1)[:, None]
    expected = [unit[rows[a:b]].mean(axis=0) for a, b in ((0, 1), (1, 6), (6, 8), (8, 12))]
    np.testing.assert_allclose(run_means(table, rows, counts), expected, atol=1e-7)
