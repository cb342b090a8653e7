"""The WORLD vocoder: speech analysed into F0, spectral envelope and aperiodicity, changed, and synthesized again.

Long audio is processed phrase by phrase, so that memory does not grow with length; each phrase is analysed with a
second of what lies around it, as it would be within the whole. The result follows the loudness of the original every
5 ms; where the original is silent, it is silent.     [morise2016world]
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from personare.anonymizers.signal.frames import limit_peaks
from personare.anonymizers.signal.loudness import gains, k_weighted, levels
from personare.anonymizers.signal.phrases import FRAMES_PER_S, PERIOD_S, measured, phrases, refuse_nan, sample_at
from personare.core.audio import Audio, resample
from personare.core.errors import MissingExtraError
from personare.core.progress import advance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

WORLD_LIBRARIES = {"pyworld": "pitch"}  # what must be installed, and the extra that brings it
_FADE_FRAMES = 10
_SHORTEST_S = 0.1
_LIMIT_S = 0.0025
_LOWEST_HZ, _HIGHEST_HZ = 71.0, 600.0
_LEVEL_WINDOW_S = 0.04
_MAX_GAIN = 10.0
_D4C_LEAST_HZ = 16_000
_FARTHEST_DB = 0.4  # of a whole phrase from the loudness of the original


@dataclass(frozen=True, eq=False)
class WorldParameters:
    """The parameters of the vocoder, one row every 5 ms.

    Parameters
    ----------
    f0_hz : [frames], 0 where unvoiced.
    envelope : power at each frequency, [frames, bins].
    aperiodicity : the part of each frequency that is noise, 0..1, [frames, bins].
    source_frames : the frame of the original that each frame shows, [frames]; moved by a change of speaking rate.
    rate_hz : sample rate.
    first_frame : where in the whole recording the first frame lies.
    """

    f0_hz: Floats
    envelope: Floats
    aperiodicity: Floats
    source_frames: NDArray[np.intp]
    rate_hz: int
    first_frame: int = 0

    @property
    def frequencies_hz(self) -> Floats:
        """The frequency of each bin."""
        return np.linspace(0.0, self.rate_hz / 2, self.envelope.shape[1])


Change = Callable[[WorldParameters], WorldParameters]


def world_library() -> Any:
    """Import the vocoder, or say which extra it needs."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # pyworld asks for its version in a deprecated way
            import pyworld
    except ImportError:
        raise MissingExtraError("pitch", "the WORLD vocoder") from None
    return pyworld


def track_f0(audio: Audio) -> Floats:
    """Track F0 every 5 ms, 0 where unvoiced."""
    refuse_nan(audio)
    tracks = [_f0_analysis(audio, first, last, speed=1.0).f0_hz for first, last in phrases(audio)]
    return np.concatenate(tracks) if tracks else np.zeros(0)


def resynthesize(audio: Audio, change: Change, *, speed: float = 1.0) -> Audio:
    """Analyse audio, change its parameters, and synthesize it at its old length and loudness.

    ``speed`` other than 1 resamples the audio before the analysis, as if it were played at that speed: all formants are
    multiplied by it. F0 and duration are put back to what they were.
    """
    refuse_nan(audio)
    rate_hz = audio.rate_hz
    result = np.zeros(len(audio.samples), dtype=np.float32)
    for first, last in phrases(audio):
        begin = max(0, first - _FADE_FRAMES)
        start, joint, end = (sample_at(frame, rate_hz) for frame in (begin, first, last))
        samples = audio.samples[start:end]
        if not samples.any():
            result[start:joint] *= np.linspace(1.0, 0.0, joint - start, dtype=np.float32)
            advance((end - joint) / rate_hz)
            continue
        part = _synthesize(samples, change(_analyse(audio, begin, last, speed=speed)))
        rising = np.linspace(0.0, 1.0, joint - start)
        part[: joint - start] *= rising
        result[start:joint] *= (1.0 - rising).astype(np.float32)
        result[start:end] += part.astype(np.float32)
        advance((end - joint) / rate_hz)
    return Audio(limit_peaks(result, hop=round(_LIMIT_S * rate_hz)), rate_hz)


