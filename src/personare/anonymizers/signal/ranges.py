"""Parameters that are either one number or a range to draw from, and the ways to draw."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import ConfigError

if TYPE_CHECKING:
    from numpy.random import Generator

Range = float | tuple[float, float]


def draw(value: Range, *, rng: Generator) -> float:
    """Give the number itself, or draw uniformly between low and high.

    >>> draw(0.8, rng=np.random.default_rng(1))
    0.8
    >>> 0.5 <= draw((0.5, 0.9), rng=np.random.default_rng(1)) <= 0.9
    True
    """
    if isinstance(value, tuple):
        return float(rng.uniform(*value))
    return float(value)


def draw_octaves(value: Range, *, rng: Generator) -> float:
    """Give the frequency itself, or draw uniformly on the scale of octaves between low and high."""
    if isinstance(value, tuple):
        return float(np.exp2(rng.uniform(*np.log2(value))))
    return value


def check_range(value: Range, *, name: str, low: float, high: float) -> None:
    """Refuse a number or range that leaves [low, high] or runs backwards."""
    ends = value if isinstance(value, tuple) else (value, value)
    if not all(math.isfinite(end) and low <= end <= high for end in ends):
        raise ConfigError(f"{name} must lie between {low:g} and {high:g}, not {value}")
    if ends[0] > ends[1]:
        raise ConfigError(f"{name} must be a range from low to high, not {list(ends)}")
