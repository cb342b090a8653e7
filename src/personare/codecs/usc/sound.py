"""The small codec's sound: pulses at the decoded F0 and noise, shaped by the decoded bands (source and filter)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from personare.training.usc import grid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

LOWEST_HZ, HIGHEST_HZ = 55.0, 600.0
_PIECE = 2000  # sound frames shaped at a time, so that memory does not grow with the length


def synthesize(bands: Floats, octaves: Floats, *, rng: np.random.Generator) -> Floats:
    """Make 16 kHz samples from log-strengths [frames, 120] and F0 in octaves [frames]: [128 frames]."""
    f0_hz = np.clip(grid.MIDDLE_HZ * np.exp2(octaves), LOWEST_HZ, HIGHEST_HZ).astype(np.float32)
    harmonic = grid.pulses(f0_hz, turn=float(rng.random()))
    noise = rng.standard_normal(len(harmonic), dtype=np.float32)
    return shaped(harmonic, noise, bands)


def shaped(harmonic: Floats, noise: Floats, bands: Floats) -> Floats:
    """Shape sources [128 frames] by log-strengths [frames, 120]: samples [128 frames]."""
    frames = len(bands)
    overlaps = grid.TRANSFORM // grid.SOUND_HOP
    total = np.zeros((frames + overlaps - 1, grid.SOUND_HOP), np.float32)
    for first in range(0, frames, _PIECE):
        last = min(first + _PIECE, frames)
        parts = _filtered(_views(harmonic, first, last), _views(noise, first, last), bands[first:last])
        for k in range(overlaps):
            total[first + k : last + k] += parts[:, k * grid.SOUND_HOP : (k + 1) * grid.SOUND_HOP]
    front = (grid.TRANSFORM - grid.SOUND_HOP) // 2
    return total.reshape(-1)[front : front + frames * grid.SOUND_HOP]


def _views(source: Floats, first: int, last: int) -> Floats:
    """Windowed source around the middle of each frame, with room to ring: [frames, 1024]."""
    front = (grid.WINDOW - grid.SOUND_HOP) // 2
    low, high = first * grid.SOUND_HOP - front, last * grid.SOUND_HOP + front
    piece = source[max(low, 0) : high]
    piece = np.pad(piece, (max(-low, 0), max(high - len(source), 0)))
    views = np.lib.stride_tricks.sliding_window_view(piece, grid.WINDOW)[:: grid.SOUND_HOP]
    margin = (grid.TRANSFORM - grid.WINDOW) // 2
    # overlapping Hann windows at a quarter of their length add up to 2
    return np.pad(views * (grid.hann(grid.WINDOW) / 2), ((0, 0), (margin, margin)))


def _filtered(harmonic: Floats, noise: Floats, bands: Floats) -> Floats:
    from scipy import fft

    tonal, hiss = bands[:, : grid.HARMONIC_BANDS], bands[:, grid.HARMONIC_BANDS :]
    log_strength = tonal @ grid.interpolation(grid.HARMONIC_BANDS, grid.TRANSFORM)
    phase = tonal @ grid.minimum_phase(grid.HARMONIC_BANDS, grid.TRANSFORM)
    spectrum = fft.rfft(harmonic, axis=1) * np.exp(log_strength + 1j * phase.astype(np.complex64))
    spectrum += fft.rfft(noise, axis=1) * np.exp(hiss @ grid.interpolation(grid.NOISE_BANDS, grid.TRANSFORM))
    return np.asarray(fft.irfft(spectrum, grid.TRANSFORM, axis=1), np.float32)