@dataclass(frozen=True, eq=False)
class _F0Analysis:
    """A stretch of audio with what lies around it, and its F0: ``times_s`` [frames] within ``sound`` at ``speed``."""

    sound: Floats
    f0_hz: Floats
    times_s: Floats
    speed: float


def _f0_analysis(audio: Audio, first: int, last: int, *, speed: float) -> _F0Analysis:
    """Track F0 of frames ``first`` to ``last``, analysed with a second before and after them."""
    start_s = max(0, first // FRAMES_PER_S - 1)  # whole seconds: whole samples and whole frames at any rate
    stop = sample_at(last + FRAMES_PER_S, audio.rate_hz)
    played_hz = round(audio.rate_hz * speed)
    piece = resample(Audio(audio.samples[start_s * audio.rate_hz : stop], played_hz), audio.rate_hz)
    speed = played_hz / audio.rate_hz
    sound = _padded(piece.samples, audio.rate_hz)
    f0 = _track(sound, audio.rate_hz, speed=speed)
    frames = slice(first - start_s * FRAMES_PER_S, last - start_s * FRAMES_PER_S)
    f0 = np.pad(f0, (0, max(0, frames.stop - len(f0))))[frames]
    times = np.arange(frames.start, frames.stop, dtype=np.float64) * (PERIOD_S / speed)
    return _F0Analysis(sound, f0, times, speed)


def _analyse(audio: Audio, first: int, last: int, *, speed: float) -> WorldParameters:
    world, rate_hz = world_library(), audio.rate_hz
    f0 = _f0_analysis(audio, first, last, speed=speed)
    size = world.get_cheaptrick_fft_size(rate_hz, _LOWEST_HZ * min(1.0, f0.speed))
    envelope = world.cheaptrick(f0.sound, f0.f0_hz, f0.times_s, rate_hz, fft_size=size)
    aperiodicity = _aperiodicity(f0.sound, f0.f0_hz, f0.times_s, rate_hz, size)
    return WorldParameters(f0.f0_hz / f0.speed, envelope, aperiodicity, np.arange(last - first), rate_hz, first)


def _aperiodicity(sound: Floats, f0_hz: Floats, times_s: Floats, rate_hz: int, size: int) -> Floats:
    """Measure by D4C, which reads up to 7.9 kHz whatever the rate: a lower one is doubled, or stray memory decides."""
    from scipy.signal import resample_poly

    world = world_library()
    if rate_hz >= _D4C_LEAST_HZ:
        aperiodicity: Floats = world.d4c(sound, f0_hz, times_s, rate_hz, fft_size=size)
        return aperiodicity
    doubled: Floats = world.d4c(resample_poly(sound, 2, 1), f0_hz, times_s, 2 * rate_hz, fft_size=2 * size)
    return np.ascontiguousarray(doubled[:, : size // 2 + 1])


def _synthesize(samples: NDArray[np.float32], speech: WorldParameters) -> Floats:
    """Synthesize in the place of ``samples``, as long and as loud as they are."""
    envelope, aperiodicity = np.ascontiguousarray(speech.envelope), np.ascontiguousarray(speech.aperiodicity)
    sound = world_library().synthesize(speech.f0_hz, envelope, aperiodicity, speech.rate_hz, 1000 * PERIOD_S)
    sound = sound[: len(samples)]
    sound = np.pad(sound, (0, len(samples) - len(sound)))
    return _match_loudness(samples.astype(np.float64), sound, speech.source_frames, speech.rate_hz)


def _match_loudness(original: Floats, sound: Floats, source_frames: NDArray[np.intp], rate_hz: int) -> Floats:
    """Follow the loudness of the original, frame by frame, whatever frame of it is shown at each moment."""
    target = _levels(original, rate_hz, len(source_frames))[:, source_frames]
    measured = _levels(sound, rate_hz, len(source_frames))
    gain = np.where(target[0] > 0, np.minimum(gains(target, measured), _MAX_GAIN), 0.0)
    centres = np.arange(len(source_frames)) * PERIOD_S * rate_hz
    levelled: Floats = sound * np.interp(np.arange(len(sound)), centres, gain)
    return _within(levelled, original, rate_hz)


def _within(levelled: Floats, original: Floats, rate_hz: int) -> Floats:
    """Bring a phrase as a whole within ``_FARTHEST_DB`` of the original's loudness: short ones drift at their ends."""
    before, after = (float(np.square(k_weighted(one, rate_hz)).sum()) for one in (original, levelled))
    if not before or not after:
        return levelled
    difference_db = 10 * np.log10(after / before)
    wanted_db = float(np.clip(difference_db, -_FARTHEST_DB, _FARTHEST_DB))
    brought: Floats = levelled * 10 ** ((wanted_db - difference_db) / 20)
    return brought


def _levels(sound: Floats, rate_hz: int, count: int) -> Floats:
    """Measure energy and K-weighted energy [2, count] under a Hann window around every 5 ms."""
    half = round(_LEVEL_WINDOW_S * rate_hz / 2)
    window = np.hanning(2 * half + 3)[1:-1]
    rows = np.rint(np.arange(count) * PERIOD_S * rate_hz).astype(np.intp)
    padded = np.pad(np.stack([sound, k_weighted(sound, rate_hz)]), ((0, 0), (half, half + int(rows[-1]) + 1)))
    windows = sliding_window_view(padded, 2 * half + 1, axis=1)[:, rows]
    energy, weighted_energy = np.einsum("kft,kft,t->kf", windows, windows, window)
    return levels(energy, weighted_energy)


def _track(sound: Floats, rate_hz: int, *, speed: float) -> Floats:
    world = world_library()
    rough, times = world.dio(
        sound,
        rate_hz,
        f0_floor=_LOWEST_HZ * speed,
        f0_ceil=_HIGHEST_HZ * speed,
        frame_period=1000 * PERIOD_S / speed,
    )
    track: Floats = world.stonemask(sound, rough, times, rate_hz)
    return track


def _padded(samples: NDArray[np.float32], rate_hz: int) -> Floats:
    missing = max(0, round(_SHORTEST_S * rate_hz) - len(samples))
    return np.pad(samples.astype(np.float64), (0, missing))


def warp_frequencies(speech: WorldParameters, sources_hz: Floats) -> WorldParameters:
    """Warp the frequency axis: each frequency of the result shows the original at ``sources_hz`` [bins]."""
    last = speech.envelope.shape[1] - 1
    places = np.clip(sources_hz / (speech.rate_hz / 2) * last, 0.0, last)
    below = np.minimum(places.astype(np.intp), last - 1)
    share = places - below
    envelope = speech.envelope[:, below] * (1 - share) + speech.envelope[:, below + 1] * share
    aperiodicity = speech.aperiodicity[:, below] * (1 - share) + speech.aperiodicity[:, below + 1] * share
    return replace(speech, envelope=envelope, aperiodicity=aperiodicity)


def transform_f0(speech: WorldParameters, *, source_hz: float, target_hz: float, spread: float) -> WorldParameters:
    """Move the median of F0 from ``source_hz`` to ``target_hz``, its range in octaves times ``spread``."""
    voiced = speech.f0_hz > 0
    f0 = np.zeros_like(speech.f0_hz)
    f0[voiced] = np.clip(target_hz * (speech.f0_hz[voiced] / source_hz) ** spread, 50.0, 700.0)
    return replace(speech, f0_hz=f0)


def voiced_median_hz(f0_hz: Floats) -> float | None:
    """Give the median F0 of the voiced frames, or None when there are hardly any.

    >>> voiced_median_hz(np.array([0.0, 100.0, 110.0, 120.0]))
    110.0
    """
    voiced = f0_hz[f0_hz > 0]
    return float(np.median(voiced)) if len(voiced) >= 3 else None


def median_f0_hz(audio: Audio) -> float | None:
    """Measure the median F0 of a recording, on at most ten minutes of it."""
    tracks = [track_f0(some) for some in measured(audio)]
    return voiced_median_hz(np.concatenate(tracks)) if tracks else None
