"""Speaking with another voice: content, pitch and energy of an utterance and another vector, made into sound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from personare.core import bands
from personare.encoders.grid import PAIR, RATE_HZ, Track, frame_count, on_frames, prosody

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.anonymizers.xvector.weights import Weights

    Floats = NDArray[np.float32]

_LOWEST_HZ, _HIGHEST_HZ = 55.0, 600.0
_LEVEL_S = 2.0  # the level of the original is followed under windows of this length
_PAUSE_DB, _SURELY_DB, _SOFTER_DB = -30.0, -45.0, 12.0  # noise in pauses is softened: rooms are nobody's words
_MOST_GAIN = 30.0
_SWINGS = (0.6, 1.6)  # how much larger or smaller the swings of the pitch may become


@dataclass(frozen=True)
class Pitch:
    """How high somebody speaks: the middle (log2 Hz) and the spread (octaves) of the pitch."""

    middle: float
    swing: float


def pitch_of(f0_hz: Floats) -> Pitch | None:
    """Measure how high an utterance is spoken; None when hardly anything in it is voiced."""
    if len(f0_hz) < 5:
        return None
    octaves = np.log2(f0_hz)
    low, middle, high = np.quantile(octaves, (0.16, 0.5, 0.84))
    return Pitch(float(middle), max(float(high - low) / 2, 1e-3))


def moved(track: Track, own: Pitch, wanted: Pitch) -> Track:
    """Move the pitch from one speaker's middle and swings to another's."""
    factor = float(np.clip(wanted.swing / own.swing, *_SWINGS))
    octaves = wanted.middle + (np.log2(track.f0_hz) - own.middle) * factor
    f0 = np.clip(np.exp2(octaves), _LOWEST_HZ, _HIGHEST_HZ).astype(np.float32)
    return replace(track, f0_hz=f0)


def spoken(
    weights: Weights,
    content: Floats,
    track: Track,
    vector: Floats,
    *,
    length: int,
    rng: np.random.Generator,
    mask: bool = False,
) -> Floats:
    """Make ``length`` samples at 16 kHz; with ``mask``, from content with less of the speaker in it."""
    count = frame_count(length)
    laid = on_frames(content, count)
    logs = weights.described(weights.masked(laid) if mask else laid, prosody(track, count), vector)
    logs = logs.reshape(-1, bands.BANDS)
    logs[:, bands.HARMONIC_BANDS :] -= _softer(track.energy_db[: len(logs)])[:, None]
    harmonic = bands.pulses(track.f0_hz[: count * PAIR], turn=float(rng.random()))
    noise = rng.standard_normal(len(harmonic), dtype=np.float32)
    return bands.shaped(harmonic, noise, logs)[:length]


def _softer(energy_db: Floats) -> Floats:
    """How much softer the noise of a frame becomes (natural logarithm): not in speech, by 12 dB in sure pauses."""
    share = np.clip((_PAUSE_DB - energy_db) / (_PAUSE_DB - _SURELY_DB), 0.0, 1.0)
    softer: Floats = (share * (_SOFTER_DB / 20 * np.log(10))).astype(np.float32)
    return softer


def at_the_level_of(original: Floats, made: Floats) -> Floats:
    """Follow the level of the original under windows of 2 s; where it is silent, be silent."""
    wanted, found = _levels(original), _levels(made)
    gains = np.minimum(wanted / np.maximum(found, 1e-9), _MOST_GAIN)
    step = round(_LEVEL_S * RATE_HZ / 4)
    centres = np.arange(len(gains)) * step
    levelled = made * np.interp(np.arange(len(made)), centres, gains).astype(np.float32)
    levelled[_silent(original)] = 0
    return levelled


def _levels(sound: Floats) -> NDArray[np.float64]:
    """Root mean square under Hann windows of 2 s, a quarter of a window apart, the first around the start."""
    size = round(_LEVEL_S * RATE_HZ)
    padded = np.pad(sound.astype(np.float64), (size // 2, size))
    windows = np.lib.stride_tricks.sliding_window_view(padded, size)[:: size // 4][: len(sound) // (size // 4) + 2]
    levels: NDArray[np.float64] = np.sqrt(np.einsum("ft,ft,t->f", windows, windows, np.hanning(size + 2)[1:-1]))
    return levels


def _silent(sound: Floats) -> NDArray[np.bool_]:
    """Stretches of at least 20 ms without any sound at all."""
    least = RATE_HZ // 50
    still = (sound == 0).astype(np.int8)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], still, [0]])))
    silent = np.zeros(len(sound), bool)
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        if last - first >= least:
            silent[first:last] = True
    return silent
