"""Does intonation survive? Correlation of the pitch (F0) before and after anonymization.

f0_spearman        Spearman's rank correlation over frames voiced in both; "up" and "down" count, not how far.
                   The "F0 SCC" of USC's table 1.                                    [turavecino2025usc, sec. 3.2]
pitch_correlation  Pearson's correlation after stretching the shorter track to the longer and shifting the anonymized
                   one by the lag with the largest cross-correlation; pitch outside 75 to 500 Hz counts as unvoiced.
                                                                              [tomashenko2022plan, rho_F0]

A track is one pitch in Hz per frame, 0 where unvoiced, the same frame step before and after. The challenge's text
correlates frames voiced in both tracks (``frames="voiced"``); its script correlates all frames, zeros included
(``frames="all"``), and that gave the published values: mostly it measures whether voicing agrees.

Deviations: an utterance without two such frames, or of constant pitch, has no correlation (NaN; the script says 0).
Spearman: the longer track is cut at its end; tracks that differ by more than a tenth in length are refused.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import Estimate, MetricCard
from personare.metrics.intervals import LEVEL, speaker_mean

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

CARD = MetricCard(
    name="f0_spearman",
    title="F0 Spearman correlation (SCC)",
    better="higher",
    bounds=(-1.0, 1.0),
    chance=0.0,
    cite="turavecino2025usc, table 1",
    reading="1: the pitch rises and falls as before; 0: the intonation is gone",
    caution="only frames voiced in both count: check how many are left",
)
PEARSON_CARD = MetricCard(
    name="pitch_correlation",
    title="Pitch correlation (VPC 2022)",
    better="higher",
    bounds=(-1.0, 1.0),
    chance=None,
    cite="tomashenko2022plan",
    reading="mean over utterances; the challenge asked for more than 0.3",
    caution="over all frames it mostly measures voicing; name the frames, and compare only with the same choice",
)
LOWEST_HZ, HIGHEST_HZ = 75.0, 500.0
Frames = Literal["voiced", "all"]


def f0_spearman(original_hz: ArrayLike, anonymized_hz: ArrayLike) -> float:
    """Correlate the ranks of the pitch in frames voiced in both; NaN where there is nothing to correlate.

    >>> f0_spearman([100, 0, 120, 140], [200, 210, 230, 500])
    1.0
    """
    a, b = _track(original_hz, "original"), _track(anonymized_hz, "anonymized")
    length = min(len(a), len(b))
    if abs(len(a) - len(b)) > 0.1 * max(len(a), len(b)):
        raise MetricError(f"pitch tracks of {len(a)} and {len(b)} frames do not belong together; use one frame step")
    both = (a[:length] > 0) & (b[:length] > 0)
    return _pearson(_ranks(a[:length][both]), _ranks(b[:length][both]))


def pitch_correlation(original_hz: ArrayLike, anonymized_hz: ArrayLike, *, frames: Frames) -> float:
    """Correlate two pitch tracks after alignment, as VoicePrivacy 2022 does; NaN where nothing can be correlated.

    >>> track = [0, 100, 120, 140, 130, 0, 0]
    >>> round(pitch_correlation(track, [0, 0, 100, 120, 140, 130, 0], frames="all"), 6)
    1.0
    """
    if frames not in ("voiced", "all"):
        raise MetricError(f"no choice of frames '{frames}'; use 'voiced' or 'all'")
    a, b = _track(original_hz, "original"), _track(anonymized_hz, "anonymized")
    length = max(len(a), len(b))
    a, b = _in_range(_stretched(a, length)), _in_range(_stretched(b, length))
    b = np.roll(b, lag_of(a, b))
    kept = (a > 0) & (b > 0) if frames == "voiced" else np.ones(length, dtype=bool)
    return _pearson(a[kept], b[kept])


def correlation_estimate(
    correlations: ArrayLike,
    *,
    speakers: ArrayLike,
    level: float = LEVEL,
) -> Estimate:
    """Average correlations of utterances, interval from leaving out speakers; NaN do not count: they have failed."""
    values, ids = np.asarray(correlations, dtype=np.float64), np.asarray(speakers)
    if values.ndim != 1 or values.shape != ids.shape:
        raise MetricError(f"each correlation needs one speaker: {list(values.shape)} and {list(ids.shape)}")
    defined = ~np.isnan(values)
    if not defined.any():
        raise MetricError(f"none of the {len(values)} utterances has a pitch correlation; are the tracks voiced?")
    _, who = np.unique(ids[defined], return_inverse=True)
    sums, counts = np.bincount(who, values[defined]), np.bincount(who)
    return speaker_mean(sums, counts, level=level, bounds=CARD.bounds)


def lag_of(a: Floats, b: Floats) -> int:
    """Find by how many frames ``b`` must move to have the largest cross-correlation with ``a`` (first if several)."""
    size = 1 << (2 * len(a) - 1).bit_length()
    circular = np.fft.irfft(np.fft.rfft(a, size) * np.fft.rfft(b, size).conj(), size)
    correlation = np.concatenate([circular[size - len(a) + 1 :], circular[: len(a)]])
    # FFT noise must not decide between equal peaks: the first within rounding wins.
    best = np.flatnonzero(correlation >= correlation.max() - 1e-9 * max(1.0, float(np.abs(correlation).max())))[0]
    return int(best) - (len(a) - 1)


def _track(pitch_hz: ArrayLike, name: str) -> Floats:
    array = np.asarray(pitch_hz, dtype=np.float64)
    if array.ndim != 1 or not len(array):
        raise MetricError(f"the {name} pitch must be one number per frame, not an array of shape {list(array.shape)}")
    if not np.isfinite(array).all() or (array < 0).any():
        raise MetricError(f"the {name} pitch must be 0 (unvoiced) or above; it holds negative, NaN or infinite values")
    return array


def _stretched(track: Floats, length: int) -> Floats:
    return (
        track if len(track) == length else np.interp(np.linspace(0, len(track) - 1, length), range(len(track)), track)
    )


def _in_range(track: Floats) -> Floats:
    return np.where((track < LOWEST_HZ) | (track > HIGHEST_HZ), 0.0, track)


def _ranks(values: Floats) -> Floats:
    """Rank from 1, equal values sharing their mean rank."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[place]


def _pearson(a: Floats, b: Floats) -> float:
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return math.nan
    a, b = a - a.mean(), b - b.mean()
    return float(np.clip((a @ b) / math.sqrt((a @ a) * (b @ b)), -1.0, 1.0))
