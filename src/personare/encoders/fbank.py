"""Log mel energies as Kaldi computes them (16 kHz, 25 ms every 10 ms, whole frames only), for networks trained on them.

Each frame: mean removed, pre-emphasis 0.97, Hamming window, power of a Fourier transform of 512 points, 80 triangles
evenly spaced on the mel scale 1127 ln(1 + f / 700) between 20 Hz and half the rate, logarithm; then the mean over time
is removed from every band [povey2011kaldi].
Deviations: no dither.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

RATE_HZ = 16_000
WINDOW, HOP, POINTS = 400, 160, 512
BANDS = 80
LOWEST_HZ = 20.0
_EMPHASIS = 0.97
_FULL_SCALE = 32768.0
_FLOOR = float(np.finfo(np.float32).eps)


def log_mels(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Give the features of at least ``WINDOW`` samples: float32 [frames, 80], mean over time removed."""
    frames = np.lib.stride_tricks.sliding_window_view(samples.astype(np.float64) * _FULL_SCALE, WINDOW)[::HOP]
    frames = frames - frames.mean(axis=1, keepdims=True)
    before = np.concatenate([frames[:, :1], frames[:, :-1]], axis=1)
    frames = (frames - _EMPHASIS * before) * _window()
    power = np.abs(np.fft.rfft(frames, POINTS)) ** 2
    mels = np.log(np.maximum(power @ _triangles(), _FLOOR))
    centred: NDArray[np.float32] = (mels - mels.mean(axis=0)).astype(np.float32)
    return centred


@functools.cache
def _window() -> NDArray[np.float64]:
    window: NDArray[np.float64] = 0.54 - 0.46 * np.cos(2 * np.pi * np.arange(WINDOW) / (WINDOW - 1))
    return window


@functools.cache
def _triangles() -> NDArray[np.float64]:
    """Triangles in mel, [257, 80]; the bin at half the rate belongs to none, as in Kaldi."""

    def mel(hz: NDArray[np.float64] | float) -> NDArray[np.float64]:
        return np.asarray(1127.0 * np.log(1.0 + np.asarray(hz) / 700.0))

    edges = np.linspace(mel(LOWEST_HZ), mel(RATE_HZ / 2), BANDS + 2)
    bins = mel(np.arange(POINTS // 2 + 1) * RATE_HZ / POINTS)[:, None]
    rising = (bins - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - bins) / (edges[2:] - edges[1:-1])
    triangles: NDArray[np.float64] = np.maximum(0.0, np.minimum(rising, falling))
    triangles[-1] = 0.0
    return triangles
