"""Treble for finished speech: noise from 8 to 12 kHz, as strong as the sound below 8 kHz makes it likely.

The synthesizer gives 16 kHz, hence nothing above 8 kHz. Where a source has a rate of 24 kHz or more, the rest is
guessed from the anonymized sound alone, every 6 ms: the levels of its bands (those of core/bands.py), a little before
and after too, go through a map of two layers that gives the levels of six bands of noise. Nothing of the source comes
in: the treble tells no more of a speaker than the sound below does. Levels are taken against the moment's own, so that
loud and soft sound get the same treble. The map was fitted to speech of Kokoro's voices, which reaches to 12 kHz, by
``examples/fit_treble.py``.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from personare.anonymizers.neural.xvector.weights import shipped_folder
from personare.core import bands
from personare.core.audio import Audio, resample
from personare.core.errors import WeightsError
from personare.core.files import file_sha256

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

RATE_HZ = 24_000  # of the treble; a source of a lower rate gets none
BAND_HZ = (8_000.0, 12_000.0)
TREBLE_BANDS = 6
LOW_BANDS = 38  # of the 40 noise bands: the others lie where resampling to 16 kHz begins to cut
CONTEXT = (-6, -3, -1, 0, 1, 3, 6)  # frames of 6 ms around the one that gets treble
INPUTS = LOW_BANDS * len(CONTEXT) + 1
FILE, SHA256 = "treble.npz", "b0efc5bbff2979ee6b8404749006a8e2dcca564de7823d3a79879282b6cd9188"
_SPREADS = 4.0  # inputs further from their mean count as being so far
_FLOOR = 1e-8  # part of the loud moments' power: what is softer is taken for silence
_FADE_DB = (-65.0, -50.0)  # against the loud moments: pauses, in which treble fades away
_EDGE_HZ = 150.0  # within which the noise begins
_HOP = RATE_HZ * bands.HOP // bands.RATE_HZ
_WINDOW, _TRANSFORM = bands.WINDOW // bands.HOP, bands.TRANSFORM // bands.HOP  # in frames, at either rate
_BLOCK = 2048  # frames that are worked on at a time


@dataclass(frozen=True, eq=False)
class TrebleMap:
    """From levels below 8 kHz to levels above, natural logarithms of power.

    Parameters
    ----------
    mean, spread : of the inputs, [inputs].
    hidden, hidden_offset : the first layer, [inputs, units] and [units]; tanh follows.
    output, output_offset : the second, [units, bands] and [bands].
    lowest, highest : what speech has been seen to have, and no more or less is given, [bands].
    """

    mean: Floats
    spread: Floats
    hidden: Floats
    hidden_offset: Floats
    output: Floats
    output_offset: Floats
    lowest: Floats
    highest: Floats

    def __call__(self, inputs: Floats) -> Floats:
        """Predict levels against the moment's own: inputs [frames, inputs] -> [frames, bands]."""
        standard = np.clip((inputs - self.mean) / self.spread, -_SPREADS, _SPREADS)
        levels = np.tanh(standard @ self.hidden + self.hidden_offset) @ self.output + self.output_offset
        within: Floats = np.clip(levels, self.lowest, self.highest)
        return within


def add_treble(sound: Audio, rate_hz: int, *, rng: np.random.Generator) -> Audio:
    """Bring sound at 16 kHz to ``rate_hz``, 24 kHz or more, with treble; below 8 kHz it stays as it is."""
    result = resample(sound, rate_hz)
    if not sound.samples.any():
        return result
    inputs, power = low_levels(sound.samples)
    count = round(len(sound.samples) * RATE_HZ / bands.RATE_HZ)
    noise = treble_noise(shipped_map()(inputs), power * _loud_enough(inputs[:, -1]), rng=rng)[:count]
    treble = resample(Audio(noise, RATE_HZ), rate_hz).samples[: len(result.samples)]
    return Audio(result.samples + np.pad(treble, (0, len(result.samples) - len(treble))), rate_hz)


def low_levels(samples: Floats) -> tuple[Floats, Floats]:
    """Measure sound at 16 kHz: what the map takes [frames, inputs], and the power of every frame [frames]."""
    powers = _band_powers(samples, bands.HOP, bands.mel_interpolation(bands.NOISE_BANDS)[:LOW_BANDS])
    total: Floats = powers.mean(axis=1)
    loud = max(float(np.square(total, dtype=np.float64).sum() / max(float(total.sum()), 1e-30)), 1e-30)
    logs, levels = np.log(powers + loud * _FLOOR), np.log(total + loud * _FLOOR)
    places = np.clip(np.arange(len(logs))[:, None] + np.array(CONTEXT), 0, len(logs) - 1)
    around = (logs[places] - levels[:, None, None]).reshape(len(logs), -1)
    return np.column_stack([around, levels - np.log(loud)]).astype(np.float32), total


def _loud_enough(levels: Floats) -> Floats:
    """Which part of its power the treble of a frame keeps: all in speech, none in a pause."""
    lowest, highest = _FADE_DB
    share: Floats = np.square(np.clip((levels * (10 / np.log(10)) - lowest) / (highest - lowest), 0, 1))
    return share


