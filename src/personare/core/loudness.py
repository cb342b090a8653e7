"""How loud a sound is to a listener: the K-weighting of broadcasting (ITU-R BS.1770).

What is above 1.7 kHz counts 4 dB more, what is below 40 Hz hardly counts.     [itu2015bs1770, annex 1]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_SHELF_HZ, _SHELF_DB, _SHELF_Q, _SHELF_MIDDLE = 1681.974450955533, 3.999843853973347, 0.7071752369554196, 0.499666774155
_LOW_HZ, _LOW_Q = 38.13547087602444, 0.5003270373238773
_BLOCK_S, _GATE_LUFS, _RELATIVE_GATE = 0.4, -70.0, 10.0
_OFFSET_DB = -0.691  # of the standard: a full-scale sine at 997 Hz on one channel is -3.01 dB


def k_weighting(rate_hz: int) -> tuple[Floats, Floats]:
    """Give the K-weighting filter b / a, a high shelf and a high pass in one, for any rate.

    The standard prints coefficients for 48 kHz; these are the analogue filters behind them, by bilinear transform.

    >>> b, a = k_weighting(48_000)
    >>> round(float(b[0]), 5), round(float(a[1]), 5)
    (1.53512, -3.68071)
    """
    t, q = np.tan(np.pi * _SHELF_HZ / rate_hz), _SHELF_Q
    top = 10 ** (_SHELF_DB / 20)
    middle = top**_SHELF_MIDDLE
    shelf = [top + middle * t / q + t * t, 2 * (t * t - top), top - middle * t / q + t * t]
    below = [1 + t / q + t * t, 2 * (t * t - 1), 1 - t / q + t * t]
    t, q = np.tan(np.pi * _LOW_HZ / rate_hz), _LOW_Q
    low = np.array([1 + t / q + t * t, 2 * (t * t - 1), 1 - t / q + t * t])
    b, a = np.convolve(shelf, [1.0, -2.0, 1.0]), np.convolve(below, low / low[0])
    return b / below[0], a / below[0]


def k_weighted(sound: Floats, rate_hz: int) -> Floats:
    """Apply the K-weighting filter to a sound [samples]."""
    from scipy.signal import lfilter

    weighted: Floats = lfilter(*k_weighting(rate_hz), sound)
    return weighted


def integrated_lufs(sound: Floats, rate_hz: int) -> float:
    """Give the gated loudness of a sound [samples]; minus infinity where all of it is below the gate.

    Loudness of blocks of 400 ms that overlap by three quarters, of those above -70 LUFS and no more than 10 below the
    mean of these.     [itu2015bs1770, annex 1, eqs. 3-7]
    Deviations: a sound shorter than a block is one block.

    >>> t = np.arange(48_000) / 48_000
    >>> round(integrated_lufs(np.sin(2 * np.pi * 997 * t), 48_000), 1)
    -3.0
    """
    weighted = k_weighted(np.asarray(sound, dtype=np.float64), rate_hz)
    size = max(1, min(len(weighted), round(_BLOCK_S * rate_hz)))
    total = np.concatenate([[0.0], np.cumsum(np.square(weighted))])
    starts = np.arange(0, len(weighted) - size + 1, max(1, size // 4)) if len(weighted) else np.zeros(0, np.intp)
    power = np.maximum((total[starts + size] - total[starts]) / size, 1e-15)
    power = power[_lufs(power) > _GATE_LUFS]
    if not len(power):
        return float("-inf")
    kept = power[_lufs(power) > float(_lufs(power.mean())) - _RELATIVE_GATE]
    return float(_lufs(kept.mean()))


def _lufs(power: Floats) -> Floats:
    values: Floats = _OFFSET_DB + 10 * np.log10(power)
    return values
