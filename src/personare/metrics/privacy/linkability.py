"""Linkability: how often the attacker's best guess, among N enrolled people, is the right person.

pi_link = Pr{ s(test_i, enroll_i) > max_{j != i} s(test_i, enroll_j) }              [vauquier2025legal, eq. 3-4]

With n enrolled speakers and b nontargets (other speakers) that score at least as high as the target, the mean of this
over all enrolment subsets of size N that contain the target is exactly C(n-1-b, N-1) / C(n-1, N-1). Ties are not links.
Chance is 1/N: the number means nothing without N.
Deviations: the mean over random enrolment subsets is computed exactly; ``draws=5`` draws it as the paper does, an
independent subset per test and draw. Enrolment vectors are the caller's (the paper: mean over all utterances of a
speaker). Intervals and the test against guessing count speakers, not tests: see ``speaker_rates``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import Estimate, Finding, MetricCard
from personare.core.seeding import Rng, as_rng
from personare.metrics.privacy.nontargets_above import nontargets_above, nontargets_above_in_scores
from personare.metrics.privacy.speaker_rates import rate_tails, rates_over_speakers
from personare.metrics.privacy.vectors import checked_speakers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

CARD = MetricCard(
    name="linkability",
    title="Linkability (legal)",
    better="lower",
    bounds=(0.0, 1.0),
    chance=None,
    cite="vauquier2025legal, eq. 3-4",
    reading="The attacker says: of these N people, this recording is of that one. This is how often that is right.",
    caution="Depends on N: compare only at the same number of enrolled speakers; chance is 1/N.",
    unit="%",
)

PAPER_DRAWS = 5
CHUNK_CELLS = 4_000_000
NEGLIGIBLE = 1e-25


@dataclass(frozen=True, eq=False)
class Linkability:
    """Linkability for each enrolment size, and who is linked.

    Parameters
    ----------
    sizes : the numbers of enrolled speakers N [s].
    estimates : one per size; n counts tested speakers.
    chance : 1/N per size.
    enrolled : all enrolled speakers, the largest possible N.
    speakers : the tested speakers, sorted [k]; owner : index of each test's speaker [t].
    nontargets_above : enrolled nontargets scoring at least as high as the target, per test [t].
    drawn : rate of each random draw [draws, s], or None when the mean over all draws is exact.
    """

    sizes: tuple[int, ...]
    estimates: tuple[Estimate, ...]
    chance: tuple[float, ...]
    enrolled: int
    speakers: NDArray[np.generic]
    owner: NDArray[np.intp]
    nontargets_above: NDArray[np.int64]
    drawn: NDArray[np.float64] | None = None

    @property
    def estimate(self) -> Estimate:
        """The linkability at the largest N."""
        return self.estimates[-1]

    def __str__(self) -> str:
        rows = zip(self.sizes, self.estimates, self.chance, strict=True)
        return "\n".join(f"linkability among N = {size}: {e}, chance {chance:.3g}" for size, e, chance in rows)

    def by_group(self, groups: Mapping[str, str | None], *, level: float = 0.95) -> dict[str, Linkability]:
        """Return the linkability of the tested speakers of each group (gender), among everybody enrolled."""
        owners = self.speakers[self.owner]
        each = np.array([groups.get(str(name)) or "" for name in owners])
        how: dict[str, Any] = {"enrolled": self.enrolled, "sizes": self.sizes, "level": level}
        return {
            str(name): linkability_from_counts(self.nontargets_above[each == name], owners[each == name], **how)
            for name in np.unique(each[each != ""])
        }

    def risk(self, size: int | None = None) -> NDArray[np.float64]:
        """Return each tested speaker's own linkability at N = ``size`` (default: all enrolled) [k]."""
        sizes = _checked_sizes((self.enrolled if size is None else size,), self.enrolled)
        linked = link_probability(self.nontargets_above, enrolled=self.enrolled, sizes=sizes)[:, 0]
        return np.bincount(self.owner, weights=linked) / np.bincount(self.owner)

    def curve(self) -> NDArray[np.float64]:
        """Return the exact linkability for every N = 1, 2, ..., all enrolled [n]."""
        return exact_curve(self.nontargets_above, enrolled=self.enrolled)

    def findings(self, **conditions: str | int | float) -> list[Finding]:
        """List one finding per size, its chance level beside it."""
        rows = zip(self.sizes, self.estimates, self.chance, strict=True)
        return [link_finding(e, chance, {**conditions, "N": size}) for size, e, chance in rows]


