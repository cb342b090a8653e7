"""The galleries of Singling Out: who is in, which conversation is tested when, and every predicate's outcome in each.

Galleries of any size are prefixes of one random order of the people, so that one sorted list of the highest scores of
everybody (``highest_scores``) serves them all; small ones, which such a list would miss, are looked up directly. The
table of all scores never exists. Results equal those of sorting every fold by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np

from personare.core.errors import MetricError
from personare.core.vectors import PickedRows, unit_rows
from personare.metrics.privacy.highest_scores import Highest, UnitRows, highest_scores
from personare.metrics.privacy.isolation import Outcome, fold_outcomes, highest
from personare.metrics.privacy.vectors import grouped_speakers

if TYPE_CHECKING:
    from numpy.typing import NDArray

PREDICATES_AT_ONCE = 512  # so many are compared with everybody in one pass over the gallery
BLOCK_CELLS = 16_000_000  # 64 MB of scores at a time, where whole galleries are sorted by themselves
DEPTH = 40  # highest scores looked at per gallery: ten decide, the rest is reserve
DIRECT_CELLS = 16_384  # galleries with fewer conversations are looked up directly
TIE = 1e-12
EXACT_AT_ONCE = 8192  # conversations that are compared in double precision together


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

    @property
    def unit(self) -> UnitRows:
        """The conversations scaled to length 1, as they are asked for."""
        return UnitRows(self.vectors)

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


def gallery_of(vectors: NDArray[np.floating] | PickedRows, speakers: NDArray[np.generic], *, most: int) -> Gallery:
    """Sort conversations by speaker, keep the first ``most`` of each; every speaker needs two."""
    names, owner, counts = grouped_speakers(speakers)
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
    depth = _list_depth(gallery, sizes)
    direct = max((size for size in sizes if _is_direct(gallery, size)), default=0)
    for start in range(0, len(enroll), PREDICATES_AT_ONCE):
        part = slice(start, start + PREDICATES_AT_ONCE)
        unit = unit_rows(enroll[part], dtype=np.float32)
        top = highest_scores(unit, gallery.unit, depth) if depth else None
        view = _Predicates(enroll[part], unit, gallery, rank[part], None if own is None else own[part], top)
        for d, draw in enumerate(draws):
            near = gallery.unit.compare(unit, gallery.rows_of(draw.order[:direct]))
            listed = None if top is None else draw.position.astype(np.int32)[gallery.owner[top.columns]]
            for s, size in enumerate(sizes):
                isolated[part, s, d] = view.outcomes(_MetDraw(draw, near, listed), size)
    return isolated


def _list_depth(gallery: Gallery, sizes: Sequence[int]) -> int:
    """Choose how many of the highest scores to keep: enough for the smallest gallery that is not looked up directly."""
    listed = [size for size in sizes if not _is_direct(gallery, size)]
    return _depth_of(gallery, min(listed)) if listed else 0


def _depth_of(gallery: Gallery, size: int) -> int:
    """Choose how many of the highest scores of everybody hold enough of a gallery of this size."""
    share = len(gallery.speakers) / size
    return min(len(gallery.owner), int(DEPTH if share == 1 else 1.5 * DEPTH * share + 20))


def _is_direct(gallery: Gallery, size: int) -> bool:
    return size * len(gallery.owner) / len(gallery.speakers) <= DIRECT_CELLS


@dataclass(frozen=True, eq=False)
class _MetDraw:
    """One order of the people, as some predicates meet it.

    ``near`` are their scores with the people who come first [k, m], as far as any gallery is looked up directly;
    ``listed`` is where the speakers of their highest scores stand in that order [k, depth].
    """

    people: GalleryDraw
    near: NDArray[np.float32]
    listed: NDArray[np.int32] | None


@dataclass(frozen=True, eq=False)
class _Predicates:
    """Some predicates [k, d], as given and of length 1; their rank, their own speakers, and their highest scores."""

    enroll: NDArray[np.floating]
    unit: NDArray[np.float32]
    gallery: Gallery
    rank: NDArray[np.intp]
    own: NDArray[np.intp] | None
    top: Highest | None

    def outcomes(self, drawn: _MetDraw, size: int) -> NDArray[np.bool_]:
        """Give the outcomes [k, folds] in galleries of this size: the first ``size`` - 1 people, and one more."""
        draw = drawn.people
        last = np.full(len(self.enroll), draw.order[size - 1])
        if self.own is not None:
            last = np.where(draw.position[self.own] < size - 1, last, self.own)
        if self.top is None or _is_direct(self.gallery, size):
            found = self._looked_up(draw, size, last, depth=DEPTH, near=drawn.near)
        else:
            found = self._from_list(drawn, size, last)
        outcome = self._decide(draw, found)
        # most of the list belongs to one fold, or single precision cannot say who is in it: sort the whole gallery
        for rows in self._portions(np.flatnonzero(outcome.shallow), size):
            some = self._only(rows)
            whole = some._looked_up(draw, size, last[rows], depth=None)
            outcome.isolated[rows] = some._decide(draw, whole).isolated
        return outcome.isolated

    def _only(self, rows: NDArray[np.intp]) -> _Predicates:
        own = None if self.own is None else self.own[rows]
        return replace(self, enroll=self.enroll[rows], unit=self.unit[rows], rank=self.rank[rows], own=own, top=None)

    def _portions(self, rows: NDArray[np.intp], size: int) -> Iterator[NDArray[np.intp]]:
        """Divide predicates whose scores with a whole gallery are needed, so that those fit into memory."""
        step = max(1, BLOCK_CELLS // (size * self.gallery.folds))
        return (rows[start : start + step] for start in range(0, len(rows), step))

    def _from_list(self, drawn: _MetDraw, size: int, last: NDArray[np.intp]) -> Highest:
        """Pick the gallery's members out of the sorted list of everybody; rows with too few are looked up."""
        assert self.top is not None and drawn.listed is not None
        if size == len(self.gallery.speakers):
            return Highest(self.top.columns[:, :DEPTH], self.top.scores[:, :DEPTH])
        seat = drawn.people.position[last][:, None]
        first, short = _members(drawn.listed[:, : _depth_of(self.gallery, size)], size, seat)
        if short.any():
            first[short], still = _members(drawn.listed[short], size, seat[short])
            short[short] = still
        columns, scores = self.top.columns, self.top.scores
        found = Highest(np.take_along_axis(columns, first, axis=1), np.take_along_axis(scores, first, axis=1))
        for rows in self._portions(np.flatnonzero(short), size):
            alone = self._only(rows)._looked_up(drawn.people, size, last[rows], depth=DEPTH)
            found.columns[rows], found.scores[rows] = alone.columns, alone.scores
        return found

    def _looked_up(
        self,
        draw: GalleryDraw,
        size: int,
        last: NDArray[np.intp],
        *,
        depth: int | None,
        near: NDArray[np.float32] | None = None,
    ) -> Highest:
        """Sort the scores of one gallery by themselves, the ``depth`` highest or all of them."""
        shared = self.gallery.rows_of(draw.order[: size - 1])
        known = self.gallery.unit.compare(self.unit, shared) if near is None else near[:, : len(shared)]
        folds = np.arange(self.gallery.folds)[None, :]
        real = folds < self.gallery.conversations[last][:, None]
        extra = np.minimum(self.gallery.start[last][:, None] + folds, len(self.gallery.owner) - 1)
        vectors = self.gallery.unit[extra.ravel()].reshape(*extra.shape, -1)
        added = np.where(real, np.einsum("kd,kfd->kf", self.unit, vectors), np.float32(-np.inf))
        scores = np.concatenate([known, added], axis=1)
        first = highest(scores, scores.shape[1] if depth is None else min(depth, scores.shape[1]))
        of_last = np.take_along_axis(np.where(real, extra, -1), np.maximum(first - len(shared), 0), axis=1)
        columns = np.where(first < len(shared), shared[np.minimum(first, len(shared) - 1)], of_last)
        return Highest(columns, np.take_along_axis(scores, first, axis=1))

    def _decide(self, draw: GalleryDraw, found: Highest) -> Outcome:
        """Decide every fold in single precision; rows with a test too near its threshold again in double."""
        outcome = self._folds(draw, found, self.rank)
        for row in np.flatnonzero(outcome.unsure):
            some = found.columns[row][found.columns[row] >= 0]
            exact = self._exact(int(row), some)
            order = np.argsort(-exact, kind="stable")
            again = self._folds(
                draw, Highest(some[order][None], exact[order][None]), self.rank[row : row + 1], margin=TIE
            )
            outcome.isolated[row], outcome.shallow[row] = again.isolated[0], again.shallow[0]
        return outcome

    def _exact(self, row: int, columns: NDArray[np.intp]) -> NDArray[np.float64]:
        """Compare one predicate with some conversations in double precision."""
        unit = unit_rows(self.enroll[row : row + 1])
        parts = (columns[start : start + EXACT_AT_ONCE] for start in range(0, len(columns), EXACT_AT_ONCE))
        return np.concatenate([(unit_rows(self.gallery.vectors[some]) * unit).sum(axis=1) for some in parts])

    def _folds(self, draw: GalleryDraw, found: Highest, rank: NDArray[np.intp], *, margin: float = 0.0) -> Outcome:
        place = np.where(found.columns >= 0, draw.place[found.columns], -1)
        count = self.gallery.conversations[self.gallery.owner[found.columns]]
        return fold_outcomes(found.scores, place, count, rank, folds=self.gallery.folds, margin=margin)


def _members(
    listed: NDArray[np.int32], size: int, seat: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Find the first DEPTH of a gallery in lists of places in the order [k, t]: below ``size`` - 1, or ``seat`` [k, 1].

    Tells too which lists have too few of them.
    """
    member = (listed < size - 1) | (listed == seat)
    return np.argsort(~member, axis=1, kind="stable")[:, :DEPTH], member.sum(axis=1) < DEPTH
