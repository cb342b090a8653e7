"""The WORLD vocoder at our border: speech taken apart into pitch, envelope and breath, changed, and put together again.

Long sound is cut in the quietest place of every twenty seconds, so that memory does not grow with length. The result
follows the loudness of the original every 5 ms; where the original is silent, it is silent.     [morise2016world]
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from personare.anonymizers.frames import limited
from personare.core.audio import Audio
from personare.core.errors import AudioError, MissingExtraError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

PERIOD_S = 0.005
_CHUNK_S, _SEARCH_S, _FADE_S, _LEAST_S = 20.0, 5.0, 0.05, 0.1
_LEVEL_WINDOW_S = 0.04
_MOST_GAIN = 10.0


@dataclass(frozen=True, eq=False)
class Speech:
    """Speech taken apart, one row every 5 ms.

    Parameters
    ----------
    f0_hz : [frames], 0 where unvoiced.
    envelope : power at each frequency, [frames, bins].
    breath : the part of each frequency that is noise, 0..1, [frames, bins].
    moments : the frame of the original that each frame shows, [frames]; moved by whoever changes the timing.
    rate_hz : sample rate.
    """

    f0_hz: Floats
    envelope: Floats
    breath: Floats
    moments: NDArray[np.intp]
    rate_hz: int

    @property
    def frequencies_hz(self) -> Floats:
        """The frequency of each bin."""
        return np.linspace(0.0, self.rate_hz / 2, self.envelope.shape[1])


Change = Callable[[Speech], Speech]


def _world() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # pyworld asks for its version in a deprecated way
            import pyworld
    except ImportError:
        raise MissingExtraError("pitch", "the WORLD vocoder") from None
    return pyworld


def pitch(audio: Audio) -> Floats:
    """Track the pitch of a sound every 5 ms, 0 where unvoiced."""
    refuse_nan(audio)
    tracks = [_track(_padded(audio.samples[a:b], audio.rate_hz), audio.rate_hz)[0] for a, b in _chunks(audio)]
    return np.concatenate(tracks) if tracks else np.zeros(0)


def revoiced(audio: Audio, change: Change) -> Audio:
    """Take a sound apart, change it, and put it together at its old length and level."""
    refuse_nan(audio)
    result = np.zeros(len(audio.samples), dtype=np.float32)
    fade = round(_FADE_S * audio.rate_hz)
    for first, last in _chunks(audio):
        begin, end = max(0, first - fade), last
        part = _revoiced_part(audio.samples[begin:end], audio.rate_hz, change)
        overlap = first - begin
        rising = np.arange(overlap) / max(overlap, 1)
        part[:overlap] *= rising
        result[begin:first] *= (1.0 - rising).astype(np.float32)
        result[begin:end] += part.astype(np.float32)
    return Audio(limited(result, hop=round(0.01 * audio.rate_hz)), audio.rate_hz)


def refuse_nan(audio: Audio) -> None:
    """Refuse samples that are not numbers before any library sees them."""
    if not np.isfinite(audio.samples).all():
        first = int(np.argmin(np.isfinite(audio.samples)))
        raise AudioError(f"NaN or infinite samples, the first at sample {first}; repair the sound first")


def _revoiced_part(samples: NDArray[np.float32], rate_hz: int, change: Change) -> Floats:
    if not samples.any():
        return np.zeros(len(samples))
    world = _world()
    sound = _padded(samples, rate_hz)
    f0, times = _track(sound, rate_hz)
    envelope, breath = world.cheaptrick(sound, f0, times, rate_hz), world.d4c(sound, f0, times, rate_hz)
    changed = change(Speech(f0, envelope, breath, np.arange(len(f0)), rate_hz))
    envelope, breath = np.ascontiguousarray(changed.envelope), np.ascontiguousarray(changed.breath)
    made = world.synthesize(changed.f0_hz, envelope, breath, rate_hz, 1000 * PERIOD_S)[: len(sound)]
    made = np.pad(made, (0, len(sound) - len(made)))
    return _at_the_level_of(sound, made, changed.moments, rate_hz)[: len(samples)]


def _at_the_level_of(sound: Floats, made: Floats, moments: NDArray[np.intp], rate_hz: int) -> Floats:
    """Follow the loudness of ``sound``, frame by frame, whatever frame of it is shown at each moment."""
    wanted = _energies(sound, rate_hz, len(moments))[moments]
    found = _energies(made, rate_hz, len(moments))
    gains = np.minimum(np.sqrt(wanted / np.where(found > 0, found, 1.0)), _MOST_GAIN)
    centres = np.arange(len(moments)) * PERIOD_S * rate_hz
    levelled: Floats = made * np.interp(np.arange(len(made)), centres, gains)
    return levelled


def _energies(sound: Floats, rate_hz: int, count: int) -> Floats:
    """Measure the energy under a Hann window around every 5 ms."""
    half = round(_LEVEL_WINDOW_S * rate_hz / 2)
    padded = np.pad(sound, (half, half + round(PERIOD_S * rate_hz)))
    rows = np.minimum(np.rint(np.arange(count) * PERIOD_S * rate_hz).astype(np.intp), len(padded) - 2 * half - 1)
    windows = sliding_window_view(padded, 2 * half + 1)[rows]
    energies: Floats = np.einsum("ft,ft,t->f", windows, windows, np.hanning(2 * half + 3)[1:-1])
    return energies


def _track(sound: Floats, rate_hz: int) -> tuple[Floats, Floats]:
    world = _world()
    rough, times = world.dio(sound, rate_hz, f0_floor=71.0, f0_ceil=600.0, frame_period=1000 * PERIOD_S)
    return world.stonemask(sound, rough, times, rate_hz), times


def _padded(samples: NDArray[np.float32], rate_hz: int) -> Floats:
    missing = max(0, round(_LEAST_S * rate_hz) - len(samples))
    return np.pad(samples.astype(np.float64), (0, missing))


def _chunks(audio: Audio) -> Iterator[tuple[int, int]]:
    """Give the first and last sample of stretches of at most twenty seconds, cut where it is quiet."""
    longest, search, step = (round(s * audio.rate_hz) for s in (_CHUNK_S, _SEARCH_S, _FADE_S))
    first = 0
    while len(audio.samples) - first > longest:
        late = audio.samples[first + longest - search : first + longest].astype(np.float64)
        energies = np.square(late[: len(late) // step * step]).reshape(-1, step).sum(axis=1)
        last = first + longest - search + (int(np.argmin(energies)) + 1) * step
        yield first, last
        first = last
    if first < len(audio.samples):
        yield first, len(audio.samples)


def warped(speech: Speech, sources_hz: Floats) -> Speech:
    """Move the resonances: each frequency of the result shows the envelope of the original at ``sources_hz`` [bins]."""
    last = speech.envelope.shape[1] - 1
    places = np.clip(sources_hz / (speech.rate_hz / 2) * last, 0.0, last)
    below = np.minimum(places.astype(np.intp), last - 1)
    part = places - below
    envelope = speech.envelope[:, below] * (1 - part) + speech.envelope[:, below + 1] * part
    breath = speech.breath[:, below] * (1 - part) + speech.breath[:, below + 1] * part
    return replace(speech, envelope=envelope, breath=breath)


def repitched(speech: Speech, *, centre_hz: float, target_hz: float, spread: float) -> Speech:
    """Move the pitch from around ``centre_hz`` to around ``target_hz``, its swings in octaves times ``spread``."""
    voiced = speech.f0_hz > 0
    f0 = np.zeros_like(speech.f0_hz)
    f0[voiced] = np.clip(target_hz * (speech.f0_hz[voiced] / centre_hz) ** spread, 50.0, 700.0)
    return replace(speech, f0_hz=f0)


def centre_hz(f0_hz: Floats) -> float | None:
    """Give the median pitch of the voiced frames, or None when there are hardly any.

    >>> centre_hz(np.array([0.0, 100.0, 110.0, 120.0]))
    110.0
    """
    voiced = f0_hz[f0_hz > 0]
    return float(np.median(voiced)) if len(voiced) >= 3 else None
