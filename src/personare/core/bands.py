"""Source-filter synthesis by mel bands: pulses and noise, filtered. What training and use of the synthesizer share.

The sound is described every 96 samples at 16 kHz by the log-strengths of 80 harmonic and 40 noise bands, spaced evenly
on the mel scale. Between bands the log-strength is interpolated linearly; the harmonic part is filtered by the
minimum-phase filter, whose phase is a linear function of the log-strengths, hence one matrix.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

RATE_HZ = 16_000
HOP = 96  # samples between two descriptions
WINDOW = 384  # samples of source that one description filters; Hann windows of this length at this hop add up to 2
TRANSFORM = 768  # room for the filter to ring before and after
BINS = TRANSFORM // 2 + 1
HARMONIC_BANDS, NOISE_BANDS = 80, 40
BANDS = HARMONIC_BANDS + NOISE_BANDS


@cache
def mel_interpolation(bands: int) -> Floats:
    """Linear interpolation of mel bands: log-strengths [bands] @ this = log-strengths of every bin; [bands, bins]."""
    top = 2595 * np.log10(1 + RATE_HZ / 2 / 700)
    centres_hz = 700 * (10 ** (np.linspace(0, top, bands) / 2595) - 1)
    bins_hz = np.linspace(0, RATE_HZ / 2, BINS)
    return np.stack([np.interp(bins_hz, centres_hz, row) for row in np.eye(bands)]).astype(np.float32)


@cache
def minimum_phase(bands: int) -> Floats:
    """The phase of the minimum-phase filter: log-strengths [bands] @ this = radians of every bin; [bands, bins]."""
    cepstra = np.fft.irfft(mel_interpolation(bands).astype(np.float64), TRANSFORM, axis=1)
    fold = np.zeros(TRANSFORM)
    fold[0] = fold[TRANSFORM // 2] = 1.0
    fold[1 : TRANSFORM // 2] = 2.0
    return np.fft.rfft(cepstra * fold, axis=1).imag.astype(np.float32)


@cache
def window() -> Floats:
    """The Hann window of the source, scaled so that overlapping windows add up to 1."""
    return (0.5 * (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW))).astype(np.float32)


def pulses(f0_hz: Floats, *, phase: NDArray[np.float64] | float = 0.0) -> Floats:
    """One band-limited pulse per period, of power 1 at any F0: f0 [..., frames] -> samples [..., 96 frames].

    ``phase`` (0..1, [...]) is the phase at the start.
    """
    frames = f0_hz.shape[-1]
    places = np.clip((np.arange(frames * HOP) - HOP / 2 + 0.5) / HOP, 0, frames - 1)
    below = np.minimum(places.astype(np.intp), max(frames - 2, 0))
    share = places - below
    f0 = f0_hz[..., below] * (1 - share) + f0_hz[..., np.minimum(below + 1, frames - 1)] * share
    cycles = np.cumsum(f0.astype(np.float64) / RATE_HZ, axis=-1) + np.asarray(phase)[..., None]
    offset = cycles - np.rint(cycles)
    period = RATE_HZ / f0
    train: Floats = (np.sinc(offset * period) * np.sqrt(period)).astype(np.float32)
    return train


def synthesize(harmonic: Floats, noise: Floats, logs: Floats) -> Floats:
    """Filter sources [96 frames] by log-strengths [frames, 120]: samples [96 frames]."""
    from scipy import fft

    split = HARMONIC_BANDS
    magnitude, phase = logs[:, :split] @ mel_interpolation(split), logs[:, :split] @ minimum_phase(split)
    hiss = logs[:, split:] @ mel_interpolation(NOISE_BANDS)
    spectrum = _spectra(harmonic, len(logs)) * (np.exp(magnitude) * np.exp(1j * phase.astype(np.complex64)))
    spectrum += _spectra(noise, len(logs)) * np.exp(hiss)
    return _overlap_add(fft.irfft(spectrum, TRANSFORM, axis=1), len(logs))


def _spectra(source: Floats, frames: int) -> NDArray[np.complex64]:
    """Spectra of the source around the middle of every frame: [frames, bins]; frame k of samples is 96 k + 48 - 192."""
    from scipy import fft

    front = (WINDOW - HOP) // 2
    views = np.lib.stride_tricks.sliding_window_view(np.pad(source, (front, front)), WINDOW)[::HOP][:frames]
    margin = (TRANSFORM - WINDOW) // 2
    spectra: NDArray[np.complex64] = fft.rfft(np.pad(views * window(), ((0, 0), (margin, margin))), axis=1)
    return spectra


def _overlap_add(parts: Floats, frames: int) -> Floats:
    """Add overlapping frames [frames, 768] to samples [96 frames]."""
    overlaps = TRANSFORM // HOP
    total = np.zeros((frames + overlaps - 1, HOP), np.float32)
    for k in range(overlaps):
        total[k : k + frames] += parts[:, k * HOP : (k + 1) * HOP]
    return trim(total.reshape(-1), frames)


def trim(total: Floats, frames: int) -> Floats:
    """Cut what rings before the first and after the last frame."""
    front = (TRANSFORM - HOP) // 2
    return total[front : front + frames * HOP]
