"""Overlap-add: audio is cut into short overlapping frames, each is changed, and they are added up again.

Both ends are generators over blocks of samples, so that a file of hours and a live stream are the same work: memory
holds a few frames, and the result does not depend on where the blocks were cut. The square root of a Hann window is
applied twice, before and after the change; frames half a frame apart then add up to exactly the sound that was cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from personare.anonymizers.signal.loudness import LoudnessMeter, gains
from personare.core.errors import AudioError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Change = Callable[["Floats"], "Floats"]
BATCH_FRAMES = 1024
_SILENT = 1e-300
_SMALLEST_BATCH = 8  # numpy sums a batch of one in another order; padding keeps every frame's bits the same


def frame_length(window_ms: float, rate_hz: int) -> int:
    """Give the frame length in samples: even, at least 4, never longer than asked.

    >>> frame_length(20.0, 16_000), frame_length(20.0, 11_025)
    (320, 220)
    """
    return max(4, 2 * int(window_ms * rate_hz / 2000))


def sqrt_hann(length: int) -> Floats:
    """Give the square root of the periodic Hann window, which is a half sine."""
    return np.sin(np.pi * np.arange(length) / length)


def overlap_add(
    blocks: Iterable[NDArray[np.float32]], *, length: int, change: Change, match_level_hz: int | None
) -> Iterator[NDArray[np.float32]]:
    """Cut blocks into frames, change them in batches, join them: as many samples as came in, within full scale.

    The sample at n comes out when the sample at n + 1.5 ``length`` has come in, or at the end. ``match_level_hz`` is
    the sample rate when the result shall be as loud as the original, None when it shall stay as the change gave it.
    """
    counted = _CountedBlocks(blocks)
    done = 0
    added = _added(_frames(counted, length), length=length, change=change)
    for hops in _apply_gains(_loudness_gains(added, rate_hz=match_level_hz)):
        samples = hops.ravel()[: counted.samples - done]
        done += len(samples)
        if len(samples):
            yield samples.astype(np.float32)


class _CountedBlocks:
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


def _frames(blocks: _CountedBlocks, length: int) -> Iterator[Floats]:
    """Give batches of raw frames [frames, length], the first half a frame before the sound, the last one beyond it."""
    hop = length // 2
    waiting = np.zeros(hop)
    for block in blocks:
        waiting = np.concatenate([waiting, block])
        while len(waiting) >= length:
            count = min(BATCH_FRAMES, (len(waiting) - length) // hop + 1)
            yield sliding_window_view(waiting[: (count + 1) * hop], length)[::hop]
            waiting = waiting[count * hop :]
    # every sample needs two frames; `waiting` begins with the half frame whose second half is still missing, and the
    # level of the last half frame depends on the one after it
    hops = 1 - (-len(waiting) // hop) if blocks.samples else 0
    if hops:
        ending = np.zeros((hops + 1) * hop)
        ending[: len(waiting)] = waiting
        yield sliding_window_view(ending, length)[::hop]


def _added(batches: Iterable[Floats], *, length: int, change: Change) -> Iterator[tuple[Floats, Floats]]:
    """Window, change, window again and add up: finished half frames [hops, length / 2] and the original ones."""
    window, hop = sqrt_hann(length), length // 2
    before = np.zeros(hop)
    first = 1  # the first half frame lies before the sound
    for batch in batches:
        changed = np.zeros((max(len(batch), _SMALLEST_BATCH), length))
        if batch.any():  # silence stays silent, at no cost
            np.multiply(batch, window, out=changed[: len(batch)])
            changed = change(changed)
        changed = changed[: len(batch)]
        changed *= window
        hops = changed[:, :hop].copy()
        hops[0] += before
        hops[1:] += changed[:-1, hop:]
        before = changed[-1, hop:].copy()
        if len(hops) > first:
            yield hops[first:], batch[first:, :hop]
        first = 0


def _loudness_gains(pairs: Iterable[tuple[Floats, Floats]], *, rate_hz: int | None) -> Iterator[tuple[Floats, Floats]]:
    """Give half frames and the gains [hops] that would make them as loud as the original ones; 1 without a rate."""
    if rate_hz is None:
        yield from ((hops, np.ones(len(hops))) for hops, _ in pairs)
        return
    measured, target = LoudnessMeter(rate_hz), LoudnessMeter(rate_hz)
    for hops, originals in pairs:
        yield hops, gains(target(originals), measured(hops))


def _apply_gains(steps: Iterable[tuple[Floats, Floats]]) -> Iterator[Floats]:
    """Apply target gains [hops] to half frames [hops, samples], and limit what would clip.

    The gain moves in straight lines between the edges of half frames, looking one half frame ahead.
    """
    held: tuple[Floats, Floats] | None = None
    gain_before = 0.0
    for step in steps:
        hops, targets = step if held is None else (np.concatenate(parts) for parts in zip(held, step, strict=True))
        ceilings = 1.0 / np.maximum(np.abs(hops).max(axis=1), _SILENT)
        if held is None:
            gain_before = min(float(targets[0]), float(ceilings[0]))
        edges = np.minimum(targets[1:], np.minimum(ceilings[:-1], ceilings[1:]))
        if len(edges):
            yield _ramped(hops[:-1], np.concatenate([[gain_before], edges]))
            gain_before = float(edges[-1])
        held = hops[-1:].copy(), targets[-1:].copy()
    if held is not None:
        yield _ramped(held[0], np.array([gain_before, gain_before]))


def _ramped(hops: Floats, edges: Floats) -> Floats:
    """Apply a gain that goes from edges[i] to edges[i + 1] within half frame i; both are within its ceiling."""
    if (edges == 1.0).all():
        return hops
    share = np.arange(hops.shape[1]) / hops.shape[1]
    gain = edges[:-1, None] + (edges[1:] - edges[:-1])[:, None] * share
    within: Floats = np.clip(hops * gain, -1.0, 1.0)  # clips rounding only
    return within


def limit_peaks(samples: NDArray[np.float32], *, hop: int) -> NDArray[np.float32]:
    """Limit the peaks of whole audio that would clip."""
    if not len(samples) or max(samples.max(), -samples.min()) <= 1.0:
        return samples
    result = np.empty_like(samples)
    done = 0
    for hops in _apply_gains(_unit_gains(samples, hop)):
        fitting = hops.ravel()[: len(samples) - done]
        result[done : done + len(fitting)] = fitting
        done += len(fitting)
    return result


def _unit_gains(samples: NDArray[np.float32], hop: int) -> Iterator[tuple[Floats, Floats]]:
    for start in range(0, len(samples), BATCH_FRAMES * hop):
        some = samples[start : start + BATCH_FRAMES * hop]
        hops = np.zeros((-(-len(some) // hop), hop))
        hops.ravel()[: len(some)] = some
        yield hops, np.ones(len(hops))
