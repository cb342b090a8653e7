"""Singling Out: how often an attacker's description of a voice fits exactly one person in the gallery, whoever it is.

p(x) = 1{ s(x, enroll) > s_thresh },   pi_sing = Pr{ p is true for exactly one of N people }
                                                                                         [vauquier2025legal, eq. 1-2]

Each of N people has K <= 10 conversations. In each of ten folds one conversation of each is the test, the others
calibrate: s_thresh lies midway between the r-th and (r+1)-th highest calibration score, r = 9, or K - 1 where the
enrolled speaker has K < 10 conversations (footnote 4). Five draws choose the people anew. The paper's chance level is
exp(-1); that of this very protocol is lower and is given beside it.
Deviations: conversations are formed once; each draw redraws the people (one order for all predicates, so that smaller
galleries are part of larger ones) and which conversation is tested in which fold. "A speaker" with K < 10 in footnote 4
is read as the enrolled speaker for the threshold; others with fewer conversations meet their tests again later.
The interval treats the enrolled speakers as a sample and the gallery as given: see ``speaker_rates``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import Estimate, Finding, MetricCard
from personare.core.seeding import Rng, as_rng
from personare.core.vectors import PickedRows
from personare.metrics.privacy.gallery import Gallery, GalleryDraw, Isolate, gallery_of, isolation_in_galleries
from personare.metrics.privacy.linkability import default_sizes
from personare.metrics.privacy.singling_chance import TRIVIAL, chance_of_isolation
from personare.metrics.privacy.speaker_rates import rates_over_speakers
from personare.metrics.privacy.vectors import checked_speakers, checked_vectors, same_dimension, target_columns

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

CARD = MetricCard(
    name="singling_out",
    title="Singling Out (legal)",
    better="lower",
    bounds=(0.0, 1.0),
    chance=TRIVIAL,
    cite="vauquier2025legal, eq. 1-2",
    reading="The attacker says: exactly one of these N people has this voice. This is how often that is so.",
    caution="Isolating anybody counts, not only the right person: a guesser reaches about 35 %. Compare at the same N.",
    unit="%",
)

PAPER_FOLDS = 10
PAPER_DRAWS = 5
PAPER_ENROLMENT = 30


@dataclass(frozen=True, eq=False)
class SinglingOut:
    """Singling Out for each size of the gallery, and whose voice isolates.

    Parameters
    ----------
    sizes : the numbers of test speakers N [s].
    estimates : one per size; n counts enrolled speakers.
    chance : what guessing achieves in this very protocol, per size; the paper's exp(-1) is ``CARD.chance``.
    speakers : the enrolled speakers [k], in the caller's order.
    isolated : outcome of every run, bool [k, s, draws, folds].
    """

    sizes: tuple[int, ...]
    estimates: tuple[Estimate, ...]
    chance: tuple[float, ...]
    speakers: NDArray[np.generic]
    isolated: NDArray[np.bool_]

    @property
    def estimate(self) -> Estimate:
        """Singling Out at the largest N."""
        return self.estimates[-1]

    def __str__(self) -> str:
        rows = zip(self.sizes, self.estimates, self.chance, strict=True)
        return "\n".join(f"singled out among N = {size}: {e}, chance {chance:.3g}" for size, e, chance in rows)

    def risk(self, size: int | None = None) -> NDArray[np.float64]:
        """Return the isolation rate of each enrolled speaker's voice at N = ``size`` (default: the largest) [k]."""
        people = self.sizes[-1] if size is None else size
        if people not in self.sizes:
            raise MetricError(f"N = {people} was not measured; known: {', '.join(map(str, self.sizes))}")
        rates: NDArray[np.float64] = self.isolated[:, self.sizes.index(people)].mean(axis=(1, 2))
        return rates

    def findings(self, **conditions: str | int | float) -> list[Finding]:
        """List one finding per size, the protocol's chance level beside it."""
        rows = zip(self.sizes, self.estimates, self.chance, strict=True)
        return [Finding(CARD, e, {**conditions, "N": size}, chance=chance) for size, e, chance in rows]


def singling_out(
    enroll_vectors: ArrayLike,
    enroll_speakers: ArrayLike,
    test_vectors: ArrayLike | PickedRows,
    test_speakers: ArrayLike,
    *,
    sizes: Sequence[int] | None = None,
    draws: int = PAPER_DRAWS,
    folds: int = PAPER_FOLDS,
    rng: Rng = 0,
    level: float = 0.95,
    isolate: Isolate = isolation_in_galleries,
) -> SinglingOut:
    """Measure Singling Out of enrolled voices [k, d] in galleries of speakers with several conversations [c, d] each.

    Parameters
    ----------
    enroll_vectors, enroll_speakers : one row per enrolled speaker, each of whom is also a test speaker.
    test_vectors, test_speakers : one row per conversation, at least two per speaker; the first ``folds`` are used.
    sizes : numbers of test speakers N; default 20, 50, 100, ... and all.
    rng : a seed or a generator, for the draws.
    isolate : compares, in this process or elsewhere; the outcome is the same.

    >>> voices = np.eye(4).repeat(3, axis=0)  # four people, three conversations each, all alike
    >>> measured = singling_out(np.eye(4), list("abcd"), voices, list("aaabbbcccddd"), sizes=(2, 4))
    >>> measured.isolated.shape, [estimate.value for estimate in measured.estimates]
    ((4, 2, 5, 3), [1.0, 1.0])
    """
    enroll, gallery, names = _checked(enroll_vectors, enroll_speakers, test_vectors, test_speakers, folds)
    own = target_columns(names, gallery.speakers)
    rank = gallery.conversations[own] - 1
    return _measured(enroll, gallery, names, own, rank, sizes, draws, rng, level, isolate)


