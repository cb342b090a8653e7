"""How high a voice is, frame by frame, by a small neural network: SwiftF0 (30,000 weights, MIT), on a CPU, offline.

It was trained apart from any signal analysis, so that a result that both trackers give is not the tracker's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from personare.core.audio import Audio, resample
from personare.core.requirements import Requirements
from personare.encoders.swift import RATE_HZ, STEP_S, VOICED_FROM, swift_track
from personare.listeners.pitch import SHORTEST_S, PitchTracker, frame_count
from personare.listeners.windows import is_silent

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class SwiftPitch(PitchTracker):
    """Track pitch: a batch of Audio in, one track each out: Hz per frame, 0 where unvoiced.

    Parameters
    ----------
    lowest_hz, highest_hz : range of pitch that is looked for, within the model's 46.9 to 2093 Hz.
    voiced_from : confidence from which a frame is voiced.
    step_s : time from frame to frame; the model's own frames lie 16 ms apart, the nearest one is taken.
    threads : processor threads the model may use.
    """

    paper: ClassVar[str] = "Nieradzik, SwiftF0: fast and accurate monophonic pitch detection, 2025"
    requires = Requirements("the listener 'pitch-swift'", models=("swift-f0",))

    lowest_hz: float = 75.0
    highest_hz: float = 500.0
    voiced_from: float = VOICED_FROM
    step_s: float = 0.01
    threads: int = 1

    def __post_init__(self) -> None:
        if not (46.9 <= self.lowest_hz < self.highest_hz <= 2093 and 0 < self.voiced_from < 1):
            raise ValueError(f"46.9 <= lowest_hz < highest_hz <= 2093 and 0 < voiced_from < 1; not {self}")
        if not (0.001 <= self.step_s <= 0.1 and self.threads >= 1):
            raise ValueError(f"0.001 <= step_s <= 0.1 and threads >= 1; not {self}")

    @property
    def fingerprint(self) -> str:
        """Name the model and settings, for caches."""
        return f"swift-f0-0.3:{self.lowest_hz}:{self.highest_hz}:{self.voiced_from}:{self.step_s}"

    def __call__(self, batch: Sequence[Audio]) -> list[NDArray[np.float64]]:
        """Follow the pitch of each Audio, resampled to 16 kHz: float64 [frames]."""
        return [self._track(audio) for audio in batch]

    def _track(self, audio: Audio) -> NDArray[np.float64]:
        frames = frame_count(audio, self.step_s)
        if audio.duration_s < SHORTEST_S or is_silent(audio):
            return np.zeros(frames)
        pitch_hz, confidence = swift_track(
            resample(audio, RATE_HZ).samples,
            lowest_hz=self.lowest_hz,
            highest_hz=self.highest_hz,
            threads=self.threads,
        )
        track = np.where(confidence >= self.voiced_from, pitch_hz, 0.0)
        nearest = np.rint(np.arange(frames) * self.step_s / STEP_S).astype(int)
        found: NDArray[np.float64] = track[np.minimum(nearest, len(track) - 1)]
        return found
