"""Loudness (ITU-R BS.1770), moment by moment, so that a changed voice can be kept as loud as the original.

Loudness is measured as broadcasting does, K-weighted: what is above 1.7 kHz counts 4 dB more, what is below 40 Hz
hardly counts.     [itu2015bs1770, annex 1]

A voice whose formants have moved cannot keep both its energy and its loudness. The gain shares the difference out
between the two, as long as loudness is not further off than ``NEAR_DB``; beyond that, loudness goes first.
Deviations: a thousandth of the unweighted energy is counted, so that a sound of inaudible rumble has a level too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NEAR_DB = 0.5
MEMORY_S = 0.1
_SHELF_HZ, _SHELF_DB, _SHELF_Q, _SHELF_MIDDLE = 1681.974450955533, 3.999843853973347, 0.7071752369554196, 0.499666774155
_LOW_HZ, _LOW_Q = 38.13547087602444, 0.5003270373238773
_UNWEIGHTED_SHARE = 1e-3


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


def gains(target: Floats, measured: Floats) -> Floats:
    """Give the factors on the amplitude that bring ``measured`` to the loudness of ``target``; 1 where one is silent.

    Parameters
    ----------
    target, measured : energy and K-weighted energy, [2, stretches].

    >>> gains(np.array([[4.0, 0.0], [4.0, 0.0]]), np.ones((2, 2))).tolist()
    [2.0, 1.0]
    """
    sounding = (target > 0).all(axis=0) & (measured > 0).all(axis=0)
    energy, loudness = np.where(sounding, target, 1.0) / np.where(sounding, measured, 1.0)
    near = 10 ** (NEAR_DB / 10)
    power = loudness * np.clip(np.sqrt(energy / loudness), 1 / near, near)
    amplitude: Floats = np.sqrt(power)
    return amplitude


def k_weighted(sound: Floats, rate_hz: int) -> Floats:
    """Apply the K-weighting filter to a sound [samples]."""
    from scipy.signal import lfilter

    weighted: Floats = lfilter(*k_weighting(rate_hz), sound)
    return weighted


def levels(energy: Floats, weighted_energy: Floats) -> Floats:
    """Put energies and K-weighted energies [stretches] together, for ``gains``."""
    return np.stack([energy, weighted_energy + _UNWEIGHTED_SHARE * energy])


class LoudnessMeter:
    """Measures stretches of equal length that follow each other; knows the sound before them, fading in memory."""

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._b, self._a = k_weighting(rate_hz)
        self._filter_state = np.zeros(len(self._a) - 1)
        self._memory = np.zeros((2, 1))

    def __call__(self, stretches: Floats) -> Floats:
        """Give the recent energy and K-weighted energy [2, stretches] after each stretch of [stretches, samples]."""
        from scipy.signal import lfilter

        waves, self._filter_state = lfilter(self._b, self._a, stretches.ravel(), zi=self._filter_state)
        energy = np.square(stretches).sum(axis=1)
        weighted_energy = np.square(waves.reshape(stretches.shape)).sum(axis=1)
        decay = np.exp(-stretches.shape[1] / (MEMORY_S * self._rate_hz))
        recent: Floats
        recent, self._memory = lfilter([1.0], [1.0, -decay], levels(energy, weighted_energy), zi=self._memory)
        return recent
