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
    """Find the columns of the ``many`` highest scores of each row [rows, many], falling."""
    if block.shape[1] <= max(STRIDE * STRIDE * 4, 4 * many):
        return _sorted_columns(block, many)
    return np.stack([_highest_of_row(row, many) for row in block])


def _sorted_columns(block: NDArray[np.float32], many: int) -> NDArray[np.intp]:
    columns = np.argpartition(block, block.shape[1] - many, axis=1)[:, -many:] if many < block.shape[1] else None
    if columns is None:
        return np.argsort(-block, axis=1, kind="stable")
    order = np.argsort(-np.take_along_axis(block, columns, axis=1), axis=1, kind="stable")
    return np.take_along_axis(columns, order, axis=1)


def _highest_of_row(row: NDArray[np.float32], many: int) -> NDArray[np.intp]:
    """Guess from every 16th score a bound that about twice as many exceed; sort only those."""
    sample = row[::STRIDE]
    depth = min(len(sample), 2 * many // STRIDE + 5)
    bound = np.partition(sample, len(sample) - depth)[len(sample) - depth]
    columns = np.flatnonzero(row >= bound)
    if not many <= len(columns) <= 8 * many + 256:
        columns = np.argpartition(row, len(row) - many)[-many:]
    order = np.argsort(-row[columns], kind="stable")[:many]
    best: NDArray[np.intp] = columns[order]
    return best
