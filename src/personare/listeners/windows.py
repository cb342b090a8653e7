"""Cutting long speech at its quietest points, and telling silence from sound, for models that take a short time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from personare.core.audio import Audio

if TYPE_CHECKING:
    from numpy.typing import NDArray

FRAME_S = 0.02
PAUSE_S = 0.2
SILENT_RMS = 5e-4  # -66 dB below full scale: about 16 steps of a 16-bit file


def frame_powers(audio: Audio) -> NDArray[np.float64]:
    """Mean square of each whole 20 ms frame [frames]; audio shorter than one frame is one frame."""
    size = min(max(1, round(FRAME_S * audio.rate_hz)), max(1, len(audio.samples)))
    whole = audio.samples[: len(audio.samples) // size * size].astype(np.float64)
    powers: NDArray[np.float64] = np.square(whole).reshape(-1, size).mean(axis=1)
    return powers


def is_silent(audio: Audio) -> bool:
    """Whether no 20 ms frame is louder than -66 dBFS.

    >>> is_silent(Audio(np.zeros(16_000, np.float32), 16_000))
    True
    """
    powers = frame_powers(audio)
    return not len(powers) or bool(powers.max() <= SILENT_RMS**2)


def windows_at_quiet_points(audio: Audio, *, longest_s: float) -> Iterator[Audio]:
    """Cut audio longer than ``longest_s`` in the middle of the quietest 0.2 s of each window's second half.

    >>> halves = windows_at_quiet_points(Audio(np.zeros(48_000, np.float32), 16_000), longest_s=2.0)
    >>> sum(len(window.samples) for window in halves)
    48000
    """
    rest = audio.samples
    longest = round(longest_s * audio.rate_hz)
    while len(rest) > longest:
        cut = _quietest(Audio(rest[:longest], audio.rate_hz))
        yield Audio(rest[:cut], audio.rate_hz)
        rest = rest[cut:]
    yield Audio(rest, audio.rate_hz)


def _quietest(window: Audio) -> int:
    """Sample in the middle of the quietest pause in the second half."""
    powers = frame_powers(window)
    width = max(1, round(PAUSE_S / FRAME_S))
    if len(powers) < 2 * width:
        return len(window.samples)
    smooth = np.convolve(powers, np.full(width, 1 / width), mode="valid")
    half = len(smooth) // 2
    middle = half + int(smooth[half:].argmin()) + width // 2
    return min(middle * round(FRAME_S * window.rate_hz), len(window.samples))
