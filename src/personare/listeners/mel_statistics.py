"""The colour of a voice in 130 openly computed numbers, without pitch and without length: statistics of mel bands.

Of the frames within 30 dB of the loudest, in 26 mel bands: the mean and the spread of the level against the frame's
own, the spread of the level over time, its mean movement from frame to frame, and the spectrum of the loudest third.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from personare.core.audio import Audio, resample
from personare.core.errors import AudioError
from personare.encoders.spectra import RATE_HZ, mel_bands, power_spectra
from personare.listeners.windows import is_silent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MELS = 26
SHORTEST_S = 0.3
GATE_DB = 30.0
LOUDEST_SHARE = 0.3
KINDS = ("mean", "spread", "change", "movement", "loud")
NAMES = tuple(f"mel_{band}_{kind}" for kind in KINDS for band in range(MELS))
_LEAST = 1e-10


@dataclass(frozen=True)
class MelStatistics:
    """Measure the colour of a voice: a batch of Audio in, one row of numbers each out, named by ``NAMES``."""

    paper: ClassVar[str] = ""

    fingerprint = "mel-statistics-1"

    def __call__(self, batch: Sequence[Audio]) -> list[Floats]:
        """Measure each Audio, resampled to 16 kHz: float64 [130]; silence is refused."""
        return [_measured(resample(audio, RATE_HZ)) for audio in batch]


def _measured(audio: Audio) -> Floats:
    if audio.duration_s < SHORTEST_S or is_silent(audio):
        raise AudioError(f"the colour of a voice needs {SHORTEST_S:g} s of sound; this is silent or shorter")
    power = power_spectra(audio.samples)
    level = 10 * np.log10(power.sum(axis=1) + _LEAST)
    loud = level >= np.quantile(level, 0.95) - GATE_DB
    bands = 10 * np.log10(power[loud] @ mel_bands(MELS).T + _LEAST)
    level = level[loud]
    relative = bands - level[:, None]
    steps = np.abs(np.diff(bands, axis=0)) if len(bands) > 1 else np.zeros((1, MELS))
    loudest = bands[level >= np.quantile(level, 1 - LOUDEST_SHARE)].mean(axis=0)
    parts = (relative.mean(axis=0), relative.std(axis=0), bands.std(axis=0), steps.mean(axis=0))
    return np.concatenate([*parts, loudest - loudest.mean()])
