"""The interval of ``metrics.intervals`` written out anew, by Tukey's pseudo-values, and metrics without one speaker.

With u the metric of everybody and u_i that of everybody but speaker i, on a scale without bounds, the pseudo-values are
n u - (n - 1) u_i. Their spread over speakers gives the standard error, their mean is u less the bias of 1/n; the
interval spans u and u less three halves of that bias (or as many as are asked for), by Student's t on either side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

Picked = NDArray[np.intp]
Ends = tuple[float, float]
FREE: Ends = (-math.inf, math.inf)


def ends_by_hand(
    whole: float, without: Iterable[float], *, bounds: Ends = FREE, level: float, biases: float = 1.5
) -> Ends:
    """Give both ends from the metric of everybody and without each speaker; NaN are speakers it does not exist without.

    Where the same interval on the metric's own scale reaches one of its bounds, that bound is the end.
    """
    rest = np.array([u for u in without if not math.isnan(u)])
    to, back = _scale(*bounds)
    plain = _spanned(whole, rest, level, biases)
    ends = sorted(float(back(end)) for end in _spanned(float(to(whole)), np.asarray(to(rest)), level, biases))
    return (
        bounds[0] if plain[0] <= bounds[0] else ends[0],
        bounds[1] if plain[1] >= bounds[1] else ends[1],
    )


def without_each(who: Any, plain: Callable[[Picked], float], *, also: Any = None) -> list[float]:
    """Compute the metric of the items that are left without each speaker; ``also`` names a second person of items."""
    names = np.asarray(who)
    second = names if also is None else np.asarray(also)
    people = np.unique(np.append(names, second))
    return [plain(np.flatnonzero((names != one) & (second != one))) for one in people]


def _spanned(whole: float, rest: NDArray[np.float64], level: float, biases: float) -> Ends:
    n = len(rest)
    pseudo = n * whole - (n - 1) * rest
    corrected = whole + biases * (pseudo.mean() - whole)
    reach = stats.t.ppf((1 + level) / 2, n - 1) * stats.sem(pseudo)
    return min(whole, corrected) - reach, max(whole, corrected) + reach


def _scale(low: float, high: float) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Log odds between two bounds, logarithms of the distance from one, else the numbers themselves."""
    if math.isfinite(low) and math.isfinite(high):
        width = high - low
        return lambda x: special.logit((x - low) / width), lambda x: low + width * special.expit(x)
    if math.isfinite(low):
        return lambda x: np.log(x - low), lambda x: low + np.exp(x)
    if math.isfinite(high):
        return lambda x: np.log(high - x), lambda x: high - np.exp(x)
    return lambda x: x, lambda x: x
