"""Bringing an original and its anonymized version to one rate and one length, or refusing to compare them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from personare.core.audio import Audio, resample
from personare.core.errors import AudioError
from personare.listeners.windows import is_silent

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_APART = 0.05


def matched(original: Audio, anonymized: Audio, *, rate_hz: int, shortest_s: float) -> tuple[NDArray[np.float32], ...]:
    """Resample both to ``rate_hz`` and cut the longer to the shorter: two float32 [frames].

    Lengths more than 5 % apart, clips under ``shortest_s`` and silence are refused: no number could be trusted.
    """
    longer, shorter = sorted((original.duration_s, anonymized.duration_s), reverse=True)
    if longer - shorter > MOST_APART * longer:
        raise AudioError(
            f"original ({original.duration_s:.2f} s) and anonymized ({anonymized.duration_s:.2f} s) differ by more "
            "than 5 % in length; compare them with measures that need no reference"
        )
    if shorter < shortest_s:
        raise AudioError(f"{shorter:.2f} s are too short to compare; this measure needs {shortest_s:g} s")
    for name, audio in (("original", original), ("anonymized", anonymized)):
        if is_silent(audio):
            raise AudioError(f"the {name} is silent: there is nothing to compare")
    one, other = resample(original, rate_hz).samples, resample(anonymized, rate_hz).samples
    frames = min(len(one), len(other))
    return one[:frames], other[:frames]
