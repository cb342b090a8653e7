"""The highest scores without a table of all scores: those of a full sort, whatever the blocks and the guess."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from personare.core.vectors import PickedRows, unit_rows
from personare.metrics.privacy import highest_scores as streamed
from personare.metrics.privacy.highest_scores import UnitRows, highest_scores
from personare.metrics.privacy.isolation import COLUMN_BITS, sort_keys

RNG = np.random.default_rng


def voices(rows: int, *, crowd: bool) -> Any:
    """Whole numbers of few values: their products are exact in single precision, and many scores are equal."""
    rng = RNG(rows)
    signs = rng.choice([-1.0, 1.0], (rows, 16)).astype(np.float32)
    return np.repeat(signs[: rows // 8 + 1], 8, axis=0)[:rows] if crowd else signs


@pytest.mark.parametrize("crowd", [False, True])
@pytest.mark.parametrize("many", [1, 30, 700])
@pytest.mark.parametrize(("at_once", "kept"), [(1024, 10**7), (100, 500), (7, 1)])
def test_they_are_those_of_a_full_stable_sort(
    monkeypatch: Any, crowd: bool, many: int, at_once: int, kept: int
) -> None:
    monkeypatch.setattr(streamed, "CONVERSATIONS_AT_ONCE", at_once)
    monkeypatch.setattr(streamed, "KEPT_AT_ONCE", kept)
    gallery, predicates = voices(1501, crowd=crowd), unit_rows(voices(5, crowd=False), dtype=np.float32)
    found = highest_scores(predicates, UnitRows(gallery), many)
    scores = predicates @ unit_rows(gallery, dtype=np.float32).T
    expected = np.argsort(-scores, axis=1, kind="stable")[:, :many]
    assert (found.columns == expected).all()
    assert (found.scores == np.take_along_axis(scores, expected, axis=1)).all()


def test_a_guess_that_is_far_too_high_costs_time_only(monkeypatch: Any) -> None:
    """Every 64th conversation is the predicate itself: the bound guessed from those is reached by nobody else."""
    monkeypatch.setattr(streamed, "CONVERSATIONS_AT_ONCE", 256)
    rng = RNG(1)
    table = rng.standard_normal((6400, 8)).astype(np.float32)
    table[::64] = table[0]
    passes: list[int] = []
    above = streamed._above

    def counted(predicates: Any, *rest: Any) -> Any:
        passes.append(len(predicates))
        return above(predicates, *rest)

    monkeypatch.setattr(streamed, "_above", counted)
    predicates = unit_rows(np.stack([table[0], table[1]]), dtype=np.float32)
    found = highest_scores(predicates, UnitRows(PickedRows(table, np.arange(6400))), 900)
    assert passes == [2, 1], "only the first predicate is compared again"
    exact = unit_rows(predicates) @ unit_rows(table).T
    for row in range(2):
        assert set(found.columns[row]) == set(np.argsort(-exact[row], kind="stable")[:900])


def test_sort_keys_sort_as_the_scores_fall() -> None:
    rng = RNG(2)
    some = np.array([0.0, -0.0, 1.0, -1.0, 1e-45, -1e-45, np.inf, -np.inf], dtype=np.float32)
    for scores in (rng.standard_normal(500).astype(np.float32), rng.integers(-3, 3, 500).astype(np.float32), some):
        order = np.sort(sort_keys(scores, np.arange(len(scores)))) & COLUMN_BITS
        assert order.tolist() == np.argsort(-scores, kind="stable").tolist()


@pytest.mark.filterwarnings("error")
def test_a_voice_of_zeros_is_no_division_by_zero() -> None:
    """Somebody's silence: its cosine with everybody is 0, and nobody is told of a warning."""
    voices = np.array([[0, 0], [3, 4]], dtype=np.float32)
    assert UnitRows(voices)[:].tolist() == [[0, 0], [np.float32(0.6), np.float32(0.8)]]


@pytest.mark.parametrize("length", [1e-30, 1e30])
def test_one_very_long_or_short_row_among_usual_ones_keeps_its_direction(length: float) -> None:
    rows = RNG(4).normal(size=(5, 8)).astype(np.float32)
    rows[3] *= np.float32(length)
    expected = rows.astype(np.float64) / np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    assert UnitRows(rows)[:] == pytest.approx(expected, abs=1e-6)
