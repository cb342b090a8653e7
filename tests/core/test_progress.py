"""Progress within one sound: told in order, all of it in the end, never more, and nothing computed depends on it."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.core.progress import WorkProgress, advance, part, watched


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


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_one_long_recording_among_short_ones_counts_by_its_length() -> None:
    clock = Clock()
    work = WorkProgress({**{f"short{n}": 1.0 for n in range(9)}, "long": 91.0}, clock=clock)
    assert (work.done, work.total, work.share, work.left_s) == (0, 10, 0.0, None)
    for n in range(9):
        clock.now += 1.0
        work.end(f"short{n}")
    assert work.done == 9 and work.share == pytest.approx(0.09) and work.left_s == pytest.approx(91.0)
    for tenth in range(1, 10):
        clock.now += 9.1
        work.step("long", 0.1)
        assert work.done == 9 and work.share == pytest.approx(0.09 + 0.091 * tenth)
        assert work.left_s == pytest.approx(9.1 * (10 - tenth))
    work.end("long")
    assert (work.done, work.share, work.left_s) == (10, 1.0, 0.0)


def test_two_workers_cannot_share_one_recording() -> None:
    clock = Clock()
    work = WorkProgress({"a": 10.0, "b": 10.0, "long": 100.0}, workers=2, clock=clock)
    for name in ("a", "b"):
        work.step(name, 0.2)
    clock.now = 8.0
    work.end("a")
    work.end("b")  # two seconds of sound a second by both, one by each
    assert work.left_s == pytest.approx(100.0, rel=0.2)


def test_what_an_earlier_run_had_done_says_nothing_of_speed() -> None:
    clock = Clock()
    work = WorkProgress({f"u{n}": 1.0 for n in range(10)}, clock=clock)
    for n in range(5):
        work.end(f"u{n}", kept=True)
    assert work.share == 0.5 and work.left_s is None
    clock.now = 2.0
    work.end("u5")
    assert work.left_s is None
    clock.now = 4.0
    work.end("u6")
    assert work.left_s == pytest.approx(6.0)


def test_the_time_before_the_first_work_says_nothing_of_speed() -> None:
    """Three minutes of work after 25 s of start-up; the first word was once taken for 16 hours."""
    clock = Clock()
    work = WorkProgress({f"u{n}": 10.0 for n in range(180)}, clock=clock)
    clock.now = 25.0  # processes begin, models are loaded
    work.step("u0", 0.01)
    estimates = [work.left_s]
    for n in range(180):
        work.end(f"u{n}")
        clock.now += 1.0
        estimates.append(work.left_s)
    assert estimates[:2] == [None, None], "one word tells no speed"
    assert estimates[2:] == [pytest.approx(left, rel=0.5) for left in range(178, -1, -1)]


def test_no_estimate_is_made_of_a_moment() -> None:
    clock = Clock()
    work = WorkProgress({"a": 1.0, "b": 1.0, "c": 1e6}, clock=clock)
    work.end("a")
    clock.now += 0.001
    work.end("b")
    assert work.left_s is None
    clock.now += 10.0
    assert work.left_s == pytest.approx(1e7, rel=1e-3)


def test_recordings_of_unknown_length_are_of_mean_length() -> None:
    clock = Clock()
    work = WorkProgress({"a": 1.0, "b": 3.0}, total=4, clock=clock)
    work.step("c", 0.5)
    clock.now = 2.0
    work.step("c", 2.0)  # never more than all of it
    assert work.share == pytest.approx(2 / 8)
    work.end("c")
    assert work.share == pytest.approx(2 / 8) and work.left_s == pytest.approx(12.0)
    assert WorkProgress({}, total=2, clock=clock).share == 0.0
    assert WorkProgress({}, clock=clock).share == 1.0


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1e4), max_size=12), st.integers(1, 4), st.data())
def test_progress_never_goes_back_and_ends_at_all_of_it(
    lengths: dict[str, float], workers: int, data: st.DataObject
) -> None:
    clock = Clock()
    work = WorkProgress(lengths, workers=workers, clock=clock)
    shares = [work.share]
    for name in data.draw(st.permutations(sorted(lengths))):
        for step in data.draw(st.lists(st.floats(0, 1), max_size=3)):
            clock.now += 1.0
            work.step(name, step)
            shares.append(work.share)
            assert work.left_s is None or work.left_s >= 0
        work.end(name, kept=data.draw(st.booleans()))
        shares.append(work.share)
    assert all(after >= before - 1e-9 for before, after in itertools.pairwise(shares))
    assert shares[-1] == 1.0 and work.left_s == 0.0
