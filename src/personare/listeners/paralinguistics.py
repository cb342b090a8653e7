"""How something is said, in 41 openly computed numbers: pitch, rhythm, loudness and colour of the voice.

Each number is a plain statistic anyone can recompute (no model): pitch in semitones over 27.5 Hz, loudness as ranges
and movements in dB (so that the recording level does not count), spectra as cepstra of 26 mel bands over voiced frames.
In the spirit of the minimal sets of [eyben2016gemaps]; not the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from personare.core.audio import Audio, resample
from personare.core.errors import AudioError
from personare.encoders.spectra import POINTS, RATE_HZ, STEP, mel_bands, power_spectra
from personare.listeners.pitch import WorldPitch
from personare.listeners.windows import is_silent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MELS, CEPSTRA = 26, 12
SHORTEST_S = 0.3
FEWEST_VOICED = 5
_PITCH = ("pitch_median", "pitch_low", "pitch_high", "pitch_range", "pitch_movement", "voiced_share")
_RHYTHM = ("voiced_runs_per_s", "voiced_run_s")
_LOUDNESS = ("loudness_range", "loudness_movement", "loudness_peaks_per_s", "loud_share")
_COLOUR = ("centroid_mean", "centroid_spread", "low_share_db", "hammarberg_db", "flatness_db")
NAMES = (
    *_PITCH,
    *_RHYTHM,
    *_LOUDNESS,
    *_COLOUR,
    *(f"cepstrum_{i}_mean" for i in range(1, CEPSTRA + 1)),
    *(f"cepstrum_{i}_spread" for i in range(1, CEPSTRA + 1)),
)


@dataclass(frozen=True)
class Paralinguistics:
    """Measure how something is said: a batch of Audio in, one row of numbers each out, named by ``NAMES``."""

    paper: ClassVar[str] = "in the spirit of Eyben et al., The Geneva minimalistic acoustic parameter set, 2016"

    fingerprint = "paralinguistics-1"

    def __call__(self, batch: Sequence[Audio]) -> list[Floats]:
        """Measure each Audio, resampled to 16 kHz: float64 [41]; silence and unvoiced sound are refused."""
        return [_measured(resample(audio, RATE_HZ)) for audio in batch]


def _measured(audio: Audio) -> Floats:
    if audio.duration_s < SHORTEST_S or is_silent(audio):
        raise AudioError(f"how it is said needs {SHORTEST_S:g} s of sound; this is silent or shorter")
    spectra = power_spectra(audio.samples)
    (track,) = WorldPitch()([audio])
    track = track[: len(spectra)]
    voiced = track > 0
    if voiced.sum() < FEWEST_VOICED:
        raise AudioError(f"how it is said needs {FEWEST_VOICED} voiced frames; this has {int(voiced.sum())}")
    loudness = 10 * np.log10(spectra.sum(axis=1) + 1e-12)
    parts = (_pitch(track, voiced), _rhythm(voiced), _loudness(loudness), _colour(spectra[voiced]))
    cepstra = _cepstra(spectra[voiced])
    return np.concatenate([*parts, cepstra.mean(axis=0), cepstra.std(axis=0)])


def _pitch(track: Floats, voiced: NDArray[np.bool_]) -> Floats:
    semitones = 12 * np.log2(track[voiced] / 27.5)
    low, median, high = np.percentile(semitones, [10, 50, 90])
    both = voiced[1:] & voiced[:-1]
    steps = np.abs(12 * np.log2(track[1:][both] / track[:-1][both]))
    movement = 100 * np.minimum(steps, 1.0).mean() if len(steps) else 0.0  # jumps of the tracker count one semitone
    return np.array([median, low, high, high - low, movement, voiced.mean()])


def _rhythm(voiced: NDArray[np.bool_]) -> Floats:
    starts = int(np.sum(np.diff(voiced.astype(int), prepend=0) == 1))
    seconds = len(voiced) * STEP / RATE_HZ
    return np.array([starts / seconds, voiced.sum() * STEP / RATE_HZ / max(1, starts)])


def _loudness(loudness: Floats) -> Floats:
    smooth = np.convolve(np.pad(loudness, 2, mode="edge"), np.full(5, 0.2), mode="valid")
    low, high = np.percentile(smooth, [10, 90])
    peaks = (smooth[1:-1] > smooth[:-2]) & (smooth[1:-1] >= smooth[2:]) & (smooth[1:-1] > smooth.mean())
    seconds = len(loudness) * STEP / RATE_HZ
    above = np.mean(smooth > high - 10)
    return np.array([high - low, 100 * np.abs(np.diff(smooth)).mean(), peaks.sum() / seconds, above])


def _colour(spectra: Floats) -> Floats:
    hz = np.arange(spectra.shape[1]) * RATE_HZ / POINTS
    total = spectra.sum(axis=1) + 1e-12
    centroid = (spectra * hz).sum(axis=1) / total
    low = _db(spectra[:, hz < 1000].sum(axis=1) / total)
    hammarberg = _db(spectra[:, hz < 2000].max(axis=1)) - _db(spectra[:, (hz >= 2000) & (hz < 5000)].max(axis=1))
    flatness = _db(np.exp(np.log(spectra + 1e-12).mean(axis=1)) / (total / spectra.shape[1]))
    return np.array([centroid.mean(), centroid.std(), low.mean(), hammarberg.mean(), flatness.mean()])


def _db(power: Floats) -> Floats:
    decibel: Floats = 10 * np.log10(power + 1e-12)
    return decibel


def _cepstra(spectra: Floats) -> Floats:
    from scipy.fft import dct

    levels = np.log(spectra @ mel_bands(MELS).T + 1e-10)
    cepstra: Floats = dct(levels, type=2, axis=1, norm="ortho")[:, 1 : CEPSTRA + 1]
    return cepstra
