"""Progress within one sound: told in order, all of it in the end, never more, and nothing computed depends on it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.core.progress import advance, part, watched


def test_nobody_has_to_watch() -> None:
    advance(1.0)
    with part(0.5):
        advance(1.0)


@given(st.lists(st.floats(0, 100), max_size=20), st.floats(0.1, 100))
def test_all_is_told_in_the_end_and_never_more(steps: list[float], total_s: float) -> None:
    told: list[float] = []
    with watched(told.append, total_s=total_s):
        for step in steps:
            advance(step)
            assert sum(told) <= total_s * (1 + 1e-9)
    assert sum(told) == pytest.approx(total_s) and all(step > 0 for step in told)


def test_parts_of_parts_are_multiplied_and_what_watched_before_watches_again() -> None:
    outer: list[float] = []
    inner: list[float] = []
    with watched(outer.append, total_s=10.0):
        with part(0.5), part(0.5):
            advance(10.0)
        with watched(inner.append, total_s=3.0):
            advance(1.0)
        advance(1.0)
    assert outer == [2.5, 1.0, 6.5] and inner == [1.0, 2.0]


def test_a_failure_tells_of_nothing_more() -> None:
    told: list[float] = []
    with pytest.raises(ValueError, match="broken"), watched(told.append, total_s=4.0):
        advance(1.0)
        raise ValueError("broken")
    advance(1.0)
    assert told == [1.0]