def singling_out_control(
    enroll_vectors: ArrayLike,
    enroll_speakers: ArrayLike,
    test_vectors: ArrayLike | PickedRows,
    test_speakers: ArrayLike,
    *,
    sizes: Sequence[int] | None = None,
    draws: int = PAPER_DRAWS,
    folds: int = PAPER_FOLDS,
    rng: Rng = 0,
    level: float = 0.95,
    isolate: Isolate = isolation_in_galleries,
) -> SinglingOut:
    """Measure the same with every enrolled speaker taken out of the gallery: what the attack does to people not in it.

    A rate as high as ``singling_out``'s means that the voices isolate no better than those of people outside would.
    """
    there = ~np.isin(np.asarray(test_speakers), np.asarray(enroll_speakers))
    if not there.any():
        raise MetricError("the control needs test speakers who are not enrolled; enrol only some of them")
    rest: NDArray[np.floating] | PickedRows
    if isinstance(test_vectors, PickedRows):
        rest = test_vectors.pick(np.flatnonzero(there))
    else:
        rest = np.asarray(test_vectors)[there]
    enroll, gallery, names = _checked(enroll_vectors, enroll_speakers, rest, np.asarray(test_speakers)[there], folds)
    rank = np.full(len(names), int(np.median(gallery.conversations)) - 1)
    fewest = int(rank[0]) // int(gallery.conversations.min() - 1) + 1
    if sizes is not None and any(size < fewest for size in sizes):
        raise MetricError(f"the control needs galleries of at least {fewest} people here; got {min(sizes)}")
    return _measured(enroll, gallery, names, None, rank, sizes, draws, rng, level, isolate)


def _checked(
    enroll_vectors: ArrayLike,
    enroll_speakers: ArrayLike,
    test_vectors: ArrayLike | PickedRows,
    test_speakers: ArrayLike,
    folds: int,
) -> tuple[NDArray[np.floating], Gallery, NDArray[np.generic]]:
    enroll = checked_vectors(enroll_vectors, of="enrolment")
    test = test_vectors if isinstance(test_vectors, PickedRows) else checked_vectors(test_vectors, of="test")
    same_dimension(enroll, test, names=("enrolment", "test"))
    names = checked_speakers(enroll_speakers, rows=len(enroll), of="enrolment")
    if len(np.unique(names)) != len(names):
        raise MetricError("an enrolment speaker repeats; give one vector each")
    if folds < 2:
        raise MetricError(f"Singling Out needs at least 2 folds (the paper: {PAPER_FOLDS}), not {folds}")
    gallery = gallery_of(test, checked_speakers(test_speakers, rows=len(test), of="test"), most=folds)
    return enroll, gallery, names


def _measured(
    enroll: NDArray[np.floating],
    gallery: Gallery,
    names: NDArray[np.generic],
    own: NDArray[np.intp] | None,
    rank: NDArray[np.intp],
    sizes: Sequence[int] | None,
    draws: int,
    rng: Rng,
    level: float,
    isolate: Isolate,
) -> SinglingOut:
    if draws < 1:
        raise MetricError(f"draws must be at least 1 (the paper: {PAPER_DRAWS}), not {draws}")
    n = len(gallery.speakers)
    chosen = default_sizes(n) if sizes is None else tuple(int(size) for size in sizes)
    if not chosen or any(not 2 <= size <= n for size in chosen):
        raise MetricError(f"N must lie within 2..{n}, the test speakers; got {', '.join(map(str, chosen)) or 'none'}")
    rng = as_rng(rng)
    drawn = [GalleryDraw.of(gallery, rng) for _ in range(draws)]
    isolated = isolate(enroll, gallery, drawn, own=own, rank=rank, sizes=chosen)
    runs = isolated.reshape(len(names), len(chosen), -1).swapaxes(1, 2).reshape(-1, len(chosen))
    owner = np.repeat(np.arange(len(names)), len(runs) // len(names))
    estimates = rates_over_speakers(runs.astype(np.float64), owner, level=level)
    chance = tuple(_chance(gallery, rank, size) for size in chosen)
    return SinglingOut(chosen, tuple(estimates), chance, names, isolated)


def _chance(gallery: Gallery, rank: NDArray[np.intp], size: int) -> float:
    """Average the protocol's chance over the enrolled speakers' ranks, with calibration scores for this size."""
    calibration = max(int(rank.max()) + 1, round(size * float(gallery.conversations.mean() - 1)))
    ranks, counts = np.unique(rank, return_counts=True)
    each = [chance_of_isolation(size, calibration=calibration, rank=int(r)) for r in ranks]
    return float(np.dot(each, counts) / counts.sum())
