"""How high a voice is, frame by frame, by signal analysis: WORLD's DIO with StoneMask, or Harvest.

DIO looks for the lowest strong period, StoneMask refines it by instantaneous frequency; Harvest is steadier in noise
and costs about thirty times as much. [morise2016world]
"""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from personare.core.audio import Audio
from personare.core.errors import MissingExtraError
from personare.core.observations import Observation, ObservedUtterance, Stimulus, SummaryContext, UtilitySummary
from personare.core.protocols import Listener
from personare.core.requirements import Requirements
from personare.listeners.means import MeanOf, mean_findings
from personare.listeners.windows import is_silent
from personare.metrics.utility.pitch import f0_spearman, pitch_correlation
from personare.metrics.utility.voicing import voicing_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHORTEST_S = 0.05  # two periods of the lowest voice
MEANS = (
    MeanOf("f0_spearman", "f0_spearman"),
    MeanOf("pitch_correlation", "pitch_correlation_voiced", conditions={"frames": "voiced"}),
    MeanOf("pitch_correlation", "pitch_correlation_all", conditions={"frames": "all"}),
    MeanOf("voicing_error", "voicing_error"),
)


def frame_count(audio: Audio, step_s: float) -> int:
    """How many frames a track of this audio has: one at 0 s, then one each ``step_s``."""
    return int(audio.duration_s / step_s + 1e-9) + 1


def compare_tracks(original_hz: NDArray[np.float64], anonymized_hz: NDArray[np.float64]) -> Observation:
    """Compare two tracks of one utterance, each in Hz per frame, 0 where unvoiced."""
    values = {
        "f0_spearman": f0_spearman(original_hz, anonymized_hz),
        "pitch_correlation_voiced": pitch_correlation(original_hz, anonymized_hz, frames="voiced"),
        "pitch_correlation_all": pitch_correlation(original_hz, anonymized_hz, frames="all"),
        "voicing_error": voicing_error(original_hz, anonymized_hz),
    }
    return Observation(
        values={name: value for name, value in values.items() if not math.isnan(value)},
        missing={name: "nothing to correlate" for name, value in values.items() if math.isnan(value)},
    )


class PitchTracker(Listener):
    """A listener for pitch: a batch of Audio in, one track each out: Hz per frame, 0 where unvoiced."""

    gives: ClassVar[tuple[str, ...]] = ("f0_spearman", "pitch_correlation", "voicing_error")
    compares: ClassVar[bool] = True

    @abstractmethod
    def __call__(self, batch: Sequence[Audio]) -> list[NDArray[np.float64]]:
        """Follow the pitch of each Audio: float64 [frames]."""
        ...

    def observe(self, batch: Sequence[Stimulus]) -> list[Observation]:
        """Compare the pitch of each sound with its original's."""
        return [compare_tracks(*self(stimulus.pair)) for stimulus in batch]

    def summarize(self, rows: Sequence[ObservedUtterance], context: SummaryContext) -> UtilitySummary:
        """Average the correlations and the voicing error."""
        return UtilitySummary(mean_findings(rows, context, MEANS))


@dataclass(frozen=True)
class WorldPitch(PitchTracker):
    """Track pitch: a batch of Audio in, one track each out: Hz per frame, 0 where unvoiced.

    Parameters
    ----------
    method : ``dio`` (with StoneMask) or ``harvest``.
    lowest_hz, highest_hz : range of pitch that is looked for (75 to 500 Hz is VoicePrivacy's); sound below it is cut.
    step_s : time from frame to frame; frame i lies at i * step_s, whatever the sample rate.
    """

    paper: ClassVar[str] = "Morise et al., WORLD, 2016"
    requires = Requirements("the listener 'pitch'", {"pyworld": "pitch"})

    method: Literal["dio", "harvest"] = "dio"
    lowest_hz: float = 75.0
    highest_hz: float = 500.0
    step_s: float = 0.01

    def __post_init__(self) -> None:
        if not (0 < self.lowest_hz < self.highest_hz and 0.001 <= self.step_s <= 0.1):
            raise ValueError(f"0 < lowest_hz < highest_hz and 0.001 <= step_s <= 0.1; not {self}")

    @property
    def fingerprint(self) -> str:
        """Name the method and settings, for caches."""
        return f"world-{self.method}:{self.lowest_hz}:{self.highest_hz}:{self.step_s}"

    def __call__(self, batch: Sequence[Audio]) -> list[NDArray[np.float64]]:
        """Follow the pitch of each Audio: float64 [frames]."""
        return [self._track(audio) for audio in batch]

    def _track(self, audio: Audio) -> NDArray[np.float64]:
        frames = frame_count(audio, self.step_s)
        if audio.duration_s < SHORTEST_S or is_silent(audio):
            return np.zeros(frames)
        pyworld = _pyworld()
        samples = _without_hum(audio, below_hz=0.95 * self.lowest_hz)
        options = {"f0_floor": self.lowest_hz, "f0_ceil": self.highest_hz, "frame_period": 1000 * self.step_s}
        estimate = pyworld.dio if self.method == "dio" else pyworld.harvest
        track, times = estimate(samples, audio.rate_hz, **options)
        if self.method == "dio":
            track = pyworld.stonemask(samples, track, times, audio.rate_hz)
        return _fitted(np.asarray(track, np.float64), frames)


def _pyworld() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # it asks setuptools for its own version, in a way of the past
            import pyworld
    except ImportError:
        raise MissingExtraError("pitch", "the listener 'pitch'") from None
    return pyworld


def _without_hum(audio: Audio, *, below_hz: float) -> NDArray[np.float64]:
    """Take away what lies below any voice: DIO follows the hum of the mains (50 or 60 Hz) where a recording has it."""
    from scipy.signal import butter, sosfiltfilt

    steep = butter(6, below_hz, btype="highpass", fs=audio.rate_hz, output="sos")
    clean: NDArray[np.float64] = np.ascontiguousarray(sosfiltfilt(steep, audio.samples.astype(np.float64), padlen=0))
    return clean


def _fitted(track: NDArray[np.float64], frames: int) -> NDArray[np.float64]:
    """Bring a track that rounding made one frame too long or short to its length, with unvoiced frames."""
    fitted = np.zeros(frames)
    shared = min(frames, len(track))
    fitted[:shared] = np.where(np.isfinite(track[:shared]), track[:shared], 0.0)
    return fitted
