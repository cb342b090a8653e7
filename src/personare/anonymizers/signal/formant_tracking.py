"""Formant tracking: the median frequencies of F1 to F5, which tell one vocal tract from another.

The audio is resampled to 11 kHz, pre-emphasized, and predicted in 25 ms frames with two poles per formant and two to
spare; poles that are narrow enough are formants. The median is taken over the loud frames that show at least four. F5
is often too weak to be seen; it is then put where a tube closed at one end would have it, at 9/7 of F4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from personare.anonymizers.signal.lpc import lpc
from personare.anonymizers.signal.phrases import measured
from personare.anonymizers.signal.poles import pole_pairs
from personare.core.audio import Audio, resample

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_RATE_HZ = 11_000
_FRAME_S, _HOP_S = 0.025, 0.010
_PRE_EMPHASIS = 0.97
_MAX_BANDWIDTH_HZ, _LOWEST_HZ = 600.0, 150.0
_LOUD = 10**-2.5  # part of the loudest frame's energy
_FEWEST_FRAMES = 10


def median_formants_hz(audio: Audio) -> Floats | None:
    """Give the median F1..F5 in Hz (F1..F4 below 10 kHz), or None when too little of the sound is speech."""
    if len(audio.samples) < 2 * _FRAME_S * audio.rate_hz:
        return None
    rate_hz = min(audio.rate_hz, _RATE_HZ)
    count = 5 if rate_hz >= 10_000 else 4
    tracks = [_track(resample(part, rate_hz).samples, rate_hz, count) for part in measured(audio)]
    energies = np.concatenate([energy for energy, _ in tracks])
    formants_hz = np.concatenate([formants for _, formants in tracks])
    if not len(energies):
        return None
    chosen = (energies > _LOUD * energies.max()) & np.isfinite(formants_hz[:, :4]).all(axis=1)
    if chosen.sum() < _FEWEST_FRAMES:
        return None
    first_four: Floats = np.median(formants_hz[chosen, :4], axis=0)
    fifth = formants_hz[chosen, 4:]
    if not fifth.size:
        return first_four
    visible = fifth[np.isfinite(fifth)]
    return np.append(first_four, np.median(visible) if 2 * len(visible) >= len(fifth) else first_four[3] * 9 / 7)


def _track(samples: NDArray[np.float32], rate_hz: int, count: int) -> tuple[Floats, Floats]:
    """Give the energy of each frame and its formants in Hz [frames, count], NaN where there are fewer."""
    length, hop = round(_FRAME_S * rate_hz), round(_HOP_S * rate_hz)
    if len(samples) <= length:
        return np.zeros(0), np.zeros((0, count))
    emphasized = np.diff(samples.astype(np.float64)) + (1 - _PRE_EMPHASIS) * samples[:-1]
    frames = sliding_window_view(emphasized, length)[::hop] * np.hamming(length)
    u, v = pole_pairs(lpc(frames, order=2 * count + 2))
    frequencies, bandwidths = _frequencies(u, v, rate_hz)
    keep = (frequencies > _LOWEST_HZ) & (frequencies < rate_hz / 2 - 100) & (bandwidths < _MAX_BANDWIDTH_HZ)
    formants = np.sort(np.where(keep, frequencies, np.inf), axis=0)[:count]
    formants[~np.isfinite(formants)] = np.nan
    return np.square(frames).sum(axis=1), formants.T


def _frequencies(u: Floats, v: Floats, rate_hz: int) -> tuple[Floats, Floats]:
    """Turn pole pairs z^2 + u z + v into frequencies and bandwidths in Hz; real poles are infinitely wide."""
    is_complex = u * u < 4 * v
    radius = np.sqrt(np.where(is_complex, v, 1.0))
    angle = np.arccos(np.clip(-u / (2 * radius), -1.0, 1.0))
    frequencies = np.where(is_complex, angle * rate_hz / (2 * np.pi), 0.0)
    bandwidths = np.where(is_complex, -np.log(radius) * rate_hz / np.pi, np.inf)
    return frequencies, bandwidths
