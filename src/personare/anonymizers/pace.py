"""Speaking faster or slower without making the file longer: the pauses give or take the time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from personare.anonymizers.vocoder import Speech

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PAUSE = 10**-3.0  # part of the loud frames' energy
_PAUSE_FACTORS = (0.3, 3.0)  # a pause may shrink or grow this far


def paced(speech: Speech, rate: float) -> Speech:
    """Speak ``rate`` times as fast, or as near to that as the pauses allow; the first and last frames stay put."""
    energies = speech.envelope.sum(axis=1)
    words = (energies > _PAUSE * np.quantile(energies, 0.9)) | (speech.f0_hz > 0)
    shown = shown_frames(words, rate)
    return replace(
        speech,
        f0_hz=speech.f0_hz[shown],
        envelope=speech.envelope[shown],
        breath=speech.breath[shown],
        moments=speech.moments[shown],
    )


def shown_frames(words: NDArray[np.bool_], rate: float) -> NDArray[np.intp]:
    """Tell which frame to show at each moment.

    >>> shown_frames(np.array([True] * 4 + [False] * 4), 2.0).tolist()
    [0, 2, 4, 5, 5, 6, 7, 7]
    >>> shown_frames(np.array([True, True, True]), 2.0).tolist()
    [0, 1, 2]
    """
    count, spoken = len(words), int(words.sum())
    pauses = count - spoken
    if not pauses or not spoken:
        return np.arange(count)
    pause_factor = float(np.clip((count - spoken / rate) / pauses, *_PAUSE_FACTORS))
    word_factor = (count - pause_factor * pauses) / spoken
    if word_factor <= 0:
        return np.arange(count)
    ends = np.cumsum(np.where(words, word_factor, pause_factor))
    starts = np.concatenate([[0.0], ends[:-1]])
    return np.rint(np.interp(np.arange(count), starts, np.arange(count))).astype(np.intp)
