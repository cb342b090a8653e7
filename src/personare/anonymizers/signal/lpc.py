"""Linear prediction (LPC) of many frames at once: each frame split into a source and an all-pole filter.

x[n] = e[n] - a_1 x[n-1] - ... - a_p x[n-p] splits a frame into a source e and a filter 1/A (the vocal tract).

Sums run over the samples of one frame in a fixed order, so that a frame gives the same bits in a batch of any size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import as_strided

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_PREDICTABLE = 1e-11  # a frame whose error falls below this part of its energy is a pure tone: a higher order is noise


def lpc(frames: Floats, *, order: int) -> Floats:
    """Fit the prediction polynomials of frames [frames, samples] by the autocorrelation method: a [order + 1, frames].

    Silence is predicted by nothing: a = 1, 0, ..., 0.

    >>> lpc(np.array([[1.0, 0.5, 0.25, 0.125], [0.0, 0.0, 0.0, 0.0]]), order=1).round(3).tolist()
    [[1.0, 1.0], [-0.494, 0.0]]
    """
    return levinson(_autocorrelation(frames, order))


def _autocorrelation(frames: Floats, order: int) -> Floats:
    count, length = frames.shape
    padded = np.zeros((count, length + order))
    padded[:, :length] = frames
    return np.ascontiguousarray(np.einsum("fkt,ft->kf", _lagged(padded, order), frames))


def _lagged(padded: Floats, order: int) -> Floats:
    """View [frames, samples + order] as [frames, order + 1, samples], each lag one sample further on."""
    row, step = padded.strides
    shape = (len(padded), order + 1, padded.shape[1] - order)
    return as_strided(padded, shape, (row, step, step), writeable=False)


def levinson(r: Floats) -> Floats:
    """Solve the normal equations for autocorrelations r [p + 1, frames] by the Levinson-Durbin recursion."""
    a = np.zeros_like(r)
    a[0] = 1.0
    error, floor = r[0].copy(), _PREDICTABLE * r[0]
    for i in range(1, len(r)):
        sum_ = r[i] + (a[1:i] * r[i - 1 : 0 : -1]).sum(axis=0)
        going = error > floor
        reflection = np.where(going, -sum_ / np.where(going, error, 1.0), 0.0)
        a[1:i] += reflection * a[i - 1 : 0 : -1]
        a[i] = reflection
        error *= 1.0 - reflection * reflection
    return a


def residual(frames: Floats, a: Floats) -> Floats:
    """Give the prediction residual: e = A(z) x for frames [frames, samples], as [samples, frames]."""
    order, length = len(a) - 1, frames.shape[1]
    padded = np.zeros((len(frames), length + order))
    padded[:, order:] = frames
    backwards = np.ascontiguousarray(a[::-1].T)
    return np.ascontiguousarray(np.einsum("fkt,fk->ft", _lagged(padded, order), backwards).T)


def all_pole_filter(excitation: Floats, u: Floats, v: Floats) -> Floats:
    """Filter a source [samples, frames] by second-order sections 1 / (1 + u z^-1 + v z^-2): [frames, samples].

    One polynomial of high order would lose all digits where poles crowd together; second-order sections in a row do
    not. They work like an assembly line: at step n, section s does sample n - s, all sections and frames in one go.
    """
    sections, count = u.shape
    length = len(excitation)
    now, last, product = np.zeros((sections, count)), np.zeros((sections, count)), np.empty((sections, count))
    result = np.empty((length, count))
    rest = np.zeros(count)
    for n in range(length + sections - 1):
        now *= v  # two steps ago
        np.multiply(u, last, out=product)
        now += product
        np.subtract(excitation[n] if n < length else rest, now[0], out=now[0])
        np.subtract(last[:-1], now[1:], out=now[1:])
        now, last = last, now
        if n >= sections - 1:
            result[n - sections + 1] = last[-1]
    return np.ascontiguousarray(result.T)