def link_finding(estimate: Estimate, chance: float, conditions: Mapping[str, str | int | float]) -> Finding:
    """Put the chance level and its test beside a linkability."""
    better, worse = rate_tails(estimate.value, chance, estimate.n)
    return Finding(CARD, estimate, conditions, chance=chance, p_better=better, p_worse=worse)


def linkability(
    test_vectors: ArrayLike,
    test_speakers: ArrayLike,
    enroll_vectors: ArrayLike,
    enroll_speakers: ArrayLike,
    *,
    sizes: Sequence[int] | None = None,
    draws: int | None = None,
    rng: Rng = 0,
    level: float = 0.95,
) -> Linkability:
    """Measure linkability of tests [t, d] against one vector [n, d] per enrolled speaker, for any sizes N at once.

    Parameters
    ----------
    sizes : numbers of enrolled speakers N; default 20, 50, 100, ... and all n.
    draws : None computes the mean over all enrolment subsets; a number draws that many, as the paper does (5).
    rng : a seed or a generator, for ``draws``.

    >>> linked = linkability([[1, 0.1], [1, 0.9]], ["ann", "bob"], [[1, 0], [0, 1], [1, 1]], ["ann", "bob", "eve"])
    >>> linked.sizes, linked.estimates[-1].value, linked.risk()
    ((3,), 0.5, array([1., 0.]))
    """
    above = nontargets_above(test_vectors, test_speakers, enroll_vectors, enroll_speakers)
    return linkability_from_counts(
        above,
        test_speakers,
        enrolled=len(np.asarray(enroll_speakers)),
        sizes=sizes,
        draws=draws,
        rng=rng,
        level=level,
    )


def linkability_from_scores(
    scores: ArrayLike,
    target_column: ArrayLike,
    test_speakers: ArrayLike,
    *,
    sizes: Sequence[int] | None = None,
    draws: int | None = None,
    rng: Rng = 0,
    level: float = 0.95,
) -> Linkability:
    """Measure linkability in a given score matrix [tests, enrolled], e.g. of a PLDA; the rest as in ``linkability``."""
    above = nontargets_above_in_scores(scores, target_column)
    return linkability_from_counts(
        above, test_speakers, enrolled=np.shape(scores)[1], sizes=sizes, draws=draws, rng=rng, level=level
    )


