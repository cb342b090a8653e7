"""Timing that is not the original's: silence at both ends cut, pauses and rate changed by chance, coarse lengths.

Length, pauses and rhythm of anonymized speech are those of the original, and tell which one it was made from. Here each
stretch of speech is played a little faster or slower, each pause gets another length, and the whole ends on a multiple
of some time. Speech is stretched by waveform-similarity overlap-add (WSOLA, Verhelst and Roelants, 1993), which keeps
pitch and voice; all channels are stretched alike. The words, and their order, stay.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from personare.core.audio import Audio
from personare.core.errors import ConfigError

SPEECH_FACTORS = (0.88, 1.14)  # how much longer a stretch of speech becomes: not noticed without comparison
PAUSE_FACTORS = (0.6, 1.6)
MARGIN_S = (0.05, 0.25)  # silence that is left at each end
_FRAME_S, _SEARCH_S, _STEP_S = 0.04, 0.01, 0.01
_QUIET = 10**-3.5  # part of the loud frames' energy
_SHORTEST_PAUSE_S = 0.12
Times = NDArray[np.float64]


@dataclass(frozen=True)
class Timing:
    """What is changed: ``trim`` the ends, ``retime`` pauses and rate, lengths to a multiple of ``coarse_s``."""

    trim: bool = False
    retime: bool = False
    coarse_s: float | None = None

    def __post_init__(self) -> None:
        if self.coarse_s is not None and not 0.01 <= self.coarse_s <= 60:
            raise ConfigError(f"lengths can be rounded to 0.01 to 60 seconds, not {self.coarse_s}")

    def __bool__(self) -> bool:
        return self.trim or self.retime or self.coarse_s is not None

    def __call__(self, channels: Sequence[Audio], *, rng: np.random.Generator) -> list[Audio]:
        """Change the timing of all channels of a recording alike."""
        sound, rate_hz = np.stack([one.samples for one in channels]), channels[0].rate_hz
        if self.trim:
            sound = _trimmed(sound, rate_hz, rng)
        if self.retime:
            sound = _stretched(sound, rate_hz, rng)
        if self.coarse_s is not None:
            sound = _rounded(sound, round(self.coarse_s * rate_hz), rate_hz, rng)
        return [Audio(np.ascontiguousarray(row, dtype=np.float32), rate_hz) for row in sound]


def new_ends(audio: Audio, *, rng: np.random.Generator) -> Audio:
    """Give the silence before and after speech another length, by chance; silence stays as it is."""
    left_s, right_s = rng.uniform(*MARGIN_S, size=2)
    speech = np.flatnonzero(_loud(audio.samples[None], audio.rate_hz))
    if not len(speech):
        return audio
    step = max(1, round(_STEP_S * audio.rate_hz))
    first, last = int(speech[0]) * step, min((int(speech[-1]) + 1) * step, len(audio.samples))
    left, right = round(left_s * audio.rate_hz), round(right_s * audio.rate_hz)
    padded = np.pad(audio.samples, (left, right))
    return Audio(padded[first : last + left + right], audio.rate_hz)


def stretch(audio: Audio, factor: float) -> Audio:
    """Make speech so many times as long, at its own pitch; a few hundredths of a second stay as they are."""
    length = float(len(audio.samples))
    ends, moved = np.array([0.0, length]), np.array([0.0, length * factor])
    return Audio(_warped(audio.samples[None], audio.rate_hz, ends, moved)[0], audio.rate_hz)


def _loud(sound: NDArray[np.float32], rate_hz: int) -> NDArray[np.bool_]:
    """Whether somebody speaks, for every 10 ms."""
    step = max(1, round(_STEP_S * rate_hz))
    count = -(-sound.shape[1] // step)
    padded = np.zeros((len(sound), count * step))
    padded[:, : sound.shape[1]] = sound
    energy = np.square(padded).reshape(len(sound), count, step).mean(axis=2).max(axis=0)
    return np.asarray(energy > _QUIET * np.quantile(energy, 0.9) + 1e-12)


def _trimmed(sound: NDArray[np.float32], rate_hz: int, rng: np.random.Generator) -> NDArray[np.float32]:
    speech = np.flatnonzero(_loud(sound, rate_hz))
    left_s, right_s = rng.uniform(*MARGIN_S, size=2)
    if not len(speech):
        return sound
    step = max(1, round(_STEP_S * rate_hz))
    first = max(0, int(speech[0]) * step - round(left_s * rate_hz))
    last = min(sound.shape[1], (int(speech[-1]) + 1) * step + round(right_s * rate_hz))
    return sound[:, first:last]


def _stretched(sound: NDArray[np.float32], rate_hz: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Play every stretch of speech and every pause at a rate of its own."""
    loud, step = _loud(sound, rate_hz), max(1, round(_STEP_S * rate_hz))
    edges = [0, *(np.flatnonzero(np.diff(loud.astype(np.int8))) + 1).tolist(), len(loud)]
    source, target = [0.0], [0.0]
    for begin, end in itertools.pairwise(edges):
        pause = not loud[begin] and (end - begin) * _STEP_S >= _SHORTEST_PAUSE_S
        factor = rng.uniform(*(PAUSE_FACTORS if pause else SPEECH_FACTORS))
        source.append(min(end * step, sound.shape[1]))
        target.append(target[-1] + (source[-1] - source[-2]) * factor)
    return _warped(sound, rate_hz, np.array(source), np.array(target))


