"""The arithmetic of Singling Out: from the few highest scores of one predicate to the outcome of all its folds.

For one enrolment vector, fold f tests one conversation of each person and calibrates on the others. Both the threshold
(midway between the r-th and (r+1)-th highest calibration score) and the question whether exactly one test score lies
above it depend on the highest few dozen of all scores only; they are picked once and serve every fold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEAR = 4e-6  # single precision cosines closer than this to a threshold are computed again
STRIDE = 16
COLUMN_BITS = 0xFFFFFFFF


@dataclass(frozen=True, eq=False)
class Outcome:
    """For each row: isolation per fold [rows, folds]; rows to compute again exactly, or with everybody's scores.

    A list of the highest scores is too shallow where it holds too few that calibrate, or where its last score is so
    near to those that single precision cannot say that the right ones are in it.
    """

    isolated: NDArray[np.bool_]
    unsure: NDArray[np.bool_]
    shallow: NDArray[np.bool_]


def fold_outcomes(
    scores: NDArray[np.floating],
    place: NDArray[np.integer],
    fold_count: NDArray[np.integer],
    rank: NDArray[np.integer],
    *,
    folds: int,
    margin: float = 0.0,
) -> Outcome:
    """Decide isolation in every fold from each row's highest scores.

    Parameters
    ----------
    scores : the highest scores of each row, falling [rows, t]; padded with -inf where there are fewer.
    place : the fold in which this conversation is its speaker's test [rows, t], -1 for padding.
    fold_count : how many conversations that speaker has, K [rows, t]; in fold f the one at place f mod K is the test.
    rank : r of each row; margin : a test counts as above the threshold when it exceeds it by more than this.
    """
    rows = np.arange(len(scores))
    isolated = np.empty((len(scores), folds), dtype=np.bool_)
    unsure = np.zeros(len(scores), dtype=np.bool_)
    shallow = np.zeros(len(scores), dtype=np.bool_)
    for fold in range(folds):
        test = (fold % fold_count) == place
        seen = np.cumsum(~test, axis=1, dtype=np.int32)
        upper = (seen >= rank[:, None]).argmax(axis=1)
        lower = (seen > rank[:, None]).argmax(axis=1)
        threshold = (scores[rows, upper].astype(np.float64) + scores[rows, lower]) / 2
        gap = np.where(test, scores - threshold[:, None], -np.inf)
        isolated[:, fold] = np.count_nonzero(gap > margin, axis=1) == 1
        unsure |= (np.abs(gap) <= NEAR).any(axis=1)
        shallow |= seen[:, -1] <= rank
        shallow |= scores[:, -1] >= scores[rows, lower] - 2 * NEAR  # single precision may have left a closer one out
    return Outcome(isolated, unsure, shallow)


def highest(block: NDArray[np.float32], many: int) -> NDArray[np.intp]:
    """Find the columns of the ``many`` highest scores of each row [rows, many], falling.

    A bound that about twice as many exceed is guessed from every 16th score; where it was a bad guess, all are sorted.
    """
    rows, width = block.shape
    sample = block[:, ::STRIDE]
    depth = 2 * many // STRIDE + 5
    if depth >= sample.shape[1] or width <= 4 * many:
        return _sorted_columns(block, many)
    bound = np.partition(sample, sample.shape[1] - depth, axis=1)[:, sample.shape[1] - depth]
    places = np.flatnonzero(block >= bound[:, None])
    row, column = np.divmod(places, width)
    counts = np.bincount(row, minlength=rows)
    guessed = (counts >= many) & (counts <= 8 * many + 256)
    kept = guessed[row]
    row, column = row[kept], column[kept]
    counts = np.where(guessed, counts, 0)
    keys = np.full((rows, max(many, int(counts.max()))), np.iinfo(np.int64).max)
    keys[row, np.arange(len(row)) - (np.cumsum(counts) - counts)[row]] = sort_keys(block[row, column], column)
    keys.sort(axis=1)
    best: NDArray[np.intp] = keys[:, :many] & COLUMN_BITS
    best[~guessed] = _sorted_columns(block[~guessed], many)
    return best


def sort_keys(scores: NDArray[np.float32], columns: NDArray[np.integer]) -> NDArray[np.int64]:
    """Give whole numbers that rise as scores fall, and with the columns (32 bits) where scores are equal.

    numpy sorts them several times faster than it sorts floats in a stable order, and the column is part of them. The
    bits of a float that is not negative rise with it; those of a negative one fall, and are turned round.

    >>> [int(key & COLUMN_BITS) for key in np.sort(sort_keys(np.float32([0.5, -1, 0.5, -2]), np.array([9, 1, 2, 3])))]
    [2, 9, 1, 3]
    """
    bits = (scores + np.float32(0)).view(np.int32).astype(np.int64)  # -0 is 0 then
    rising = np.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    keys: NDArray[np.int64] = (-rising << 32) | columns
    return keys


def _sorted_columns(block: NDArray[np.float32], many: int) -> NDArray[np.intp]:
    if many == block.shape[1]:
        return np.argsort(-block, axis=1, kind="stable")
    columns = np.argpartition(block, block.shape[1] - many, axis=1)[:, -many:]
    order = np.argsort(-np.take_along_axis(block, columns, axis=1), axis=1, kind="stable")
    return np.take_along_axis(columns, order, axis=1)
