"""Arithmetic on speaker vectors, once for the whole package: unit length, cosine, enrolment means, clusters.

unit(x) = x / |x|,   cos(x, y) = unit(x) . unit(y),   enrolment of a speaker = mean over utterances of unit(x)

The mean of unit vectors is the one enrolment rule of the package: a loud or long utterance weighs no more than another
[tomashenko2022voiceprivacy, sec. 2.3.1]. The raw mean of [vauquier2025legal, section 3.4] is ``unit_first=False``.
Sums and lengths are computed in double precision, in blocks, whatever the precision of the vectors.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import ConfigError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

ROWS_AT_ONCE = 512  # small enough to stay in the processor's cache
_KMEANS_ROUNDS = 51


def unit_rows(vectors: ArrayLike, *, dtype: type[np.floating] = np.float64) -> NDArray[Any]:
    """Scale each row of a table [n, d] to length 1, so that a matrix product gives cosines; a row of zeros stays.

    Double precision rows are first divided by their largest entry: 1e-200 and 1e200 would not survive the square.

    >>> unit_rows([[3e200, 4e200], [0.0, 0.0]])
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    table = np.asarray(vectors)
    unit = np.empty(table.shape, dtype=dtype)
    for start in range(0, len(table), ROWS_AT_ONCE):
        wide = table[start : start + ROWS_AT_ONCE].astype(np.float64)
        if table.dtype.itemsize > 4:
            wide /= _nonzero(np.abs(wide).max(axis=1, initial=0.0))[:, None]
        wide /= _nonzero(np.sqrt(np.einsum("ij,ij->i", wide, wide)))[:, None]
        unit[start : start + ROWS_AT_ONCE] = wide
    return unit


def cosine(test: ArrayLike, enroll: ArrayLike, *, dtype: type[np.floating] = np.float64) -> NDArray[Any]:
    """Compare every test row [n, d] with every enrolled row [m, d]: [n, m], -1 to 1; zeros are like nobody: 0.

    >>> cosine([[2, 0]], [[3, 4], [-3, 0]])
    array([[ 0.6, -1. ]])
    """
    scores: NDArray[Any] = unit_rows(test, dtype=dtype) @ unit_rows(enroll, dtype=dtype).T
    return np.clip(scores, -1.0, 1.0, out=scores)


def pairwise_cosine(vectors: ArrayLike) -> NDArray[np.float64]:
    """Compare every two different rows of a table [n, d]: [n (n - 1) / 2]."""
    table = np.asarray(vectors)
    scores: NDArray[np.float64] = cosine(table, table)[np.triu_indices(len(table), 1)]
    return scores


def angles(vectors: ArrayLike, others: ArrayLike) -> NDArray[np.float64]:
    """Measure angles as a share of half a turn, 0 (same direction) to 1 (opposite): a true metric, [n, m].

    >>> angles([[1, 0]], [[0, 5], [-1, 0]])
    array([[0.5, 1. ]])
    """
    shares: NDArray[np.float64] = np.arccos(cosine(vectors, others)) / np.pi
    return shares


@dataclass(frozen=True, eq=False)
class PickedRows:
    """Some rows of a table [n, d] in an order of their own, read when they are asked for: no second copy of the table.

    >>> picked = PickedRows(np.arange(8.0).reshape(4, 2), np.array([3, 0]))
    >>> picked[0:1], len(picked.pick(np.array([1])))
    (array([[6., 7.]]), 1)
    """

    table: NDArray[Any]
    rows: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, which: int | slice | NDArray[np.intp]) -> NDArray[Any]:
        some: NDArray[Any] = self.table[self.rows[which]]
        return some

    @property
    def dtype(self) -> np.dtype[Any]:
        """What a number is."""
        return self.table.dtype

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and dimensions."""
        return len(self.rows), self.table.shape[1]

    def pick(self, which: NDArray[np.intp]) -> PickedRows:
        """Give some of these rows, in another order."""
        return PickedRows(self.table, self.rows[which])


@dataclass(frozen=True, eq=False)
class SpeakerMeans:
    """One vector per speaker: ``vectors`` float32 [k, d], ``speakers`` sorted [k]."""

    vectors: NDArray[np.float32]
    speakers: NDArray[np.generic]


def speaker_means(vectors: ArrayLike, speakers: ArrayLike, *, unit_first: bool = True) -> SpeakerMeans:
    """Enrol every speaker as the mean of their utterances' unit vectors; ``unit_first=False`` averages them as given.

    >>> speaker_means([[1, 0], [0, 9], [0, 1]], ["ann", "ann", "bob"]).vectors
    array([[0.5, 0.5],
           [0. , 1. ]], dtype=float32)
    """
    table = np.asarray(vectors)
    names, owner = np.unique(np.asarray(speakers), return_inverse=True)
    counts = np.bincount(owner, minlength=len(names))
    return SpeakerMeans(run_means(table, np.argsort(owner, kind="stable"), counts, unit_first=unit_first), names)


def run_means(
    table: NDArray[Any], rows: NDArray[np.intp], counts: NDArray[np.intp], *, unit_first: bool = True
) -> NDArray[np.float32]:
    """Average runs of rows: the first ``counts[0]`` of ``rows``, then the next ``counts[1]``, ...: [runs, d]."""
    means = np.empty((len(counts), table.shape[1]), dtype=np.float32)
    ends = np.cumsum(counts)
    starts = ends - counts
    for first, last in _blocks(ends):
        some = table[rows[starts[first] : ends[last - 1]]]
        some = unit_rows(some) if unit_first else some.astype(np.float64)
        sums = np.add.reduceat(some, starts[first:last] - starts[first], axis=0)
        means[first:last] = sums / counts[first:last, None]
    return means


def _blocks(ends: NDArray[np.intp]) -> Iterator[tuple[int, int]]:
    """Split runs into blocks of about ``ROWS_AT_ONCE`` rows: first and last + 1 of each."""
    first = done = 0
    while first < len(ends):
        last = max(first + 1, int(np.searchsorted(ends, done + ROWS_AT_ONCE, side="right")))
        yield first, last
        first, done = last, int(ends[last - 1])


def _nonzero(lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(lengths > 0, lengths, 1.0)


def kmeans_labels(vectors: NDArray[Any], clusters: int, *, rng: np.random.Generator) -> NDArray[np.intp]:
    """Divide vectors [n, d] into clusters by k-means with k-means++ starting points: the cluster of each [n].

    >>> labels = kmeans_labels(np.array([[0.0], [0.1], [9.0], [9.1]]), 2, rng=np.random.default_rng(0))
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """
    from scipy.cluster.vq import kmeans2

    points = np.asarray(vectors, dtype=np.float64)
    if not 1 <= clusters <= len(points):
        raise ConfigError(f"{clusters} clusters need as many voices, the pool has {len(points)}")
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):  # fewer different vectors than clusters: 0 / 0
        warnings.simplefilter("ignore", UserWarning)  # an empty cluster keeps its centre, and the labels show it
        _, labels = kmeans2(points, clusters, iter=_KMEANS_ROUNDS, minit="++", rng=rng)
    return np.asarray(labels, dtype=np.intp)
