"""Speaking faster or slower without making the file longer: the pauses give or take the time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from personare.anonymizers.signal.vocoder import WorldParameters

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PAUSE = 10**-3.0  # part of the loud frames' energy
_PAUSE_FACTORS = (0.3, 3.0)  # a pause may shrink or grow this far


def change_speaking_rate(speech: WorldParameters, rate: float) -> WorldParameters:
    """Speak ``rate`` times as fast, or as near to that as the pauses allow; the first and last frames stay put."""
    energies = speech.envelope.sum(axis=1)
    is_speech = (energies > _PAUSE * np.quantile(energies, 0.9)) | (speech.f0_hz > 0)
    frames = source_frames(is_speech, rate)
    return replace(
        speech,
        f0_hz=speech.f0_hz[frames],
        envelope=speech.envelope[frames],
        aperiodicity=speech.aperiodicity[frames],
        source_frames=speech.source_frames[frames],
    )


def source_frames(is_speech: NDArray[np.bool_], rate: float) -> NDArray[np.intp]:
    """Give the frame of the original that each frame of the result shows (a time warp).

    >>> source_frames(np.array([True] * 4 + [False] * 4), 2.0).tolist()
    [0, 2, 4, 5, 5, 6, 7, 7]
    >>> source_frames(np.array([True, True, True]), 2.0).tolist()
    [0, 1, 2]
    """
    count, spoken = len(is_speech), int(is_speech.sum())
    pauses = count - spoken
    if not pauses or not spoken:
        return np.arange(count)
    pause_factor = float(np.clip((count - spoken / rate) / pauses, *_PAUSE_FACTORS))
    speech_factor = (count - pause_factor * pauses) / spoken
    if speech_factor <= 0:
        return np.arange(count)
    ends = np.cumsum(np.where(is_speech, speech_factor, pause_factor))
    starts = np.concatenate([[0.0], ends[:-1]])
    return np.rint(np.interp(np.arange(count), starts, np.arange(count))).astype(np.intp)
