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

from personare.core.loudness import k_weighted as k_weighted
from personare.core.loudness import k_weighting as k_weighting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NEAR_DB = 0.5
MEMORY_S = 0.1
_UNWEIGHTED_SHARE = 1e-3


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
