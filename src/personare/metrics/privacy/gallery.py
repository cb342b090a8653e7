"""The galleries of Singling Out: who is in, which conversation is tested when, and every predicate's outcome in each.

One blocked matrix product gives all scores of some predicates; a partial sort keeps the highest. Galleries of any size
are prefixes of one random order of the people, so that the same sorted list serves them all; small ones, which a list
of the highest scores would miss, are looked up directly. Results equal those of sorting every fold by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np

from personare.core.errors import MetricError
from personare.core.vectors import PickedRows, unit_rows
from personare.metrics.privacy.isolation import Outcome, fold_outcomes, highest

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK_CELLS = 166_000_000  # 664 MB of scores at a time: with few predicates the product is slower, and there are more
DEPTH = 40  # highest scores looked at per gallery: ten decide, the rest is reserve
DIRECT_CELLS = 16_384  # galleries with fewer conversations are looked up directly
TIE = 1e-12
CONVERSATIONS_AT_ONCE = 2048  # they stay in the processor's cache
SINGLE_SCALE = 1e15  # vectors of a length beyond this, or below one over it, are scaled before they are compared


@dataclass(frozen=True, eq=False)
class Gallery:
    """Everybody's conversations, sorted by speaker.

    Parameters
    ----------
    vectors : [c, d] as given, or rows of a table that is not copied.
    speakers : [n] sorted; conversations : K of each speaker [n]; start : first row of each [n].
    owner : speaker of each row, as an index [c].
    """

    vectors: NDArray[np.floating] | PickedRows
    speakers: NDArray[np.generic]
    conversations: NDArray[np.intp]
    start: NDArray[np.intp]
    owner: NDArray[np.intp]

    @cached_property
    def _scale(self) -> NDArray[np.float32]:
        """One over the length of each row [c]; 0 where it was not asked for yet."""
        return np.zeros(len(self.vectors), dtype=np.float32)

    def _scale_of(self, rows: slice, some: NDArray[np.floating]) -> NDArray[np.float32]:
        """One over the lengths of some rows, which have just been read."""
        scale = self._scale[rows]
        if not scale.all():
            wide = some.astype(np.float64)
            scale[:] = 1 / np.sqrt(np.einsum("ij,ij->i", wide, wide))
        return scale

    def compare(self, predicates: NDArray[np.float32], out: NDArray[np.float32]) -> NDArray[np.float32]:
        """Write the cosines of predicates of length 1 with all conversations into ``out`` [predicates, c].

        The scores are scaled, not the conversations: there are fewer of them.
        """
        single = self.vectors.dtype == np.float32
        for rows in _blocks(len(self.vectors)):
            some = self.vectors[rows]
            scale = self._scale_of(rows, some) if single else None
            if scale is not None and 1 / SINGLE_SCALE < scale.min() <= scale.max() < SINGLE_SCALE:
                np.multiply(predicates @ some.T, scale, out=out[:, rows])
            else:
                out[:, rows] = predicates @ unit_rows(some, dtype=np.float32).T
        return out

    @property
    def folds(self) -> int:
        """The largest number of conversations of one speaker."""
        return int(self.conversations.max())

    def rows_of(self, speakers: NDArray[np.intp]) -> NDArray[np.intp]:
        """List the rows of some speakers, in their order."""
        counts = self.conversations[speakers]
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        rows: NDArray[np.intp] = np.repeat(self.start[speakers], counts) + within
        return rows


def _blocks(rows: int) -> Iterator[slice]:
    return (slice(start, start + CONVERSATIONS_AT_ONCE) for start in range(0, rows, CONVERSATIONS_AT_ONCE))


def gallery_of(vectors: NDArray[np.floating] | PickedRows, speakers: NDArray[np.generic], *, most: int) -> Gallery:
    """Sort conversations by speaker, keep the first ``most`` of each; every speaker needs two."""
    names, owner, counts = np.unique(speakers, return_inverse=True, return_counts=True)
    lonely = counts < 2
    if lonely.any():
        first = f"{lonely.sum()} test speakers have one conversation only (first: '{names[int(lonely.argmax())]}')"
        raise MetricError(f"{first}; calibration needs a second: leave them out")
    order = np.argsort(owner, kind="stable")
    within = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    order = order[within < most]
    kept = np.minimum(counts, most)
    table: NDArray[np.floating] | PickedRows
    if isinstance(vectors, PickedRows):
        table = vectors.pick(order)
    else:
        table = vectors[: len(order)] if (order == np.arange(len(order))).all() else vectors[order]  # sorted: no copy
    return Gallery(
        table,
        names,
        kept,
        np.cumsum(kept) - kept,
        np.repeat(np.arange(len(kept)), kept),
    )


@dataclass(frozen=True, eq=False)
class GalleryDraw:
    """One random order of the people [n], its inverse [n], and the fold in which each conversation is tested [c]."""

    order: NDArray[np.intp]
    position: NDArray[np.intp]
    place: NDArray[np.int16]

    @classmethod
    def of(cls, gallery: Gallery, rng: np.random.Generator) -> Self:
        """GalleryDraw the order of the people, and for each the fold at which the round of conversations begins."""
        order = rng.permutation(len(gallery.speakers))
        position = np.empty_like(order)
        position[order] = np.arange(len(order))
        shift = rng.integers(0, gallery.conversations)
        within = np.arange(len(gallery.owner)) - gallery.start[gallery.owner]
        place = (within + shift[gallery.owner]) % gallery.conversations[gallery.owner]
        return cls(order, position, place.astype(np.int16))


class Isolate(Protocol):
    """Whoever runs the protocol for some predicates: ``isolation_in_galleries``, or an engine over parts of them."""

    def __call__(
        self,
        enroll: NDArray[np.floating],
        gallery: Gallery,
        draws: Sequence[GalleryDraw],
        *,
        own: NDArray[np.intp] | None,
        rank: NDArray[np.intp],
        sizes: Sequence[int],
    ) -> NDArray[np.bool_]:
        """Give the outcomes, bool [k, sizes, draws, folds]."""


def isolation_in_galleries(
    enroll: NDArray[np.floating],
    gallery: Gallery,
    draws: Sequence[GalleryDraw],
    *,
    own: NDArray[np.intp] | None,
    rank: NDArray[np.intp],
    sizes: Sequence[int],
) -> NDArray[np.bool_]:
    """Run the whole protocol for predicates ``enroll`` [k, d]: outcomes bool [k, sizes, draws, folds].

    ``own`` is each predicate's own speaker, who joins every gallery; None when they are not in the data.
    """
    isolated = np.empty((len(enroll), len(sizes), len(draws), gallery.folds), dtype=np.bool_)
    step = max(1, BLOCK_CELLS // len(gallery.owner))
    depth = _list_depth(gallery, sizes)
    scores = np.empty((min(step, len(enroll)), len(gallery.owner)), dtype=np.float32)
    for start in range(0, len(enroll), step):
        part = slice(start, start + step)
        predicates = unit_rows(enroll[part], dtype=np.float32)
        block = gallery.compare(predicates, scores[: len(predicates)])
        view = _Block(enroll[part], gallery, block, highest(block, depth) if depth else None)
        for d, draw in enumerate(draws):
            for s, size in enumerate(sizes):
                mine = None if own is None else own[part]
                isolated[part, s, d] = view.outcomes(draw, size, own=mine, rank=rank[part])
    return isolated


def _list_depth(gallery: Gallery, sizes: Sequence[int]) -> int:
    """Choose how many of the highest scores to keep: enough for the smallest gallery that is not looked up directly."""
    listed = [size for size in sizes if not _is_direct(gallery, size)]
    if not listed:
        return 0
    return _depth_of(gallery, min(listed))


def _depth_of(gallery: Gallery, size: int) -> int:
    """Choose how many of the highest scores of everybody hold enough of a gallery of this size."""
    share = len(gallery.speakers) / size
    return min(len(gallery.owner), int(DEPTH if share == 1 else 1.5 * DEPTH * share + 20))


def _is_direct(gallery: Gallery, size: int) -> bool:
    return size * len(gallery.owner) / len(gallery.speakers) <= DIRECT_CELLS


@dataclass(frozen=True, eq=False)
class _Block:
    """The scores of some predicates [rows, c], and the columns of their highest, falling [rows, depth]."""

    enroll: NDArray[np.floating]
    gallery: Gallery
    scores: NDArray[np.floating]
    top: NDArray[np.intp] | None

    def outcomes(
        self, draw: GalleryDraw, size: int, *, own: NDArray[np.intp] | None, rank: NDArray[np.intp]
    ) -> NDArray[np.bool_]:
        """Give the outcomes [rows, folds] in galleries of this size: the first ``size`` - 1 people, and one more."""
        last = np.full(len(self.scores), draw.order[size - 1])
        if own is not None:
            last = np.where(draw.position[own] < size - 1, last, own)
        if self.top is None or _is_direct(self.gallery, size):
            columns = self._looked_up(draw, size, last, depth=DEPTH)
        else:
            columns = self._from_list(draw, size, last)
        outcome = self._decide(draw, columns, rank)
        for row in np.flatnonzero(outcome.shallow):  # most of the list belongs to one fold: sort the whole gallery
            one = self._alone(row)
            full = one._looked_up(draw, size, last[[row]], depth=None)
            outcome.isolated[row] = one._decide(draw, full, rank[[row]]).isolated[0]
        return outcome.isolated

    def _from_list(self, draw: GalleryDraw, size: int, last: NDArray[np.intp]) -> NDArray[np.intp]:
        """Pick the gallery's members out of the sorted list of everybody; rows with too few are looked up."""
        assert self.top is not None
        if size == len(self.gallery.speakers):
            return self.top[:, :DEPTH]
        columns, short = self._members(self.top[:, : _depth_of(self.gallery, size)], draw, size, last)
        if short.any():
            columns[short], still = self._members(self.top[short], draw, size, last[short])
            for row in np.flatnonzero(short)[still]:
                columns[row] = self._alone(row)._looked_up(draw, size, last[[row]], depth=DEPTH)[0]
        return columns

    def _alone(self, row: np.intp) -> _Block:
        """Take one predicate out, whose gallery is sorted by itself."""
        return _Block(self.enroll[[row]], self.gallery, self.scores[[row]], None)

    def _members(
        self, top: NDArray[np.intp], draw: GalleryDraw, size: int, last: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Pick the first DEPTH columns of a gallery's members out of lists [rows, t]; and tell which have too few."""
        speaker = self.gallery.owner[top]
        member = (draw.position[speaker] < size - 1) | (speaker == last[:, None])
        first = np.argsort(~member, axis=1, kind="stable")[:, :DEPTH]
        return np.take_along_axis(top, first, axis=1), member.sum(axis=1) < DEPTH

    def _looked_up(
        self, draw: GalleryDraw, size: int, last: NDArray[np.intp], *, depth: int | None
    ) -> NDArray[np.intp]:
        """Sort the scores of one gallery by themselves; -1 fills rows with fewer than ``depth`` scores."""
        shared = self.gallery.rows_of(draw.order[: size - 1])
        extra = self.gallery.start[last][:, None] + np.arange(self.gallery.folds)[None, :]
        real = np.arange(self.gallery.folds)[None, :] < self.gallery.conversations[last][:, None]
        extra = np.minimum(extra, len(self.gallery.owner) - 1)
        added = np.where(real, np.take_along_axis(self.scores, extra, axis=1), -np.inf)
        scores = np.concatenate([self.scores[:, shared], added], axis=1)
        columns = np.concatenate(
            [np.broadcast_to(shared, (len(scores), len(shared))), np.where(real, extra, -1)], axis=1
        )
        first = highest(scores, scores.shape[1] if depth is None else min(depth, scores.shape[1]))
        return np.take_along_axis(columns, first, axis=1)

    def _decide(self, draw: GalleryDraw, columns: NDArray[np.intp], rank: NDArray[np.intp]) -> Outcome:
        """Decide every fold in single precision; rows with a test too near its threshold again in double."""
        real = columns >= 0
        scores = np.where(real, np.take_along_axis(self.scores, np.maximum(columns, 0), axis=1), -np.inf)
        outcome = self._folds(draw, columns, scores, rank)
        for row in np.flatnonzero(outcome.unsure):
            some = columns[row][real[row]]
            exact = unit_rows(self.gallery.vectors[some])
            exact = (exact * unit_rows(self.enroll[row : row + 1])).sum(axis=1)
            order = np.argsort(-exact, kind="stable")
            again = self._folds(draw, some[order][None], exact[order][None], rank[row : row + 1], margin=TIE)
            outcome.isolated[row], outcome.shallow[row] = again.isolated[0], again.shallow[0]
        return outcome

    def _folds(
        self,
        draw: GalleryDraw,
        columns: NDArray[np.intp],
        scores: NDArray[np.floating],
        rank: NDArray[np.intp],
        *,
        margin: float = 0.0,
    ) -> Outcome:
        place = np.where(columns >= 0, draw.place[columns], -1)
        count = self.gallery.conversations[self.gallery.owner[columns]]
        return fold_outcomes(scores, place, count, rank, folds=self.gallery.folds, margin=margin)
