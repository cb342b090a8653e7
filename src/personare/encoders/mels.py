"""Mel spectrograms exactly as in the training of the two pretrained embedders (16 kHz, 25 ms every 10 ms)."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

RATE_HZ = 16_000
WINDOW = 400  # samples: 25 ms, also the length of the Fourier transform
HOP = 160  # samples: 10 ms
N_BINS = WINDOW // 2 + 1
_FLOOR = 1e-10
_RANGE_DB = 80.0
_BLOCK_FRAMES = 4096  # transformed at a time


def frame_count(n_samples: int) -> int:
    """How many frames a recording gives: one centred on every 10 ms, the first on its start."""
    return 1 + n_samples // HOP


def decibel_mels(samples: NDArray[np.float32], *, n_mels: int = 80) -> NDArray[np.float32]:
    """Give SpeechBrain's features: decibels over an 80 dB range, mean over time removed; [n_mels, frames].

    Parameters
    ----------
    samples : float32 [n] at 16 kHz.
    """
    mels = _filtered(samples, _hamming(), _slope_filters(n_mels))
    mels = 10 * np.log10(np.maximum(mels, np.float32(_FLOOR)))
    np.maximum(mels, mels.max() - np.float32(_RANGE_DB), out=mels)
    mels -= mels.mean(axis=0, dtype=np.float64).astype(np.float32)
    return np.ascontiguousarray(mels.T)


def power_mels(samples: NDArray[np.float32], *, n_mels: int = 40) -> NDArray[np.float32]:
    """Give librosa's mel power spectrogram (Hann window, Slaney's scale and areas); [frames, n_mels]."""
    return _filtered(samples, _hann(), _slaney_filters(n_mels))


def _filtered(
    samples: NDArray[np.float32], window: NDArray[np.float32], filters: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Filter the power spectrum of windows centred on every hop, zeros beyond the ends: [frames, n_mels]."""
    from scipy import fft

    padded = np.pad(samples.astype(np.float32, copy=False), WINDOW // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP]
    result = np.empty((len(frames), filters.shape[1]), np.float32)
    for first in range(0, len(frames), _BLOCK_FRAMES):
        block = slice(first, first + _BLOCK_FRAMES)
        spectrum = fft.rfft(frames[block] * window, axis=1)
        result[block] = (spectrum.real**2 + spectrum.imag**2) @ filters
    return result


@functools.cache
def _hamming() -> NDArray[np.float32]:
    return (0.54 - 0.46 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)).astype(np.float32)


@functools.cache
def _hann() -> NDArray[np.float32]:
    return (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)).astype(np.float32)


@functools.cache
def _slope_filters(n_mels: int) -> NDArray[np.float32]:
    """SpeechBrain's triangles [bins, n_mels]: O'Shaughnessy's mel scale, both sides as wide as the lower one."""
    top = 2595 * np.log10(1 + RATE_HZ / 2 / 700)
    edges_hz = 700 * (10 ** (np.linspace(0, top, n_mels + 2) / 2595) - 1)
    centres, widths = edges_hz[1:-1], np.diff(edges_hz)[:-1]
    away = (np.linspace(0, RATE_HZ / 2, N_BINS)[:, None] - centres) / widths
    triangles: NDArray[np.float64] = np.maximum(0, 1 - np.abs(away))
    return triangles.astype(np.float32)


@functools.cache
def _slaney_filters(n_mels: int) -> NDArray[np.float32]:
    """Slaney's triangles [bins, n_mels]: linear below 1 kHz, logarithmic above, of equal area."""
    step_hz, knee_hz, log_step = 200 / 3, 1000.0, np.log(6.4) / 27
    top = knee_hz / step_hz + np.log(RATE_HZ / 2 / knee_hz) / log_step
    mels = np.linspace(0, top, n_mels + 2)
    knee = knee_hz / step_hz
    edges_hz = np.where(mels < knee, step_hz * mels, knee_hz * np.exp(log_step * (mels - knee)))
    bins_hz = np.linspace(0, RATE_HZ / 2, N_BINS)[:, None]
    rising = (bins_hz - edges_hz[:-2]) / np.diff(edges_hz)[:-1]
    falling = (edges_hz[2:] - bins_hz) / np.diff(edges_hz)[1:]
    heights = 2 / (edges_hz[2:] - edges_hz[:-2])
    triangles: NDArray[np.float64] = np.maximum(0, np.minimum(rising, falling)) * heights
    return triangles.astype(np.float32)
