"""Prosody of an utterance: F0 by the neural tracker SwiftF0, voicing and energy, every 6 ms; and F0 moved to another.

F0 is moved in octaves: its median and its range (half the distance of the 16th and 84th percentile) become those of the
pseudo-speaker, the contour stays. Prosody that a network predicts from content has its F0 as the distance from the
median in units of the range, and no level below a common floor.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from personare.encoders.grid import FINE, PAIR, RATE_HZ, frame_count
from personare.encoders.swift import STEP_S, VOICED_FROM, swift_track

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

TRACKED_HZ = (60.0, 600.0)
PROSODY = 3 * PAIR  # F0, voicing, energy, for both halves of a frame
_SPOKEN_HZ = (55.0, 600.0)
_CENTRE_HZ = 160.0  # the network takes F0 in octaves from here; also the F0 of a sound without any
_FLOOR_DB, _SCALE_DB = -60.0, 20.0
_WINDOW = 4 * FINE
_RANGE_FACTORS = (0.6, 1.6)  # how much wider or narrower the F0 range may become
_FEWEST_VOICED = 5
_PREDICTED_FLOOR_DB = -50.0
_PREDICTED_REACH = 3.5  # ranges that predicted F0 may lie above or below its median


@dataclass(frozen=True, eq=False)
class ProsodyTrack:
    """F0, voicing and energy of an utterance.

    Parameters
    ----------
    f0_hz : F0 every 6 ms, interpolated where unvoiced; [fine frames].
    voiced : whether the frame is voiced; [fine frames].
    energy_db : level every 6 ms against the loudest twentieth of the utterance; [fine frames].
    """

    f0_hz: Floats
    voiced: NDArray[np.bool_]
    energy_db: Floats


@dataclass(frozen=True, eq=False)
class PredictedProsody:
    """Prosody predicted from content: F0 as ``contour`` (ranges from the median), voicing and energy; [fine frames]."""

    contour: Floats
    voiced: NDArray[np.bool_]
    energy_db: Floats

    def f0_hz(self, spoken: F0Statistics) -> Floats:
        """Give the contour the median and the range of a speaker."""
        reach = np.clip(self.contour, -_PREDICTED_REACH, _PREDICTED_REACH)
        octaves = spoken.median_log2_hz + reach * spoken.range_octaves
        f0_hz: Floats = np.clip(np.exp2(octaves), *_SPOKEN_HZ).astype(np.float32)
        return f0_hz


@dataclass(frozen=True)
class F0Statistics:
    """How high somebody speaks: the median of F0 (log2 Hz) and its range around it (octaves)."""

    median_log2_hz: float
    range_octaves: float


def track_prosody(samples: NDArray[np.float32]) -> ProsodyTrack:
    """Measure 16 kHz samples; the track covers whole frames of the network."""
    count = frame_count(len(samples)) * PAIR
    f0_hz, confidence = swift_track(samples, lowest_hz=TRACKED_HZ[0], highest_hz=TRACKED_HZ[1])
    coarse = np.where(confidence >= VOICED_FROM, f0_hz, 0.0)
    places = np.arange(count) * (FINE / RATE_HZ / STEP_S)
    voiced = coarse[np.minimum(np.rint(places).astype(np.intp), len(coarse) - 1)] > 0
    contour = np.log2(interpolate_f0(coarse, otherwise_hz=_CENTRE_HZ))
    f0 = np.exp2(np.interp(places, np.arange(len(contour)), contour)).astype(np.float32)
    return ProsodyTrack(f0, voiced, energies_db(samples, count))


def interpolate_f0(f0_hz: NDArray[np.float64], *, otherwise_hz: float) -> Floats:
    """Interpolate F0 through unvoiced frames, in octaves; ``otherwise_hz`` where there is none at all."""
    voiced = np.flatnonzero(f0_hz > 0)
    if not len(voiced):
        return np.full(len(f0_hz), otherwise_hz, np.float32)
    contour: NDArray[np.float64] = np.exp2(np.interp(np.arange(len(f0_hz)), voiced, np.log2(f0_hz[voiced])))
    return contour.astype(np.float32)


def energies_db(samples: Floats, fine_frames: int) -> Floats:
    """Level under 24 ms around each fine frame's middle, against the loudest twentieth; [fine frames]."""
    front = (_WINDOW - FINE) // 2
    padded = np.pad(samples.astype(np.float64), (front, fine_frames * FINE + _WINDOW - len(samples) - front))
    windows = np.lib.stride_tricks.sliding_window_view(padded, _WINDOW)[: fine_frames * FINE : FINE]
    power = np.einsum("ft,ft,t->f", windows, windows, np.hanning(_WINDOW + 2)[1:-1])
    level = 10 * np.log10(np.maximum(power, 1e-12))
    relative: Floats = (level - np.quantile(level, 0.95)).astype(np.float32)
    return relative


