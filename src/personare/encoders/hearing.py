"""Before a network listens: recordings checked, brought to its rate, cut to what memory allows, sorted by length."""

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


def heard(audio: Audio, *, rate_hz: int) -> NDArray[np.float32]:
    """Give the samples at ``rate_hz``; nothing to hear, or NaN, is an error."""
    if not len(audio.samples):
        raise AudioError("a recording without samples has no voice; remove it")
    if not np.isfinite(audio.samples).all():
        raise AudioError("a recording holds NaN or infinite samples; repair or remove it")
    samples = resample(audio, rate_hz).samples
    # one or two samples at a high rate may resample to none
    return samples if len(samples) else np.zeros(1, np.float32)


def pieces_of(audio: Audio, *, rate_hz: int, longest_s: float, shortest: int) -> list[NDArray[np.float32]]:
    """Cut a recording into equal pieces of at most ``longest_s``; pad one below ``shortest`` samples with silence."""
    samples = heard(audio, rate_hz=rate_hz)
    if len(samples) < shortest:
        samples = np.pad(samples, (0, shortest - len(samples)))
    return np.array_split(samples, math.ceil(len(samples) / (longest_s * rate_hz)))


def by_length(pieces: Sequence[NDArray[np.float32]]) -> list[list[int]]:
    """Group the positions of pieces of equal length into batches of bounded size.

    >>> by_length([np.zeros(3), np.zeros(5), np.zeros(3)])
    [[0, 2], [1]]
    """
    groups: dict[int, list[int]] = defaultdict(list)
    for index, piece in enumerate(pieces):
        groups[len(piece)].append(index)
    batches = []
    for length, where in groups.items():
        size = max(1, min(MAX_BATCH, _BATCH_SAMPLES // max(length, 1)))
        batches += [where[i : i + size] for i in range(0, len(where), size)]
    return batches


def mean_of_pieces(vectors: NDArray[np.float32], cut: Sequence[Sequence[NDArray[np.float32]]]) -> NDArray[np.float32]:
    """Give one vector per recording: the mean over its pieces, weighted by their length."""
    if all(len(pieces) == 1 for pieces in cut):
        return vectors
    lengths = np.array([len(piece) for pieces in cut for piece in pieces], dtype=np.float64)
    starts = np.cumsum([0] + [len(pieces) for pieces in cut[:-1]])
    total = np.add.reduceat(vectors * lengths[:, None], starts, axis=0)
    return (total / np.add.reduceat(lengths, starts)[:, None]).astype(np.float32)