def treble_powers(samples: Floats) -> Floats:
    """Measure sound at 24 kHz: the power of every band from 8 to 12 kHz [frames, bands]."""
    return _band_powers(samples, _HOP, _interpolation())


def treble_noise(levels: Floats, power: Floats, *, rng: np.random.Generator) -> Floats:
    """Make noise of levels [frames, bands] against the power of each frame [frames]: samples at 24 kHz."""
    from scipy import fft

    frames, parts_of = len(levels), _TRANSFORM * _HOP
    source = rng.standard_normal(frames * _HOP, dtype=np.float32)
    total = np.zeros((frames + _TRANSFORM - 1, _HOP), np.float32)
    for some, spectra in _spectra(source, _HOP):
        gains = np.exp(levels[some] / 2 @ _interpolation()) * np.sqrt(power[some, None]) * _edge()
        parts = fft.irfft(spectra * gains, parts_of, axis=1)
        for k in range(_TRANSFORM):
            total[some.start + k : some.start + k + len(parts)] += parts[:, k * _HOP : (k + 1) * _HOP]
    front = (parts_of - _HOP) // 2
    return total.reshape(-1)[front : front + frames * _HOP]


def _spectra(samples: Floats, hop: int) -> Iterator[tuple[slice, NDArray[np.complex64]]]:
    """Spectra around the middle of every frame of ``hop`` samples, some frames at a time; their windows add up to 1."""
    from scipy import fft

    size, margin = _WINDOW * hop, (_TRANSFORM - _WINDOW) * hop // 2
    window = (0.25 - 0.25 * np.cos(2 * np.pi * np.arange(size) / size)).astype(np.float32)
    frames = -(-len(samples) // hop)
    padded = np.pad(samples, ((size - hop) // 2, frames * hop - len(samples) + (size - hop) // 2))
    views = np.lib.stride_tricks.sliding_window_view(padded, size)[::hop]
    for first in range(0, frames, _BLOCK):
        some = slice(first, min(first + _BLOCK, frames))
        yield some, fft.rfft(np.pad(views[some] * window, ((0, 0), (margin, margin))), axis=1)


def _band_powers(samples: Floats, hop: int, filters: Floats) -> Floats:
    """Mean power of every frame in bands [bands, bins]; white noise of power 1 has 1 in all of them."""
    scale = (filters / filters.sum(axis=1, keepdims=True) / (_WINDOW * hop * 0.25 * 0.375)).T
    return np.concatenate([np.square(np.abs(spectra)) @ scale for _, spectra in _spectra(samples, hop)])


@cache
def _interpolation() -> Floats:
    """Linear interpolation of the bands from 8 to 12 kHz: [bands, bins]."""
    centres_hz = np.linspace(*BAND_HZ, TREBLE_BANDS)
    rows = [np.interp(_bins_hz(), centres_hz, row) * (_bins_hz() >= BAND_HZ[0]) for row in np.eye(TREBLE_BANDS)]
    return np.stack(rows).astype(np.float32)


@cache
def _edge() -> Floats:
    """How the noise begins at 8 kHz: [bins]."""
    rising = np.clip((_bins_hz() - BAND_HZ[0]) / _EDGE_HZ, 0, 1)
    return np.square(np.sin(rising * np.pi / 2)).astype(np.float32)


def _bins_hz() -> NDArray[np.float64]:
    return np.linspace(0, RATE_HZ / 2, _TRANSFORM * _HOP // 2 + 1)


@cache
def shipped_map() -> TrebleMap:
    """Open the map that is shipped; another file in its place is refused."""
    path = shipped_folder() / FILE
    if not path.is_file() or file_sha256(path) != SHA256:
        raise WeightsError(
            f"{path}: not the treble that the neural voice is shipped with; restore it, or use treble=false"
        )
    return read_map(path.read_bytes(), where=str(path))


def read_map(content: bytes, *, where: str) -> TrebleMap:
    """Read a fitted map from the bytes of an npz."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            fitted = TrebleMap(**{one.name: arrays[one.name] for one in fields(TrebleMap)})
    except (OSError, ValueError, KeyError) as error:
        raise WeightsError(f"{where}: not a treble ({type(error).__name__}); fit one with fit_treble.py") from None
    units = fitted.hidden.shape[-1]
    sizes = {"mean": (INPUTS,), "spread": (INPUTS,), "hidden": (INPUTS, units), "hidden_offset": (units,)}
    sizes |= dict.fromkeys(("output_offset", "lowest", "highest"), (TREBLE_BANDS,)) | {"output": (units, TREBLE_BANDS)}
    for name, size in sizes.items():
        array = getattr(fitted, name)
        if array.shape != size or array.dtype != np.float32 or not np.isfinite(array).all():
            raise WeightsError(f"{where}: not a treble ({name} is {array.dtype} {array.shape}, not float32 {size})")
    return fitted
