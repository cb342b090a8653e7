"""Recordings as a network takes them: checked, resampled, cut to what memory allows, batched by length."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from personare.core.audio import resample
from personare.core.errors import AudioError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.core.audio import Audio

MAX_BATCH = 16
_BATCH_SAMPLES = 640_000  # 40 s at 16 kHz: what one call of a network may hold


def samples_at(audio: Audio, *, rate_hz: int) -> NDArray[np.float32]:
    """Give the samples at ``rate_hz``; no samples, or NaN, is an error."""
    if not len(audio.samples):
        raise AudioError("a recording without samples has no voice; remove it")
    if not np.isfinite(audio.samples).all():
        raise AudioError("a recording holds NaN or infinite samples; repair or remove it")
    samples = resample(audio, rate_hz).samples
    # one or two samples at a high rate may resample to none
    return samples if len(samples) else np.zeros(1, np.float32)


def segments_of(audio: Audio, *, rate_hz: int, longest_s: float, min_samples: int) -> list[NDArray[np.float32]]:
    """Cut a recording into equal segments of at most ``longest_s``; pad below ``min_samples`` with silence."""
    samples = samples_at(audio, rate_hz=rate_hz)
    if len(samples) < min_samples:
        samples = np.pad(samples, (0, min_samples - len(samples)))
    return np.array_split(samples, math.ceil(len(samples) / (longest_s * rate_hz)))


def by_length(segments: Sequence[NDArray[np.float32]]) -> list[list[int]]:
    """Group the positions of segments of equal length into batches of bounded size.

    >>> by_length([np.zeros(3), np.zeros(5), np.zeros(3)])
    [[0, 2], [1]]
    """
    groups: dict[int, list[int]] = defaultdict(list)
    for index, segment in enumerate(segments):
        groups[len(segment)].append(index)
    batches = []
    for length, positions in groups.items():
        size = max(1, min(MAX_BATCH, _BATCH_SAMPLES // max(length, 1)))
        batches += [positions[i : i + size] for i in range(0, len(positions), size)]
    return batches


def mean_of_segments(
    vectors: NDArray[np.float32], recordings: Sequence[Sequence[NDArray[np.float32]]]
) -> NDArray[np.float32]:
    """Give one vector per recording: the mean over its segments, weighted by their length."""
    if all(len(segments) == 1 for segments in recordings):
        return vectors
    lengths = np.array([len(segment) for segments in recordings for segment in segments], dtype=np.float64)
    starts = np.cumsum([0] + [len(segments) for segments in recordings[:-1]])
    total = np.add.reduceat(vectors * lengths[:, None], starts, axis=0)
    return (total / np.add.reduceat(lengths, starts)[:, None]).astype(np.float32)
