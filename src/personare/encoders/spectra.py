"""Short-time power spectra and mel bands at 16 kHz, for listeners that compute their own numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RATE_HZ = 16_000
STEP, WINDOW, POINTS = 160, 400, 512


def power_spectra(samples: NDArray[np.float32]) -> Floats:
    """Power in 257 bins of each 25 ms frame, every 10 ms: [frames, 257]; frame i is centred on i * 10 ms."""
    padded = np.pad(samples.astype(np.float64), WINDOW // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::STEP]
    spectra: Floats = np.abs(np.fft.rfft(frames * np.hanning(WINDOW), POINTS)) ** 2
    return spectra


def mel_bands(count: int) -> Floats:
    """Triangles, evenly spaced in mel from 20 to 7600 Hz: [count, 257]."""
    low, high = (2595 * np.log10(1 + hz / 700) for hz in (20.0, 7600.0))
    edges = 700 * (10 ** (np.linspace(low, high, count + 2) / 2595) - 1)
    hz = np.arange(POINTS // 2 + 1) * RATE_HZ / POINTS
    rising = (hz - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - hz) / (edges[2:] - edges[1:-1])[:, None]
    bands: Floats = np.maximum(0.0, np.minimum(rising, falling))
    return bands
