"""From utterances to conversations: the mean vector of L utterances of one speaker, each utterance used once.

x = mean of the unit vectors of L utterances                                         [vauquier2025legal, section 3.4]

Deviations: each vector is scaled to length 1 before, by the package's one rule (``core.vectors``), so that a loud or
long utterance weighs no more than another; ``unit_first=False`` averages vectors as the embedder gives them, as the
paper does. The length of the mean itself does not matter to a cosine. Which utterances form a conversation is drawn by
``rng``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import MetricError
from personare.core.vectors import PickedRows, run_means
from personare.metrics.privacy.vectors import checked_speakers, checked_vectors, grouped_speakers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class Conversations:
    """Mean vectors with their speakers, and who had too few utterances.

    Parameters
    ----------
    vectors : float32 [c, d], rows of one speaker next to each other; speakers : [c].
    left_out : speakers with too few utterances, sorted.
    """

    vectors: NDArray[np.float32]
    speakers: NDArray[np.generic]
    left_out: tuple[str, ...]


def conversations(
    vectors: ArrayLike,
    speakers: ArrayLike,
    *,
    length: int,
    rng: np.random.Generator,
    fewest: int = 1,
    most: int | None = None,
    unit_first: bool = True,
) -> Conversations:
    """Average disjoint random groups of ``length`` utterances of each speaker; left-over utterances are not used.

    Parameters
    ----------
    vectors, speakers : one row per utterance, float [n, d] and [n].
    fewest, most : how many conversations a speaker must have, and how many are formed at most.
    unit_first : scale each vector to length 1 before; False is the paper's raw mean.

    >>> rng = np.random.default_rng(0)
    >>> means = conversations([[1, 0], [0, 3], [0, 1]], ["ann", "ann", "bob"], length=2, rng=rng)
    >>> means.vectors, means.speakers, means.left_out
    (array([[0.5, 0.5]], dtype=float32), array(['ann'], dtype='<U3'), ('bob',))
    """
    groups = _grouped(vectors, speakers, length=length, rng=rng, fewest=fewest, most=most)
    means = run_means(groups.table, groups.rows, np.full(len(groups.speakers), length), unit_first=unit_first)
    return Conversations(means, groups.speakers, groups.left_out)


@dataclass(frozen=True, eq=False)
class PickedConversations:
    """Conversations of one utterance: rows of the table itself, with their speakers, and who had too few."""

    vectors: PickedRows
    speakers: NDArray[np.generic]
    left_out: tuple[str, ...]


def single_utterances(
    vectors: ArrayLike, speakers: ArrayLike, *, rng: np.random.Generator, fewest: int = 1, most: int | None = None
) -> PickedConversations:
    """Choose conversations of length 1 by the draw of ``conversations``; the table is not copied.

    To a cosine, one vector and the mean of that vector are the same.

    >>> picked = single_utterances([[1, 0], [0, 3], [0, 1]], ["ann", "ann", "bob"], rng=np.random.default_rng(0))
    >>> picked.vectors.rows.tolist(), picked.speakers.tolist()
    ([0, 1, 2], ['ann', 'ann', 'bob'])
    """
    groups = _grouped(vectors, speakers, length=1, rng=rng, fewest=fewest, most=most)
    return PickedConversations(PickedRows(groups.table, groups.rows), groups.speakers, groups.left_out)


@dataclass(frozen=True, eq=False)
class _Groups:
    """The rows of all conversations, one after the other; the speaker of each; who had too few utterances."""

    table: NDArray[np.floating]
    rows: NDArray[np.intp]
    speakers: NDArray[np.generic]
    left_out: tuple[str, ...]


def _grouped(
    vectors: ArrayLike,
    speakers: ArrayLike,
    *,
    length: int,
    rng: np.random.Generator,
    fewest: int,
    most: int | None,
) -> _Groups:
    """Draw disjoint groups of ``length`` utterances of each speaker."""
    if length < 1 or fewest < 1 or (most is not None and most < fewest):
        raise MetricError(f"conversations need length >= 1 and 1 <= fewest <= most; got {length}, {fewest}, {most}")
    table = checked_vectors(vectors, of="utterance")
    owners = checked_speakers(speakers, rows=len(table), of="utterance")
    names, owner, spoken = grouped_speakers(owners)
    groups = spoken // length
    kept = groups >= fewest
    if not kept.any():
        needed = f"{fewest} x {length} utterances"
        raise MetricError(f"none of {len(names)} speakers has {needed}; the most are {spoken.max()}")
    groups = np.where(kept, groups if most is None else np.minimum(groups, most), 0)
    rows = _random_rows(owner, groups * length, rng)
    return _Groups(table, rows, np.repeat(names, groups), tuple(str(name) for name in names[~kept]))


def enrolment_means(
    vectors: ArrayLike,
    speakers: ArrayLike,
    *,
    rng: np.random.Generator | None = None,
    most: int | None = None,
    unit_first: bool = True,
) -> Conversations:
    """Average all utterances of each speaker, or ``most`` of them drawn by ``rng`` (Singling Out enrols with 30).

    >>> enrolment_means([[1, 0], [0, 3], [0, 1]], ["ann", "ann", "bob"]).vectors
    array([[0.5, 0.5],
           [0. , 1. ]], dtype=float32)
    """
    table = checked_vectors(vectors, of="utterance")
    owners = checked_speakers(speakers, rows=len(table), of="utterance")
    names, owner = np.unique(owners, return_inverse=True)
    counts = np.bincount(owner)
    if most is not None:
        if most < 1 or rng is None:
            raise MetricError(f"drawing {most} utterances per speaker needs most >= 1 and a random generator")
        counts = np.minimum(counts, most)
    means = run_means(table, _random_rows(owner, counts, rng), counts, unit_first=unit_first)
    return Conversations(means, names, ())


def _random_rows(
    owner: NDArray[np.intp], picked: NDArray[np.intp], rng: np.random.Generator | None
) -> NDArray[np.intp]:
    """Pick ``picked[s]`` rows of each speaker s at random (the first ones without ``rng``), speaker after speaker."""
    order = np.arange(len(owner)) if rng is None else rng.permutation(len(owner))
    order = order[np.argsort(owner[order], kind="stable")]
    counts = np.bincount(owner, minlength=len(picked))
    place = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    return order[place < np.repeat(picked, counts)]
