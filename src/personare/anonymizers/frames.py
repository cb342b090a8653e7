"""Short overlapping frames: sound is cut into them, each is changed, and they are joined again without a seam.

Both ends are generators over blocks of sound, so that a file of hours and a live stream are the same work: memory
holds a few frames, and the result does not depend on where the blocks were cut. The square root of a Hann window is
applied twice, before and after the change; frames half a frame apart then add up to exactly the sound that was cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from personare.core.errors import AudioError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Change = Callable[["Floats"], "Floats"]
BATCH_FRAMES = 1024
_LEAST_BATCH = 8  # numpy sums a batch of one in another order; padding keeps every frame's bits the same


def frame_length(window_ms: float, rate_hz: int) -> int:
    """Give the frame length in samples: even, at least 4, never longer than asked.

    >>> frame_length(20.0, 16_000), frame_length(20.0, 11_025)
    (320, 220)
    """
    return max(4, 2 * int(window_ms * rate_hz / 2000))


def sqrt_hann(length: int) -> Floats:
    """Give the square root of the periodic Hann window, which is a half sine."""
    return np.sin(np.pi * np.arange(length) / length)


def through_frames(
    blocks: Iterable[NDArray[np.float32]], *, length: int, change: Change
) -> Iterator[NDArray[np.float32]]:
    """Cut blocks into frames, change them in batches, join them: as many samples as came in, within full scale.

    The sample at n comes out when the sample at n + 1.5 ``length`` has come in, or at the end.
    """
    counted = _Counted(blocks)
    came_out = 0
    for hops in _limited(_joined(_cut(counted, length), length=length, change=change)):
        samples = hops.ravel()[: counted.samples - came_out]
        came_out += len(samples)
        if len(samples):
            yield samples.astype(np.float32)


class _Counted:
    """Passes blocks on, checked, and knows how many samples have come in."""

    def __init__(self, blocks: Iterable[NDArray[np.float32]]) -> None:
        self._blocks = blocks
        self.samples = 0

    def __iter__(self) -> Iterator[Floats]:
        for block in self._blocks:
            if not np.isfinite(block).all():
                raise AudioError(f"NaN or infinite samples after sample {self.samples}; repair the sound first")
            self.samples += len(block)
            yield block.astype(np.float64)


def _cut(blocks: _Counted, length: int) -> Iterator[Floats]:
    """Give batches of raw frames [frames, length], the first half a frame before the sound, the last one beyond it."""
    hop = length // 2
    waiting = np.zeros(hop)
    for block in blocks:
        waiting = np.concatenate([waiting, block])
        while len(waiting) >= length:
            count = min(BATCH_FRAMES, (len(waiting) - length) // hop + 1)
            yield sliding_window_view(waiting[: (count + 1) * hop], length)[::hop]
            waiting = waiting[count * hop :]
    # every sample needs two frames; `waiting` begins with the half frame whose second half is still missing
    hops = -(-len(waiting) // hop) if blocks.samples else 0
    if hops:
        ending = np.zeros((hops + 1) * hop)
        ending[: len(waiting)] = waiting
        yield sliding_window_view(ending, length)[::hop]


def _joined(batches: Iterable[Floats], *, length: int, change: Change) -> Iterator[Floats]:
    """Window, change, window again and add up: batches of finished half frames [hops, length / 2]."""
    window, hop = sqrt_hann(length), length // 2
    before = np.zeros(hop)
    first = True
    for batch in batches:
        changed = np.zeros((max(len(batch), _LEAST_BATCH), length))
        if batch.any():  # silence stays silent, at no cost
            np.multiply(batch, window, out=changed[: len(batch)])
            changed = change(changed)
        changed = changed[: len(batch)]
        changed *= window
        hops = changed[:, :hop].copy()
        hops[0] += before
        hops[1:] += changed[:-1, hop:]
        before = changed[-1, hop:].copy()
        yield hops[1:] if first else hops  # the first half frame lies before the sound
        first = False


def _limited(batches: Iterable[Floats]) -> Iterator[Floats]:
    """Turn down what would clip: the gain moves in straight lines between half frames, looking one half frame ahead."""
    held: Floats | None = None
    gain_before = 1.0
    for batch in batches:
        hops = batch if held is None else np.concatenate([held, batch])
        if len(hops) > 1:
            ceilings = _ceilings(hops)
            edges = np.minimum(ceilings[:-1], ceilings[1:])
            yield _ramped(hops[:-1], np.concatenate([[min(gain_before, ceilings[0])], edges]))
            gain_before = float(edges[-1])
        held = hops[-1:].copy()
    if held is not None and len(held):
        ceiling = float(_ceilings(held)[0])
        yield _ramped(held, np.array([min(gain_before, ceiling), ceiling]))  # silence follows


def _ceilings(hops: Floats) -> Floats:
    peaks = np.abs(hops).max(axis=1)
    ceilings: Floats = 1.0 / np.maximum(peaks, 1.0)
    return ceilings


def _ramped(hops: Floats, edges: Floats) -> Floats:
    """Apply a gain that goes from edges[i] to edges[i + 1] within half frame i; both are within its ceiling."""
    if (edges == 1.0).all():
        return hops
    way = np.arange(hops.shape[1]) / hops.shape[1]
    gain = edges[:-1, None] + (edges[1:] - edges[:-1])[:, None] * way
    within: Floats = np.clip(hops * gain, -1.0, 1.0)  # clips rounding only
    return within


def limited(samples: NDArray[np.float32], *, hop: int) -> NDArray[np.float32]:
    """Turn down the peaks of a whole sound that would clip."""
    if not len(samples) or np.abs(samples).max() <= 1.0:
        return samples
    hops = np.zeros(-(-len(samples) // hop) * hop)
    hops[: len(samples)] = samples
    whole = np.concatenate(list(_limited([hops.reshape(-1, hop)]))).ravel()
    return whole[: len(samples)].astype(np.float32)