def _warped(sound: NDArray[np.float32], rate_hz: int, source: Times, target: Times) -> NDArray[np.float32]:
    """WSOLA: windows of 40 ms, each from near where the time map points, where it goes on best from the last one."""
    hop, reach = max(2, round(_FRAME_S * rate_hz / 2)), round(_SEARCH_S * rate_hz)
    size, length = 2 * hop, max(1, round(target[-1]))
    if sound.shape[1] < 2 * size:
        return sound
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)
    ahead = hop + reach
    padded = np.pad(sound.astype(np.float64), ((0, 0), (ahead, size + ahead + hop)))
    mono = padded.sum(axis=0)
    count = -(-length // hop) + 1
    made = np.zeros((len(sound), (count + 1) * hop))
    places = np.interp((np.arange(count) - 1) * hop + hop / 2, target, source) - hop / 2
    last = None
    for number, place in enumerate(places):
        near = round(float(place)) + ahead
        near = min(max(near, reach), padded.shape[1] - size - reach - 1)
        if last is not None:
            wanted = mono[last + hop : last + hop + size]
            area = mono[near - reach : near + reach + size]
            if len(wanted) == size:
                near += int(np.argmax(np.correlate(area, wanted, "valid"))) - reach
        made[:, number * hop : number * hop + size] += padded[:, near : near + size] * window
        last = near
    peak = np.abs(sound).max()
    return np.asarray(np.clip(made[:, hop : hop + length], -peak, peak), dtype=np.float32)


def _rounded(sound: NDArray[np.float32], unit: int, rate_hz: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Add quiet noise, as quiet as the quietest moments, up to the next multiple of ``unit`` samples."""
    missing = -sound.shape[1] % max(1, unit)
    step = max(1, round(_STEP_S * rate_hz))
    whole = sound[:, : max(step, sound.shape[1] // step * step)]
    frames = whole[:, : whole.shape[1] // step * step].reshape(len(sound), -1, step) if whole.shape[1] >= step else None
    level = np.full(len(sound), 1e-4)
    if frames is not None and frames.shape[1]:
        level = np.maximum(np.quantile(np.sqrt(np.square(frames).mean(axis=2)), 0.05, axis=1), 2**-15)
    noise = rng.standard_normal((len(sound), missing)) * level[:, None]
    return np.asarray(np.concatenate([sound, np.clip(noise, -1, 1).astype(np.float32)], axis=1))
