"""Integrated loudness after ITU-R BS.1770-4, written from the standard's text alone, to judge what the library keeps.

Two filters in a row with the coefficients that the standard prints for 48 kHz (other rates are resampled), mean squares
of 400 ms every 100 ms, an absolute gate at -70 and a relative one 10 below what is left.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from personare.core.audio import Audio, resample

SHELF = ([1.53512485958697, -2.69169618940638, 1.19839281085285], [1.0, -1.69065929318241, 0.73248077421585])
HIGH_PASS = ([1.0, -2.0, 1.0], [1.0, -1.99004745483398, 0.99007225036621])


def loudness(samples: NDArray[np.float32], rate_hz: int) -> float:
    """Give the loudness of one channel in LKFS; sounds below 400 ms count as if silence followed."""
    sound = resample(Audio(samples, rate_hz), 48_000).samples.astype(np.float64)
    sound = np.pad(sound, (0, max(0, 19_200 - len(sound))))
    heard = lfilter(*HIGH_PASS, lfilter(*SHELF, sound))
    sums = np.concatenate([[0.0], np.cumsum(heard**2)])
    starts = np.arange(0, len(heard) - 19_200 + 1, 4_800)
    blocks = np.maximum((sums[starts + 19_200] - sums[starts]) / 19_200, 1e-30)
    each = -0.691 + 10 * np.log10(blocks)
    loud = each > -70
    if not loud.any():
        return -np.inf
    relative = -0.691 + 10 * np.log10(blocks[loud].mean()) - 10
    return float(-0.691 + 10 * np.log10(blocks[loud & (each > relative)].mean()))
