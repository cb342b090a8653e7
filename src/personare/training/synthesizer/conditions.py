"""Other recording conditions for the same speech: a room, a microphone, a compressor and a noise floor, by chance.

What is learnt from such copies, with the speech itself as the target, cannot rest on the session: the room, the floor
and the dynamics of a recording give its speaker away as well as the voice does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from personare.encoders.grid import RATE_HZ

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_ROOM_SHARE = 0.5
_DECAY_S, _DIRECT_DB = (0.15, 0.6), (0.0, 12.0)  # reverberation time, direct sound against the reverberation
_TILT_DB = (-4.0, 4.0)  # per octave around 1 kHz, no more than _TILT_LIMIT_DB anywhere
_TILT_LIMIT_DB = 15.0
_POWER = (0.7, 1.2)  # of the level of every moment: below 1 compresses, above 1 expands
_FLOOR_DB, _COLOUR = (12.0, 45.0), (0.0, 1.2)  # speech above the noise; its spectrum falls with this power of frequency
_MOMENT = RATE_HZ // 50


def recorded_elsewhere(samples: Floats, *, rng: np.random.Generator) -> Floats:
    """Give 16 kHz samples as another microphone in another room might have recorded them; same length."""
    sound = samples.astype(np.float64)
    level = max(float(np.sqrt(np.mean(np.square(sound)))), 1e-9)
    if rng.random() < _ROOM_SHARE:
        sound = _in_a_room(sound, rng)
    sound = _dynamics(sound, float(rng.uniform(*_POWER)))
    sound = _tilted(sound, float(rng.uniform(*_TILT_DB)))
    sound *= level / max(float(np.sqrt(np.mean(np.square(sound)))), 1e-9)
    floor = _coloured_noise(len(sound), float(rng.uniform(*_COLOUR)), rng)
    sound = sound + floor * level * 10 ** (-float(rng.uniform(*_FLOOR_DB)) / 20)
    return sound.astype(np.float32)


def _in_a_room(sound: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    from scipy import signal

    decay_s = float(rng.uniform(*_DECAY_S))
    time_s = np.arange(round(decay_s * RATE_HZ)) / RATE_HZ
    tail = rng.standard_normal(len(time_s)) * 10 ** (-3 * time_s / decay_s)
    tail *= 10 ** (-float(rng.uniform(*_DIRECT_DB)) / 20) / np.linalg.norm(tail)
    reverberant: NDArray[np.float64] = sound + signal.fftconvolve(sound, tail)[: len(sound)]
    return reverberant


def _dynamics(sound: NDArray[np.float64], power: float) -> NDArray[np.float64]:
    """Raise the level of every moment, against the loudest, to a power."""
    box = np.ones(_MOMENT) / _MOMENT
    level = np.sqrt(np.maximum(np.convolve(np.square(sound), box, mode="same")[: len(sound)], 0))
    top = max(float(level.max(initial=0.0)), 1e-9)
    changed: NDArray[np.float64] = sound * np.maximum(level / top, 1e-3) ** (power - 1)
    return changed


def _tilted(sound: NDArray[np.float64], db_per_octave: float) -> NDArray[np.float64]:
    octaves = np.log2(np.maximum(np.fft.rfftfreq(len(sound), 1 / RATE_HZ), 20.0) / 1000)
    gain_db = np.clip(db_per_octave * octaves, -_TILT_LIMIT_DB, _TILT_LIMIT_DB)
    return np.fft.irfft(np.fft.rfft(sound) * 10 ** (gain_db / 20), len(sound))


def _coloured_noise(count: int, power: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Noise of power 1 whose spectrum falls with a power of frequency."""
    spectrum = np.fft.rfft(rng.standard_normal(count))
    spectrum /= np.maximum(np.fft.rfftfreq(count, 1 / RATE_HZ), 50.0) ** power
    noise = np.fft.irfft(spectrum, count)
    return noise / max(float(np.sqrt(np.mean(np.square(noise)))), 1e-9)
