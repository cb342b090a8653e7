"""Axes: from a value to its place between two ends, on linear, logarithmic and normal (DET) scales, and round ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

from personare.reports.drawing.lettering import text_width

Tick = tuple[float, str]
Scale = Literal["linear", "log", "probit"]
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_MOST_TICKS, _FEWEST_POWERS = 9, 3
_LINE_PT, _WORD_PT, _GAP_PT = 22.0, 9.0, 3.0  # between labels below each other, beside each other, and at the least
_NARROW = 1e-9  # of the values themselves: a range as narrow as this is one value


@dataclass(frozen=True)
class Axis:
    """One axis of a panel; ``low`` may be above ``high``, as for rows that are read from the top.

    Parameters
    ----------
    ticks : values and their labels; None chooses round values where the length is known.
    size : of the tick labels, in points; tick_pt : length of the tick marks; grid : whether lines cross the panel.
    """

    low: float
    high: float
    label: str = ""
    scale: Scale = "linear"
    ticks: tuple[Tick, ...] | None = None
    grid: bool = True
    size: float = 10.0
    tick_pt: float = 3.5

    def place(self, value: float) -> float:
        """Give the place of a value: 0 at ``low``, 1 at ``high``, NaN where it has none."""
        low, high, at = (_scaled(v, self.scale) for v in (self.low, self.high, value))
        return (at - low) / (high - low)

    def ticks_over(self, length: float, *, across: bool = False) -> list[Tick]:
        """Give the ticks for an axis that is ``length`` points long; ``across``, labels stand beside each other.

        Round values are as many as labels have space; of given ones, those whose label has none keep only the mark.
        """
        if self.ticks is not None or self.scale == "log":
            ticks = log_ticks(self.low, self.high, most=int(length // _LINE_PT)) if self.ticks is None else self.ticks
            return self._thinned(ticks, length, _GAP_PT) if across else list(ticks)
        ends = sorted((self.low, self.high))
        most = min(_MOST_TICKS, max(2, int(length // _LINE_PT)))
        if not across:
            return linear_ticks(*ends, most=most)
        fewer = (linear_ticks(*ends, most=count) for count in range(most, 0, -1))
        return next((ticks for ticks in fewer if all(label for _, label in self._thinned(ticks, length, _WORD_PT))), [])

    def _thinned(self, ticks: Sequence[Tick], length: float, apart: float) -> list[Tick]:
        kept: list[Tick] = []
        last_end = -math.inf
        for value, label in sorted(ticks, key=lambda tick: self.place(tick[0])):
            half = text_width(label, self.size) / 2
            at = length * self.place(value)
            free = at - half >= last_end + apart
            kept.append((value, label if free else ""))
            last_end = at + half if free and label else last_end
        return kept


def _scaled(value: float, scale: Scale) -> float:
    if scale == "linear":
        return value if math.isfinite(value) else math.nan
    if scale == "log":
        return math.log10(value) if 0 < value < math.inf else math.nan
    return NormalDist().inv_cdf(value) if 0 < value < 1 else math.nan


def linear_ticks(low: float, high: float, *, most: int) -> list[Tick]:
    """Choose at most about ``most`` round values between two ends.

    >>> linear_ticks(0, 1, most=5)
    [(0.0, '0.0'), (0.2, '0.2'), (0.4, '0.4'), (0.6, '0.6'), (0.8, '0.8'), (1.0, '1.0')]
    >>> linear_ticks(-2, 102, most=6)
    [(0.0, '0'), (20.0, '20'), (40.0, '40'), (60.0, '60'), (80.0, '80'), (100.0, '100')]
    """
    least = (high - low) / max(1, most)
    power = math.floor(math.log10(least))
    step, digits = next(
        (factor * 10.0**power, max(0, -power + (factor == 2.5) - (factor == 10.0)))
        for factor in _STEPS
        if factor * 10.0**power >= least * (1 - 1e-9)
    )
    counts = range(math.ceil(low / step - 1e-6), math.floor(high / step + 1e-6) + 1)
    values = [round(count * step, digits + 2) for count in counts]
    if max(abs(low), abs(high)) >= 1e7 or digits > 5:
        return [(value, f"{value:.6g}") for value in values]
    return [(value, f"{value + 0.0:,.{digits}f}") for value in values]


def log_ticks(low: float, high: float, *, most: int) -> list[Tick]:
    """Choose powers of ten between two ends, over a short range also 2 and 5 times those, over a long one fewer.

    >>> log_ticks(1, 10_000, most=20)
    [(1.0, '1'), (10.0, '10'), (100.0, '100'), (1000.0, '1,000'), (10000.0, '10 k')]
    >>> [label for _, label in log_ticks(0.3, 6, most=20)]
    ['0.5', '1', '2', '5']
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    every = max(1, math.ceil((last - first + 1) / max(2, most)))
    powers = [power for power in range(first, last + 1) if power % every == 0]
    for factors in ((1,), (1, 2, 5)):
        values = [float(f"{factor}e{power}") for power in powers for factor in factors]
        inside = [value for value in values if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
        if len(inside) >= _FEWEST_POWERS:
            return [(value, short_number(value)) for value in inside]
    return linear_ticks(low, high, most=5)  # so short a range is all but linear


def short_number(value: float) -> str:
    """Write a count in few letters.

    >>> [short_number(v) for v in (0.05, 2, 1000, 10_000, 5e6)]
    ['0.05', '2', '1,000', '10 k', '5 M']
    """
    for size, word in ((1e9, " G"), (1e6, " M"), (1e4, " k")):
        if value >= size:
            return f"{value / (1e3 if word == ' k' else size):,.0f}{word}"
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def limits(
    values: Iterable[float], *, margin: float = 0.05, low: float | None = None, high: float | None = None
) -> tuple[float, float]:
    """Give the ends of an axis around values, with a margin; ``low`` or ``high`` where an end is known.

    What is not finite is left out; without any value, and where all are equal, there is some space around them.

    >>> limits([0.0, 10.0, float("nan")])
    (-0.5, 10.5)
    >>> limits([3.0, 3.0], margin=0.1)
    (2.4, 3.6)
    """
    finite = [value for value in values if math.isfinite(value)] or [v for v in (low, high) if v is not None] or [0.5]
    bottom = min(finite) if low is None else low
    top = max(finite) if high is None else high
    if top - bottom <= _NARROW * max(abs(top), abs(bottom)):
        around = 0.5 if abs(top) <= 1 else abs(top) / 5
        bottom, top = (bottom - around if low is None else low), (top + around if high is None else high)
        if top <= bottom:
            top = bottom + 2 * around
        return bottom, top
    room = margin * (top - bottom)
    return (bottom - room if low is None else low), (top + room if high is None else high)


def rows_axis(labels: Sequence[str], *, places: Sequence[float] | None = None, size: float = 9.0) -> Axis:
    """Give an upright axis with one label a row, read from the top; ``places`` where rows between have no label."""
    at = range(len(labels)) if places is None else places
    last = max([*at, 0])
    return Axis(
        last + 0.6, -0.6, ticks=tuple(zip(map(float, at), labels, strict=True)), grid=False, size=size, tick_pt=0
    )