def features(track: ProsodyTrack, count: int) -> Floats:
    """F0, voicing and energy as the network takes them: [count, 6]."""
    rows = np.stack(
        [
            np.log2(track.f0_hz / np.float32(_CENTRE_HZ)),
            track.voiced.astype(np.float32),
            scale_energy(track.energy_db, floor_db=_FLOOR_DB),
        ],
        axis=1,
    ).astype(np.float32)
    return rows[: count * PAIR].reshape(count, PROSODY)


def move_f0_features(rows: Floats, spoken: F0Statistics) -> Floats:
    """Move the F0 in rows of ``features`` [..., count, 6] so that its mean is the median of another speaker."""
    moved = rows.copy()
    f0 = rows[..., :: PROSODY // PAIR]
    median = np.float32(spoken.median_log2_hz - np.log2(_CENTRE_HZ))
    moved[..., :: PROSODY // PAIR] = f0 - f0.mean(axis=(-2, -1), keepdims=True) + median
    return moved


def scale_energy(energy_db: Floats, *, floor_db: float = _PREDICTED_FLOOR_DB) -> Floats:
    """Levels as networks take and give them, those under the floor raised to it."""
    scaled = np.maximum(energy_db, np.float32(floor_db)) / np.float32(_SCALE_DB) + 1
    return scaled.astype(np.float32)


def normalize_f0(f0_hz: Floats, spoken: F0Statistics) -> Floats:
    """Give F0 as the distance from a speaker's median, in units of the speaker's range."""
    contour = (np.log2(f0_hz) - spoken.median_log2_hz) / spoken.range_octaves
    return np.clip(contour, -_PREDICTED_REACH, _PREDICTED_REACH).astype(np.float32)


def read_prediction(values: Floats) -> PredictedProsody:
    """Read what a prosody network gives [frames, 6]: normalized F0, a logit of voicing, scaled energy, in pairs."""
    contour, logit, energy = values.reshape(-1, PROSODY // PAIR).T
    energy_db = np.clip((energy - 1) * _SCALE_DB, _PREDICTED_FLOOR_DB, None)
    return PredictedProsody(contour.astype(np.float32), logit > 0, energy_db.astype(np.float32))


def f0_statistics(f0_hz: Floats) -> F0Statistics | None:
    """Measure median and range of the F0 of voiced frames; None when there are hardly any."""
    if len(f0_hz) < _FEWEST_VOICED:
        return None
    octaves = np.log2(f0_hz)
    low, median, high = np.quantile(octaves, (0.16, 0.5, 0.84))
    return F0Statistics(float(median), max(float(high - low) / 2, 1e-3))


def transform_f0(track: ProsodyTrack, source: F0Statistics, target: F0Statistics) -> ProsodyTrack:
    """Move the F0 contour from one speaker's median and range to another's."""
    factor = float(np.clip(target.range_octaves / source.range_octaves, *_RANGE_FACTORS))
    octaves = target.median_log2_hz + (np.log2(track.f0_hz) - source.median_log2_hz) * factor
    f0 = np.clip(np.exp2(octaves), *_SPOKEN_HZ).astype(np.float32)
    return replace(track, f0_hz=f0)
