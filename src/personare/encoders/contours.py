"""What a recording tells besides the voice: its level over time, its pauses, its F0 contour, its average spectrum.

Each function turns 16 kHz samples into a fixed number of plain statistics; ``statistics`` makes embedders of them.
An anonymizer that keeps these lets people be told apart whatever it does to the voice.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from personare.encoders import mels
from personare.encoders.grid import FINE, RATE_HZ
from personare.encoders.prosody import TRACKED_HZ, energies_db
from personare.encoders.swift import STEP_S, VOICED_FROM, swift_track

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FRAME_S = FINE / RATE_HZ  # of a level contour: 6 ms
LOWEST_DB = -80.0
PAUSE_DB = -30.0
SHARES = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99)
SLOPE_SHARES = (0.02, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9, 0.98)
LEVEL_EDGES_DB = (-80.0, -60.0, -50.0, -40.0, -35.0, -30.0, -25.0, -20.0, -15.0, -10.0, 20.0)
MODULATION_HZ = (0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 20.0, 40.0)
GATES_DB = (-15.0, -25.0, -35.0)
N_BANDS = 40
_SLOPE_FRAMES = 4  # slopes are differences over 24 ms
_LEAST_POWER = 1e-10


def level_db(samples: NDArray[np.float32]) -> Floats:
    """Level every 6 ms against the loudest twentieth, no lower than -80 dB: [frames]."""
    return np.maximum(energies_db(samples, max(1, len(samples) // FINE)).astype(np.float64), LOWEST_DB)


def energy_numbers(samples: NDArray[np.float32]) -> Floats:
    """44 numbers: quantiles of the level, of its slopes, a histogram, the modulation spectrum, loudness and floor."""
    level = level_db(samples)
    slope = level[_SLOPE_FRAMES:] - level[:-_SLOPE_FRAMES] if len(level) > _SLOPE_FRAMES else np.zeros(1)
    spoken = slope[level[: len(slope)] > PAUSE_DB]
    histogram = np.histogram(level, LEVEL_EDGES_DB)[0] / len(level)
    power = np.square(samples.astype(np.float64))
    loudness = 10 * np.log10(power.mean() + _LEAST_POWER)
    return np.concatenate(
        [
            np.quantile(level, SHARES),
            np.quantile(spoken if len(spoken) else slope, SLOPE_SHARES),
            np.sqrt(histogram),
            _modulation(level),
            [loudness, max(loudness + float(np.quantile(level, 0.05)), -120.0)],
        ]
    )


def _modulation(level: Floats) -> Floats:
    """Logarithm of the power of the contour, gated at -40 dB, between neighbouring modulation frequencies."""
    contour = np.maximum(level, -40.0)
    count = max(1024, len(contour))
    spectrum = np.abs(np.fft.rfft((contour - contour.mean()) * np.hanning(len(contour) + 2)[1:-1], count)) ** 2
    hz = np.fft.rfftfreq(count, FRAME_S)
    total = spectrum.sum() + _LEAST_POWER
    within = [spectrum[(hz >= a) & (hz < b)].sum() / total for a, b in itertools.pairwise(MODULATION_HZ)]
    return np.log10(np.array(within) + 1e-4)


def rhythm_numbers(samples: NDArray[np.float32]) -> Floats:
    """25 numbers: for three gates the share, number and lengths of speech and pauses; peaks; silence at the ends."""
    level = level_db(samples)
    numbers: list[float] = []
    for gate in GATES_DB:
        loud = level > gate
        speech, pauses = _run_lengths(loud)
        seconds = len(level) * FRAME_S
        numbers += [float(loud.mean()), len(speech) / seconds, *_log_moments(speech), *_log_moments(pauses)]
    peaks = _peaks(level)
    gaps = np.diff(peaks)
    numbers += [
        len(peaks) / (len(level) * FRAME_S),
        *_log_moments(gaps),
        float(np.std(level[peaks])) if len(peaks) else 0.0,
    ]
    spoken = np.flatnonzero(level > PAUSE_DB)
    first, last = (spoken[0], spoken[-1]) if len(spoken) else (0, len(level) - 1)
    ends = [first, len(level) - 1 - last, len(level)]
    return np.array([*numbers, *(float(np.log10((n + 1) * FRAME_S)) for n in ends)])


def _run_lengths(flags: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lengths of the runs of true and of false."""
    edges = np.flatnonzero(np.diff(flags)) + 1
    lengths = np.diff(np.concatenate([[0], edges, [len(flags)]]))
    first = 0 if flags[0] else 1
    return lengths[first::2], lengths[1 - first :: 2]


def _log_moments(frames: NDArray[np.int64]) -> tuple[float, float]:
    """Mean and spread of the logarithm of durations."""
    if not len(frames):
        return float(np.log10(FRAME_S)), 0.0
    logs = np.log10(frames * FRAME_S)
    return float(logs.mean()), float(logs.std())


def _peaks(level: Floats) -> NDArray[np.intp]:
    """Places of syllable-like peaks of the smoothed contour, at least 3 dB above what surrounds them."""
    from scipy import signal

    window = np.hanning(17)
    smooth = np.convolve(np.maximum(level, -40.0), window / window.sum(), mode="same")
    places: NDArray[np.intp] = signal.find_peaks(smooth, prominence=3.0)[0]
    return places


def f0_numbers(samples: NDArray[np.float32]) -> Floats:
    """22 numbers: height, range, shape, movement and voicing of the F0 contour, in octaves; zeros without voice."""
    f0_hz, confidence = swift_track(samples, lowest_hz=TRACKED_HZ[0], highest_hz=TRACKED_HZ[1])
    voiced = confidence >= VOICED_FROM
    if voiced.sum() < 5:
        return np.zeros(22)
    octaves = np.log2(f0_hz[voiced] / 160.0)
    low, middle, high = np.quantile(octaves, (0.1, 0.5, 0.9))
    centred, width = octaves - middle, max(float(high - low), 1e-2)
    times = np.flatnonzero(voiced) * STEP_S
    slope = float(np.polyfit(times, centred, 1)[0]) if times[-1] > times[0] else 0.0
    steps = np.diff(np.log2(np.maximum(f0_hz, 1.0)))[voiced[1:] & voiced[:-1]] / STEP_S
    steps = steps if len(steps) else np.zeros(1)
    runs, gaps = _run_lengths(voiced)
    shape = np.quantile(centred, (0.02, 0.25, 0.75, 0.98)) / width
    return np.array(
        [
            middle,
            np.log2(width),
            *shape,
            float(np.mean(centred**3)) / width**3,
            np.clip(slope, -2, 2),
            *np.quantile(np.clip(steps, -20, 20), (0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98)),
            float(np.mean(np.abs(np.diff(np.sign(steps))) / 2)),
            float(voiced.mean()),
            float(confidence[voiced].mean()),
            *_log_moments(runs),
            *_log_moments(gaps),
        ]
    )


def spectrum_numbers(samples: NDArray[np.float32]) -> Floats:
    """120 numbers: in 40 mel bands the mean level of speech and of pauses against their own means, and the spread."""
    bands = 10 * np.log10(mels.power_mels(samples, n_mels=N_BANDS).astype(np.float64) + _LEAST_POWER)
    level = bands.max(axis=1)
    loud = level > np.quantile(level, 0.95) + PAUSE_DB
    quiet = level <= np.quantile(level, 0.1)
    speech, floor = bands[loud].mean(0) if loud.any() else bands.mean(0), bands[quiet].mean(0)
    spread = bands[loud].std(0) if loud.any() else bands.std(0)
    return np.concatenate([speech - speech.mean(), floor - floor.mean(), spread])
