"""How likely a random other speaker is to sound closer than the right one: bell curves fitted to measured ranks.

A test whose score a random nontarget reaches with probability p is beaten by b ~ Binomial(n-1, p) of n-1, and
is linked among N people with probability (1-p)^(N-1). Tests differ: z = Q^-1(p), the distance of the speaker's score
from the nontargets' in their own standard deviations (Q the Gaussian tail), follows a bell curve (the binormal model of
detection theory) or a skewed one. Both are fitted to the counts b by maximum likelihood and mixed by Akaike's weights.
Only the end of the curve decides about large populations: all tests beaten by a tenth of the nontargets or more form
one class. Guessing is the curve with mean 0 and spread 1: p is uniform and linkability 1/N, exactly.
Deviations: not of any paper; ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

GRID = np.linspace(-6.0, 11.0, 511)  # cell edges of z; Q(11) = 2e-28, far below one in 10^9 people
FINE = np.linspace(-6.0, 11.0, 4081)
MEANS, SPREADS, SKEWS = (-4.0, 9.0), (0.05, 5.0), (-6.0, 6.0)
EXACT_BINS = 32
BIN_GROWTH = 1.25
TAIL = 0.1


@dataclass(frozen=True)
class BellCurve:
    """A bell curve of z, skewed to the right where ``skew`` > 0 (the skew-normal law of Azzalini)."""

    mean: float
    spread: float
    skew: float = 0.0

    def cells(self, edges: Floats) -> Floats:
        """Give the probability of each cell between ``edges``; the tails belong to the outermost cells."""
        from scipy import special

        x = (edges - self.mean) / self.spread
        below = special.ndtr(x)
        if self.skew:
            below = below - 2 * special.owens_t(x, self.skew)
        below[0], below[-1] = 0.0, 1.0
        shares: Floats = np.maximum(np.diff(below), 0.0)
        return shares

    def linkability(self, people: float) -> float:
        """Give E[(1-p)^(N-1)] for a population of N people, e.g. 10^9.

        >>> round(BellCurve(0.0, 1.0).linkability(1000) * 1000, 2)
        1.0
        """
        from scipy import special

        middle = (FINE[1:] + FINE[:-1]) / 2
        return float(self.cells(FINE) @ np.exp((people - 1) * np.log1p(-special.ndtr(-middle))))


@dataclass(frozen=True)
class Exceedance:
    """Both fitted curves and the weight of the skewed one."""

    bell: BellCurve
    skewed: BellCurve
    weight: float

    def linkability(self, people: float) -> float:
        """Give the weighted mean of both curves' linkability among ``people``."""
        return (1 - self.weight) * self.bell.linkability(people) + self.weight * self.skewed.linkability(people)


@dataclass(frozen=True, eq=False)
class CountBins:
    """Bins of b: lower ``edges`` [k], and the probability of each bin in each cell of the grid of z [k, cells]."""

    edges: NDArray[np.int64]
    probability: Floats

    @classmethod
    def of(cls, enrolled: int) -> CountBins:
        """Make bins for counts out of ``enrolled`` - 1 nontargets: one per count to 32, then growing; the last is open.

        >>> CountBins.of(40).edges
        array([0, 1, 2, 3, 4])
        """
        from scipy import special

        last = min(enrolled - 1, max(3, math.ceil(TAIL * enrolled)))
        edges = list(range(min(EXACT_BINS, last) + 1))
        while edges[-1] < last:
            edges.append(min(last, math.ceil(edges[-1] * BIN_GROWTH)))
        p = special.ndtr(-(GRID[1:] + GRID[:-1]) / 2)
        below = [np.zeros_like(p), *(special.bdtr(edge - 1, enrolled - 1, p) for edge in edges[1:]), np.ones_like(p)]
        return cls(np.array(edges), np.maximum(np.diff(np.stack(below), axis=0), 0.0))

    def place(self, above: NDArray[np.int64]) -> NDArray[np.intp]:
        """Tell the bin of each count."""
        return np.searchsorted(self.edges, above, side="right") - 1


def fit_exceedance(bins: CountBins, counts: Floats, *, start: Exceedance | None = None) -> Exceedance:
    """Fit both curves to the number of tests per bin [k], from ``start`` where there is an earlier fit.

    >>> fit = fit_exceedance(CountBins.of(100), np.bincount(CountBins.of(100).place(np.arange(100))).astype(float))
    >>> abs(round(fit.linkability(100), 2))
    0.01
    """
    bell, loss = _climb(bins, counts, start.bell if start else BellCurve(1.0, 1.0))
    tries = [start.skewed] if start else [bell, BellCurve(bell.mean - bell.spread, 1.5 * bell.spread, 2.0)]
    skewed, skewed_loss = min((_climb(bins, counts, t, skewed=True) for t in tries), key=lambda fit: fit[1])
    gain = loss - skewed_loss - 1.0  # one more parameter
    return Exceedance(bell, skewed, 1 / (1 + math.exp(-min(max(gain, -700.0), 700.0))))


def _climb(bins: CountBins, counts: Floats, start: BellCurve, *, skewed: bool = False) -> tuple[BellCurve, float]:
    """Maximise the likelihood from ``start``; return the curve and its negative log-likelihood."""
    from scipy import optimize

    def loss(values: Floats) -> float:
        seen = bins.probability @ _curve(values).cells(GRID)
        return -float(counts @ np.log(np.maximum(seen, 1e-300)))

    spreads = (math.log(SPREADS[0]), math.log(SPREADS[1]))
    limits = [MEANS, spreads, SKEWS] if skewed else [MEANS, spreads]
    first = [np.clip(start.mean, *MEANS), np.clip(math.log(start.spread), *spreads), start.skew][: len(limits)]
    optimum = optimize.minimize(loss, np.array(first), method="L-BFGS-B", bounds=limits)
    return _curve(optimum.x), float(optimum.fun)


def _curve(values: Floats) -> BellCurve:
    skew = float(values[2]) if len(values) > 2 else 0.0
    return BellCurve(float(values[0]), math.exp(float(values[1])), skew)
