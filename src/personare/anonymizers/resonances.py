"""Where the resonances (formants) of a voice lie on average: the five numbers that tell one throat from another.

The sound is brought to 11 kHz, brightened, and predicted in 25 ms frames with two poles per formant and two to spare;
poles that are narrow enough are resonances. The median is taken over the loud frames that show at least four. F5 is
often too weak to be seen; it is then put where a tube closed at one end would have it, at 9/7 of F4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from personare.anonymizers.lpc import prediction
from personare.anonymizers.phrases import excerpts
from personare.anonymizers.poles import pole_pairs
from personare.core.audio import Audio, resample

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_RATE_HZ = 11_000
_FRAME_S, _HOP_S = 0.025, 0.010
_BRIGHTEN = 0.97
_WIDEST_HZ, _LOWEST_HZ = 600.0, 150.0
_LOUD = 10**-2.5  # part of the loudest frame's energy
_LEAST_FRAMES = 10


def formants(audio: Audio) -> Floats | None:
    """Give the median F1..F5 in Hz (F1..F4 below 10 kHz), or None when too little of the sound is speech."""
    if len(audio.samples) < 2 * _FRAME_S * audio.rate_hz:
        return None
    rate_hz = min(audio.rate_hz, _RATE_HZ)
    wanted = 5 if rate_hz >= 10_000 else 4
    measured = [_measure(resample(part, rate_hz).samples, rate_hz, wanted) for part in excerpts(audio)]
    energies = np.concatenate([energy for energy, _ in measured])
    places = np.concatenate([place for _, place in measured])
    if not len(energies):
        return None
    chosen = (energies > _LOUD * energies.max()) & np.isfinite(places[:, :4]).all(axis=1)
    if chosen.sum() < _LEAST_FRAMES:
        return None
    found: Floats = np.median(places[chosen, :4], axis=0)
    fifth = places[chosen, 4:]
    if not fifth.size:
        return found
    seen = fifth[np.isfinite(fifth)]
    return np.append(found, np.median(seen) if 2 * len(seen) >= len(fifth) else found[3] * 9 / 7)


def _measure(samples: NDArray[np.float32], rate_hz: int, wanted: int) -> tuple[Floats, Floats]:
    """Give the energy of each frame and its resonances in Hz [frames, wanted], NaN where there are fewer."""
    length, hop = round(_FRAME_S * rate_hz), round(_HOP_S * rate_hz)
    if len(samples) <= length:
        return np.zeros(0), np.zeros((0, wanted))
    bright = np.diff(samples.astype(np.float64)) + (1 - _BRIGHTEN) * samples[:-1]
    frames = sliding_window_view(bright, length)[::hop] * np.hamming(length)
    u, v = pole_pairs(prediction(frames, order=2 * wanted + 2))
    places, widths = _places(u, v, rate_hz)
    keep = (places > _LOWEST_HZ) & (places < rate_hz / 2 - 100) & (widths < _WIDEST_HZ)
    found = np.sort(np.where(keep, places, np.inf), axis=0)[:wanted]
    found[~np.isfinite(found)] = np.nan
    return np.square(frames).sum(axis=1), found.T


def _places(u: Floats, v: Floats, rate_hz: int) -> tuple[Floats, Floats]:
    """Turn pole pairs z^2 + u z + v into frequencies and bandwidths in Hz; real poles are infinitely wide."""
    turning = u * u < 4 * v
    radius = np.sqrt(np.where(turning, v, 1.0))
    angle = np.arccos(np.clip(-u / (2 * radius), -1.0, 1.0))
    places = np.where(turning, angle * rate_hz / (2 * np.pi), 0.0)
    widths = np.where(turning, -np.log(radius) * rate_hz / np.pi, np.inf)
    return places, widths