def linkability_from_counts(
    above: ArrayLike,
    test_speakers: ArrayLike,
    *,
    enrolled: int,
    sizes: Sequence[int] | None = None,
    draws: int | None = None,
    rng: Rng = 0,
    level: float = 0.95,
) -> Linkability:
    """Measure linkability from the number of nontargets [t] that score at least as high as each test's own speaker."""
    b = checked_counts(above, enrolled=enrolled)
    speakers, owner = np.unique(checked_speakers(test_speakers, rows=len(b), of="test"), return_inverse=True)
    chosen = default_sizes(enrolled) if sizes is None else _checked_sizes(sizes, enrolled)
    rng = as_rng(rng)
    uniform = None if draws is None else rng.random((_checked_draws(draws), len(b)))
    estimates: list[Estimate] = []
    rates: list[NDArray[np.float64]] = []
    step = max(1, CHUNK_CELLS // max(len(b) * (draws or 1), int(b.max()) + 1))
    for start in range(0, len(chosen), step):
        linked = link_probability(b, enrolled=enrolled, sizes=chosen[start : start + step])
        if uniform is not None:
            outcome = _drawn_links(linked, uniform)
            rates.append(outcome.mean(axis=1))
            linked = outcome.mean(axis=0)
        estimates += rates_over_speakers(linked, owner, level=level)
    drawn = np.concatenate(rates, axis=1) if rates else None
    chance = tuple(1 / size for size in chosen)
    return Linkability(chosen, tuple(estimates), chance, enrolled, speakers, owner, b, drawn)


def default_sizes(enrolled: int) -> tuple[int, ...]:
    """Return 20, 50, 100, 200, 500, ... below ``enrolled``, then ``enrolled`` itself.

    >>> default_sizes(130)
    (20, 50, 100, 130)
    """
    steps = [first * 10**power for power in range(1, len(str(enrolled)) + 1) for first in (2, 5, 10)]
    return (*(size for size in steps if size < enrolled), enrolled)


def link_probability(above: ArrayLike, *, enrolled: int, sizes: Sequence[int]) -> NDArray[np.float64]:
    """Return C(n-1-b, N-1) / C(n-1, N-1) for each b [t] and each size N [s], as a table [t, s].

    Computed as the product over i < b of (n - N - i) / (n - 1 - i): no factorials, full precision, zeros stay zero.

    >>> link_probability([0, 1, 2], enrolled=3, sizes=(1, 2, 3))
    array([[1. , 1. , 1. ],
           [1. , 0.5, 0. ],
           [1. , 0. , 0. ]])
    """
    b = checked_counts(above, enrolled=enrolled)
    i = np.arange(b.max(initial=0), dtype=np.float64)[:, None]
    left = np.maximum(enrolled - np.asarray(sizes, dtype=np.float64)[None, :] - i, 0.0)
    table = np.ones((len(i) + 1, len(sizes)))
    np.cumprod(left / (enrolled - 1 - i), axis=0, out=table[1:])
    probability: NDArray[np.float64] = table[b]
    return probability


def exact_curve(above: ArrayLike, *, enrolled: int) -> NDArray[np.float64]:
    """Return the exact linkability for every N = 1, 2, ..., n at once [n], by Horner's rule over the histogram of b.

    Shares below 1e-25 are left out.

    >>> exact_curve([0, 1, 2], enrolled=3).round(3)
    array([1.   , 0.5  , 0.333])
    """
    b = checked_counts(above, enrolled=enrolled)
    share = np.bincount(b) / len(b)
    left = np.arange(enrolled - 1, -1, -1, dtype=np.float64)
    curve = np.zeros(enrolled)
    for i in range(len(share) - 1, -1, -1):
        reach = curve[: _sizes_reached(i, enrolled)]
        if i < enrolled - 1:
            reach *= left[i : i + len(reach)]  # (n - N - i) / (n - 1 - i)
            reach /= enrolled - 1 - i
        reach += share[i]
    return curve


def _sizes_reached(i: int, enrolled: int) -> int:
    """Count the sizes at which i nontargets can all be absent with a probability above NEGLIGIBLE."""
    if i == 0 or i == enrolled - 1:
        return enrolled - i
    return min(enrolled - i, 2 + int(math.log(NEGLIGIBLE) / math.log1p(-i / (enrolled - 1))))


def checked_counts(above: ArrayLike, *, enrolled: int) -> NDArray[np.int64]:
    """Return counts [t] of nontargets, each within 0..enrolled - 1."""
    b = np.asarray(above)
    if b.ndim != 1 or len(b) == 0:
        raise MetricError(f"linkability needs at least one test; the counts have shape {list(b.shape)}")
    if b.dtype.kind not in "iu":
        raise MetricError(f"counts of nontargets must be whole numbers, not {b.dtype}")
    if b.min() < 0 or b.max() > enrolled - 1:
        raise MetricError(f"of {enrolled} enrolled, 0..{enrolled - 1} are other speakers; got {b.min()}..{b.max()}")
    return b.astype(np.int64, copy=False)


def _checked_sizes(sizes: Sequence[int], enrolled: int) -> tuple[int, ...]:
    if len(sizes) == 0:
        raise MetricError("linkability needs at least one number of enrolled speakers N")
    for size in sizes:
        if size != int(size) or not 1 <= size <= enrolled:
            raise MetricError(f"N must be a whole number within 1..{enrolled}, the enrolled speakers; got {size}")
    return tuple(int(size) for size in sizes)


def _checked_draws(draws: int) -> int:
    if draws < 1:
        raise MetricError(f"draws must be at least 1 (the paper: {PAPER_DRAWS}), not {draws}")
    return draws


def _drawn_links(probability: NDArray[np.float64], uniform: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Draw the paper's experiment, a random enrolment subset per test and draw: outcomes [draws, t, s].

    A subset of size N leaves all b nontargets out with probability q(N), which falls with N; comparing one uniform
    number with every q(N) has therefore the same law as growing one random subset.
    """
    return uniform[:, :, None] < probability[None, :, :]
