"""Axes: round ticks inside the ends, evenly apart, whatever the values; nothing is lost to one value or to NaN."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.reports.drawing.axes import Axis, Scale, limits, linear_ticks, log_ticks, rows_axis
from personare.reports.drawing.lettering import ROOM, block_width, text_width, wrapped

VALUES = st.floats(-1e9, 1e9)
ANY = st.floats(allow_nan=True, allow_infinity=True)


@given(VALUES, st.floats(1e-6, 1e9), st.integers(1, 12))
def test_ticks_are_round_inside_and_evenly_apart(low: float, span: float, most: int) -> None:
    low, high = limits([low, low + span], margin=0.0)
    ticks = [value for value, _ in linear_ticks(low, high, most=most)]
    assert len(ticks) <= most + 1
    slack = 1e-5 * (high - low)
    assert all(low - slack <= tick <= high + slack for tick in ticks)
    steps = [b - a for a, b in itertools.pairwise(ticks)]
    if steps:
        assert max(steps) - min(steps) <= 1e-3 * max(steps)
        mantissa = max(steps) / 10 ** math.floor(math.log10(max(steps) * 1.001))
        assert min(abs(mantissa - nice) for nice in (1, 2, 2.5, 5)) < 0.01
    if most >= 5:
        assert len(ticks) >= 2, "a range has at least two ticks"


@given(VALUES, st.floats(1e-3, 1e6), st.integers(3, 12))
def test_labels_tell_ticks_apart(low: float, span: float, most: int) -> None:
    if span < 1e-4 * abs(low):
        return  # six digits cannot tell them apart, and no figure of ours is so narrow
    labels = [label for _, label in linear_ticks(low, low + span, most=most)]
    assert len(set(labels)) == len(labels)


@given(st.floats(1e-9, 1e12), st.floats(1.01, 1e12), st.integers(1, 20))
def test_logarithmic_ticks_lie_inside(low: float, ratio: float, most: int) -> None:
    ticks = log_ticks(low, low * ratio, most=most)
    assert all(low * 0.999 <= value <= low * ratio * 1.001 for value, _ in ticks)
    assert len(ticks) <= 3 * max(most, 2) + 6


@given(st.lists(ANY, max_size=6), st.floats(0, 0.3))
def test_limits_hold_every_finite_value(values: list[float], margin: float) -> None:
    small = [v for v in values if not (math.isfinite(v) and abs(v) > 1e100)]
    low, high = limits(small, margin=margin)
    assert math.isfinite(low) and math.isfinite(high) and low < high
    assert all(low <= v <= high for v in small if math.isfinite(v))


@pytest.mark.parametrize(("known", "expected"), [(0.0, 0.0), (5.0, 5.0)])
def test_a_known_end_stays(known: float, expected: float) -> None:
    assert limits([5.0, 5.0], low=known)[0] == expected < limits([5.0, 5.0], low=known)[1]
    assert limits([], low=known)[0] == expected < limits([], low=known)[1]


@given(st.sampled_from(["linear", "log", "probit"]), st.floats(0.001, 0.999), st.floats(0.001, 0.999))
def test_places_keep_the_order_of_values(scale: Scale, a: float, b: float) -> None:
    axis = Axis(0.0005, 0.9995, scale=scale)
    low, high = sorted((a, b))
    assert 0 < axis.place(low) <= axis.place(high) < 1
    assert low * 1.001 > high or axis.place(low) < axis.place(high)


def test_what_an_axis_has_no_place_for_is_nan() -> None:
    assert all(math.isnan(Axis(1, 10, scale="log").place(v)) for v in (0.0, -1.0, math.nan, math.inf))
    assert all(math.isnan(Axis(0.1, 0.9, scale="probit").place(v)) for v in (0.0, 1.0, 2.0))
    assert math.isnan(Axis(0, 1).place(math.inf))


def test_det_axes_are_normal_deviates() -> None:
    axis = Axis(0.01, 0.99, scale="probit")
    assert axis.place(0.5) == pytest.approx(0.5) and axis.place(0.1) + axis.place(0.9) == pytest.approx(1)


@given(st.floats(20, 500), st.floats(0.01, 1e6))
def test_labels_across_do_not_touch(length: float, high: float) -> None:
    axis = Axis(0, high)
    labelled = [
        (axis.place(value) * length, text_width(label, 10)) for value, label in axis.ticks_over(length, across=True)
    ]
    for (a, wide), (b, other) in itertools.pairwise(labelled):
        assert a + wide / 2 < b - other / 2


def test_a_given_tick_without_space_keeps_its_mark() -> None:
    axis = Axis(1, 1e6, scale="log", ticks=tuple((float(n), f"{n:,}") for n in (100, 110, 120, 1_000_000)))
    labels = [label for _, label in axis.ticks_over(200, across=True)]
    assert labels == ["100", "", "", "1,000,000"]


def test_rows_are_read_from_the_top() -> None:
    axis = rows_axis(["first", "second", "third"])
    places = [axis.place(value) for value, _ in axis.ticks or ()]
    assert places == sorted(places, reverse=True) and 0 < places[-1] < places[0] < 1


@given(st.text(max_size=80), st.floats(30, 200))
def test_wrapping_keeps_every_letter_and_the_width(text: str, most: float) -> None:
    lines = wrapped(text, 9, most).split("\n")
    assert all(block_width(line, 9) <= most or len(line) == 1 for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "").replace("\n", "")


def test_widths_are_those_of_helvetica() -> None:
    """Three strings by hand from Adobe's font metrics; other letters are as wide as their plain ones, or full."""
    assert text_width("EER", 1000) == 667 + 667 + 722 and text_width("i%", 1000) == 222 + 889
    assert text_width("é", 1000) == text_width("e", 1000) and text_width("語", 1000) == 1000
    assert block_width("a\nmm", 10) == pytest.approx(ROOM * text_width("mm", 10))
