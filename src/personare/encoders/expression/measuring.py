"""Intonation, loudness and rhythm of a sentence: its track, statistics for the label, and its F0 symbols.

SwiftF0 tracks F0 every 16 ms. Statistics depend neither on the level of a recording nor on how high its speaker speaks;
``manner`` does, and may be used only against other sentences of the same speaker.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from personare.encoders.swift import RATE_HZ, STEP, STEP_S, VOICED_FROM, swift_track

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

TRACKED_HZ = (60.0, 600.0)
FLOOR_DB = -30.0  # against the loudest twentieth: what is softer is no speech
LEAST_VOICED = 12  # frames of 16 ms; a sentence with fewer has no expression that can be measured
_WINDOW = 2 * STEP
_QUANTILES = (0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98)
_LAGS = (1, 2, 4, 8, 16)
_MODULATION_HZ = (0.4, 0.8, 1.5, 2.5, 4.0, 6.0, 9.0, 14.0, 25.0)
_POINTS = 8
LEVEL_BORDERS = {4: 0.3, 8: 0.35}  # in standard deviations: about a third of the points has each level
FINAL_BORDER = 0.8
_SYLLABLE = 9  # frames
STATISTICS, MANNER = 116, 15  # how many numbers there are
_BANDS_HZ = (80, 200, 350, 550, 800, 1100, 1450, 1850, 2350, 2950, 3650, 4500, 5500, 6700, 8000)


@dataclass(frozen=True, eq=False)
class SpeechTrack:
    """F0 and level of a sentence every 16 ms, without silence at its ends.

    Parameters
    ----------
    semitones : F0 from the sentence's median, interpolated where unvoiced; [frames].
    level_db : against the loudest twentieth, no lower than ``FLOOR_DB``; [frames].
    voiced, speech : which frames are voiced, and which are above the floor; [frames].
    median_hz : the sentence's median F0.
    bands_db : mean level of voiced frames in each band; [bands].
    """

    semitones: Floats
    level_db: Floats
    voiced: NDArray[np.bool_]
    speech: NDArray[np.bool_]
    median_hz: float
    bands_db: Floats


def track_speech(samples: NDArray[np.float32]) -> SpeechTrack | None:
    """Measure 16 kHz samples of one sentence; None where hardly anything is voiced."""
    peak = float(np.abs(samples).max(initial=0.0))
    if peak <= 0 or len(samples) < _WINDOW:
        return None
    samples = (samples * np.float32(0.5 / peak)).astype(np.float32)  # trackers have absolute gates
    f0_hz, confidence = swift_track(samples, lowest_hz=TRACKED_HZ[0], highest_hz=TRACKED_HZ[1])
    level_db, powers = _levels(samples, len(f0_hz))
    level_db = np.maximum(level_db - np.quantile(level_db, 0.95), FLOOR_DB)
    speech = level_db > FLOOR_DB
    voiced = (confidence >= VOICED_FROM) & speech
    if voiced.sum() < LEAST_VOICED:
        return None
    inside = slice(int(np.flatnonzero(speech)[0]), int(np.flatnonzero(speech)[-1]) + 1)
    octaves = np.log2(f0_hz)
    median = float(np.median(octaves[voiced]))
    near = voiced & (np.abs(octaves - median) < 1.2)  # what is further away is an error of the tracker
    semitones = 12 * (np.interp(np.arange(len(octaves)), np.flatnonzero(near), octaves[near]) - median)
    bands_db = 10 * np.log10(powers[near].mean(axis=0) + 1e-9)
    return SpeechTrack(semitones[inside], level_db[inside], near[inside], speech[inside], 2**median, bands_db)


def _levels(samples: NDArray[np.float32], count: int) -> tuple[Floats, Floats]:
    """Level in dB of each frame [count], and its power in each band [count, bands]."""
    front = (_WINDOW - STEP) // 2
    padded = np.pad(samples, (front, max(0, count * STEP + _WINDOW - len(samples) - front)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, _WINDOW)[: count * STEP : STEP]
    spectra = np.square(np.abs(np.fft.rfft(windows * np.hanning(_WINDOW), axis=1)))
    edges = np.round(np.array(_BANDS_HZ) * _WINDOW / RATE_HZ).astype(np.intp)
    powers = np.stack([spectra[:, a:b].mean(axis=1) for a, b in itertools.pairwise(edges.tolist())], axis=1)
    return 10 * np.log10(spectra.sum(axis=1) + 1e-9), powers


def statistics(track: SpeechTrack) -> Floats:
    """Describe a sentence by ``STATISTICS`` numbers that do not depend on its level or on its speaker's F0 level."""
    voiced, speech = track.voiced, track.speech
    semitones, level = track.semitones[voiced], track.level_db[speech]
    spoken_f0 = track.semitones[speech]
    numbers = [
        *_distribution(semitones, np.diff(track.semitones)[voiced[1:] & voiced[:-1]]),
        *_distribution(level, np.diff(track.level_db)[speech[1:] & speech[:-1]]),
        *_autocorrelation(spoken_f0),
        *_autocorrelation(level),
        *_modulation(spoken_f0),
        *_modulation(level),
        *_points(spoken_f0, _POINTS),
        *_points(level, _POINTS),
        *_rhythm(voiced, speech),
        *_peaks(spoken_f0, level),
        _slope(spoken_f0),
        _slope(spoken_f0[-max(len(spoken_f0) // 4, 2) :]),
        _slope(level),
        float(np.corrcoef(spoken_f0, level)[0, 1]) if spoken_f0.std() > 0 and level.std() > 0 else 0.0,
    ]
    return np.nan_to_num(np.array(numbers, np.float64))


def manner(track: SpeechTrack) -> Floats:
    """Describe how high and with which spectral balance a sentence is spoken: semitones, and bands against their mean.

    Both belong to the speaker first of all; they may be used only against the same speaker's other sentences.
    """
    bands = track.bands_db - track.bands_db.mean()
    return np.array([12 * np.log2(track.median_hz / 100.0), *bands])


def _distribution(values: Floats, changes: Floats) -> list[float]:
    if not len(changes):
        changes = np.zeros(1)
    centred = values - values.mean()
    spread = max(float(centred.std()), 1e-3)
    return [
        *np.quantile(values, _QUANTILES).tolist(),
        spread,
        float(np.mean((centred / spread) ** 3)),
        float(np.mean((centred / spread) ** 4)) ** 0.5,
        *np.quantile(changes, (0.05, 0.25, 0.75, 0.95)).tolist(),
        float(np.abs(changes).mean()),
        float(changes.std()),
        float((changes > 0).mean()),
        float(np.log(spread)),
    ]


def _autocorrelation(values: Floats) -> list[float]:
    centred = values - values.mean()
    power = max(float(np.square(centred).mean()), 1e-6)
    return [float((centred[lag:] * centred[:-lag]).mean() / power) if len(values) > lag + 2 else 0.0 for lag in _LAGS]


def _modulation(values: Floats) -> list[float]:
    """Logarithm of the power in each modulation band, and its share of the whole."""
    centred = (values - values.mean()) * np.hanning(len(values))
    size = max(256, len(centred))
    powers = np.square(np.abs(np.fft.rfft(centred, size))) / max(len(values), 1)
    hz = np.fft.rfftfreq(size, STEP_S)
    sums = [float(powers[(hz >= low) & (hz < high)].sum()) for low, high in itertools.pairwise(_MODULATION_HZ)]
    total = max(sum(sums), 1e-6)
    return [*(float(np.log(one + 1e-3)) for one in sums), *(one / total for one in sums)]


def _points(values: Floats, count: int) -> list[float]:
    return [float(part.mean()) if len(part) else 0.0 for part in np.array_split(values - values.mean(), count)]


def _rhythm(voiced: NDArray[np.bool_], speech: NDArray[np.bool_]) -> list[float]:
    numbers = [float(voiced.mean()), float(speech.mean()), float(voiced.sum() / max(speech.sum(), 1))]
    for flags in (voiced, ~voiced & speech, ~speech):
        lengths = _run_lengths(flags) * STEP_S
        logs = np.log(lengths) if len(lengths) else np.array([np.log(STEP_S)])
        numbers += [float(logs.mean()), float(logs.std()), float(logs.max()), len(lengths) / (len(voiced) * STEP_S)]
    return numbers


def _run_lengths(flags: NDArray[np.bool_]) -> Floats:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    return (edges[1::2] - edges[::2]).astype(np.float64)


def _peaks(semitones: Floats, level: Floats) -> list[float]:
    strength = _smooth(semitones / 3 + level / 6, 5)
    inner = (strength[1:-1] > strength[:-2]) & (strength[1:-1] >= strength[2:]) & (strength[1:-1] > strength.mean())
    count = int(inner.sum())
    return [count / (len(strength) * STEP_S), float(np.log1p(count)), float(strength.argmax() / len(strength))]


def _slope(values: Floats) -> float:
    if len(values) < 3:
        return 0.0
    return float(np.polyfit(np.linspace(0, 1, len(values)), values, 1)[0])


def _smooth(values: Floats, width: int) -> Floats:
    if len(values) < width:
        return values
    padded = np.pad(values, width // 2, mode="edge")
    smoothed: Floats = np.convolve(padded, np.hanning(width + 2)[1:-1] / np.hanning(width + 2).sum(), mode="valid")
    return smoothed[: len(values)]


def f0_levels(track: SpeechTrack, points: int) -> str:
    """Give the F0 shape of a sentence: so many points, each low (l), middle (m) or high (h) against the whole."""
    semitones = track.semitones[track.speech]
    spread = max(float(semitones.std()), 0.3)
    means = [part.mean() / spread for part in np.array_split(semitones - semitones.mean(), points)]
    border = LEVEL_BORDERS[points]
    return "".join("l" if mean < -border else "h" if mean > border else "m" for mean in means)


def strongest_place(track: SpeechTrack) -> float:
    """Tell where the strongest syllable is: the share of the speech before it, 0 to 1, without pauses."""
    semitones, level = track.semitones[track.speech], track.level_db[track.speech]
    strength = sum(
        _smooth((values - values.mean()) / max(float(values.std()), 1e-3), _SYLLABLE) for values in (semitones, level)
    )
    return float((np.argmax(strength) + 0.5) / len(level))


def final_movement(track: SpeechTrack) -> str:
    """Tell whether F0 rises, falls or stays level at the end of a sentence."""
    semitones = track.semitones[track.speech]
    spread = max(float(semitones.std()), 0.3)
    tail = semitones[-max(len(semitones) // 5, 3) :]
    slope = _slope(tail) / spread
    return "rise" if slope > FINAL_BORDER else "fall" if slope < -FINAL_BORDER else "level"
