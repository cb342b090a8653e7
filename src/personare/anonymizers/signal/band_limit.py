"""Where the band of a recording ends: half its sample rate, or a cliff below it that a telephone or a codec has left.

A method that moves the frequency axis must not move such a cliff: everybody knows where telephones end, and would read
the secret factor off it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from personare.anonymizers.signal.phrases import excerpts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.core.audio import Audio

_WINDOW_S = 0.032
_BAND_HZ = 100.0
_LOWEST_HZ = 2000.0
_CLIFF_DB, _CLIFF_BANDS = 20.0, 3  # so far down within 300 Hz, and nothing above comes up again
_PLATEAU_BANDS = 8  # and so many bands before it are up: no formant is that wide
_LEAST_POWER = 1e-20


def band_limit_hz(audio: Audio) -> float:
    """Give the frequency above which there is hardly anything; half the sample rate where no cliff is seen."""
    levels = _long_term_db(audio)
    nyquist_hz = audio.rate_hz / 2
    first = int(_LOWEST_HZ / _BAND_HZ)
    above = np.maximum.accumulate(levels[::-1])[::-1]  # the loudest band from here up
    falls = [
        levels[i - _PLATEAU_BANDS : i + 1].min() - above[i + _CLIFF_BANDS]
        for i in range(first, len(levels) - _CLIFF_BANDS)
    ]
    if not falls or max(falls) < _CLIFF_DB:
        return nyquist_hz
    return min(nyquist_hz, (first + int(np.argmax(falls)) + 1) * _BAND_HZ)


def _long_term_db(audio: Audio) -> NDArray[np.float64]:
    """Give the mean power in bands of 100 Hz, in dB; empty for a sound without a single window."""
    length = round(_WINDOW_S * audio.rate_hz)
    total, count = np.zeros(length // 2 + 1), 0
    for part in excerpts(audio):
        if len(part.samples) >= length:
            frames = sliding_window_view(part.samples, length)[:: length // 2]
            for begin in range(0, len(frames), 256):  # a few seconds at a time: memory does not grow with length
                power = np.abs(np.fft.rfft(frames[begin : begin + 256] * np.hanning(length), axis=1)) ** 2
                total, count = total + power.sum(axis=0), count + len(power)
    if not count:
        return np.zeros(0)
    hz = np.fft.rfftfreq(length, 1 / audio.rate_hz)
    band = (hz / _BAND_HZ).astype(np.intp)
    means = np.bincount(band, weights=total) / np.maximum(np.bincount(band), 1)
    return 10 * np.log10(means[: int(audio.rate_hz / 2 / _BAND_HZ)] / count + _LEAST_POWER)
