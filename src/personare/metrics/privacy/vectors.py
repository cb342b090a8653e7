"""Checks on speaker vectors before anything is measured: same length, no NaN, every tested person enrolled once.

A speaker vector is a row of numbers that stands for a voice; two voices are compared by the cosine between their rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import MetricError
from personare.core.vectors import ROWS_AT_ONCE, PickedRows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def checked_vectors(vectors: ArrayLike, *, of: str) -> NDArray[np.floating]:
    """Return ``vectors`` [n, d] as a float array without NaN, infinite or all-zero rows; ``of`` names them in errors.

    >>> checked_vectors([[3, 4]], of="test").shape
    (1, 2)
    """
    array = np.asarray(vectors)
    if array.dtype.kind not in "fiu":
        raise MetricError(f"{of} vectors must be numbers, not {array.dtype}")
    if array.dtype.kind != "f":
        array = array.astype(np.float64)
    if array.ndim != 2 or array.shape[1] == 0:
        raise MetricError(f"{of} vectors must form a table [rows, dimensions]; this one has shape {list(array.shape)}")
    if array.shape[0] == 0:
        raise MetricError(f"there are no {of} vectors; give at least one")
    for start in range(0, len(array), ROWS_AT_ONCE):
        _check_rows(array[start : start + ROWS_AT_ONCE], of=of, start=start)
    return array


def _check_rows(rows: NDArray[np.floating], *, of: str, start: int) -> None:
    odd = ~np.isfinite(rows).all(axis=1)
    if odd.any():
        raise MetricError(f"{of} vectors must be finite; row {start + int(odd.argmax())} holds NaN or infinite values")
    zero = ~(rows != 0).any(axis=1)
    if zero.any():
        raise MetricError(f"{of} vectors need a direction; row {start + int(zero.argmax())} is all zeros")


def checked_speakers(speakers: ArrayLike, *, rows: int, of: str) -> NDArray[np.generic]:
    """Return one speaker (text or whole number) per row of a table with ``rows`` rows."""
    array = np.asarray(speakers)
    if array.shape != (rows,):
        raise MetricError(f"{rows} {of} vectors need {rows} speakers; got shape {list(array.shape)}")
    if array.dtype.kind not in "iuUSO":
        raise MetricError(f"{of} speakers must be text or whole numbers, not {array.dtype}")
    return array.astype(str) if array.dtype.kind in "SO" else array


def grouped_speakers(
    speakers: NDArray[np.generic],
) -> tuple[NDArray[np.generic], NDArray[np.intp], NDArray[np.intp]]:
    """Give the speakers, sorted [n]; whose each row is, as an index [rows]; how many rows each has [n].

    Rows that are in that order already are only compared with their neighbours: sorting a million names takes longer.

    >>> grouped_speakers(np.array(["ann", "ann", "bob"]))
    (array(['ann', 'bob'], dtype='<U3'), array([0, 0, 1]), array([2, 1]))
    """
    if len(speakers) and (speakers[1:] >= speakers[:-1]).all():  # type: ignore[operator]
        first = np.append(True, speakers[1:] != speakers[:-1])
        owner: NDArray[np.intp] = np.cumsum(first) - 1
        return speakers[first], owner, np.bincount(owner)
    return np.unique(speakers, return_inverse=True, return_counts=True)


def same_dimension(
    one: NDArray[np.floating] | PickedRows, two: NDArray[np.floating] | PickedRows, *, names: tuple[str, str]
) -> None:
    """Refuse two tables of vectors that cannot be compared."""
    if one.shape[1] != two.shape[1]:
        shapes = f"{names[0]} vectors have {one.shape[1]} dimensions, {names[1]} vectors {two.shape[1]}"
        raise MetricError(f"{shapes}; both must come from the same embedder")


def target_columns(test_speakers: NDArray[np.generic], enroll_speakers: NDArray[np.generic]) -> NDArray[np.intp]:
    """Find, for each test, the row of its speaker among the enrolled, each of whom must have exactly one row."""
    if (test_speakers.dtype.kind == "U") != (enroll_speakers.dtype.kind == "U"):
        raise MetricError("test and enrolment speakers must both be text or both be whole numbers")
    order = np.argsort(enroll_speakers, kind="stable")
    names = enroll_speakers[order]
    twice = names[1:] == names[:-1]
    if twice.any():
        raise MetricError(
            f"{twice.sum()} enrolment speakers repeat (first: '{names[int(twice.argmax())]}'); give one vector each"
        )
    place = np.minimum(np.searchsorted(names, test_speakers), len(names) - 1)
    absent = names[place] != test_speakers
    if absent.any():
        first = test_speakers[int(absent.argmax())]
        raise MetricError(f"{absent.sum()} tests have a speaker who is not enrolled (first: '{first}'); leave them out")
    columns: NDArray[np.intp] = order[place]
    return columns
