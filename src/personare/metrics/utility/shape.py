"""Does the melody survive a change of tempo? Correlation of contours after pauses are cut and time is normalized.

A re-synthesized sentence has its own tempo and pauses, so frames of the same time do not belong together. Here a
contour (F0 or level per frame) loses its pauses, unvoiced stretches are interpolated, and the rest is divided into
``POINTS`` equally long stretches. The two lists of points are compared by Spearman's rank correlation, so that neither
level nor range counts.

zero line   the same correlation between an original and the rendering of **another** recording of the same words:
            what any two readings of these words share. Expression is what lies above it.

Pairs for the zero line have equal words and different speakers (where there are none, different utterances).
Deviations: no paper defines this; [turavecino2025usc] correlates frames, which needs equal timing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import MetricCard

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]

POINTS = 32
MOST_PARTNERS = 16  # recordings of the same words that one original is compared with
_READING = "1: the contour rises and falls as before; read it as the distance from the zero line, given as chance"
_CAUTION = "words alone give a zero line well above 0; without a second recording of the same words there is none"
F0_CARD = MetricCard(
    "f0_shape", "F0 shape (tempo removed)", "higher", (-1.0, 1.0), None, "turavecino2025usc", _READING, _CAUTION
)
ENERGY_CARD = MetricCard(
    "energy_shape", "Energy shape (tempo removed)", "higher", (-1.0, 1.0), None, "turavecino2025usc", _READING, _CAUTION
)


def contour_points(values: ArrayLike, speech: ArrayLike, *, points: int = POINTS) -> Floats:
    """Cut pauses out of a contour and sample it at ``points`` places: [points].

    Parameters
    ----------
    values : one number per frame; NaN where undefined (unvoiced), which is interpolated.
    speech : whether the frame is speech; others are cut.

    >>> contour_points([1, 9, 2, np.nan, 4], [True, False, True, True, True], points=2).tolist()
    [1.5, 3.5]
    """
    track, kept = np.asarray(values, np.float64), np.asarray(speech, bool)
    if track.ndim != 1 or track.shape != kept.shape or points < 2:
        raise MetricError(f"a contour is one number per frame and 2 points or more: {list(track.shape)}, {points}")
    track = track[kept]
    known = np.flatnonzero(np.isfinite(track))
    if len(known) < 2:
        raise MetricError(f"a contour needs two frames of speech with a value; this one has {len(known)}")
    filled = np.interp(np.arange(len(track)), known, track[known])
    # the mean of each stretch by the integral, so that stretches need not be whole frames
    integral = np.concatenate([[0.0], np.cumsum(filled)])
    edges = np.interp(np.linspace(0, len(filled), points + 1), np.arange(len(integral)), integral)
    means: Floats = np.diff(edges) * points / len(filled)
    return means


def shape_correlation(first: ArrayLike, second: ArrayLike) -> float:
    """Correlate the ranks of two lists of points; NaN where one of them is constant.

    >>> shape_correlation([1, 2, 4], [10, 30, 90]), shape_correlation([1, 2, 3], [3, 2, 1])
    (1.0, -1.0)
    """
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if a.ndim != 1 or a.shape != b.shape or len(a) < 2:
        raise MetricError(f"shapes are two equally long lists of points, not {list(a.shape)} and {list(b.shape)}")
    return float(shape_correlations(a[None], b[None])[0])


def shape_correlations(first: Floats, second: Floats) -> Floats:
    """Correlate the ranks of rows [pairs, points] with each other: [pairs]; NaN where a row is constant."""
    from scipy.stats import rankdata

    a, b = (rankdata(side, axis=1) for side in (first, second))
    a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    spread = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        correlations: Floats = np.where(spread > 0, (a * b).sum(axis=1) / spread, np.nan)
    return np.clip(correlations, -1.0, 1.0)


def same_words_pairs(texts: Sequence[str], speakers: Sequence[str], *, most: int = MOST_PARTNERS) -> Pairs:
    """Pair every utterance with others of the same words: indices [pairs] of the original and of the other rendering.

    Others are of other speakers where there are any. ``most`` of them are taken, evenly spaced over all.

    >>> one, other = same_words_pairs(["yes", "no", "Yes!"], ["a", "b", "c"])
    >>> one.tolist(), other.tolist()
    ([0, 2], [2, 0])
    """
    if len(texts) != len(speakers):
        raise MetricError(f"each text needs one speaker: {len(texts)} texts, {len(speakers)} speakers")
    by_words: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        words = _words(text)
        if words:
            by_words.setdefault(words, []).append(place)
    pairs: list[tuple[int, int]] = []
    for same in by_words.values():
        for one in same:
            others = [j for j in same if speakers[j] != speakers[one]] or [j for j in same if j != one]
            step = max(1, math.ceil(len(others) / most))
            pairs += [(one, other) for other in others[one % step :: step]]
    found = np.array(pairs, np.intp).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _words(text: str) -> str:
    return " ".join("".join(letter if letter.isalnum() else " " for letter in text.casefold()).split())
