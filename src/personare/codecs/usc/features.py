"""What the small codec measures of speech before its networks: mel spectrum, content frames, F0, voicing, energy.

C0 is made from the content frames of a speech recognizer's encoder (Moonshine tiny), each dimension with mean 0 and
spread 1 over the utterance, and from F0 *relative to the utterance's median*, voicing and relative energy: nothing that
says how high or with what resonances somebody speaks. C1-C5 are made from the mel spectrum and the absolute F0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from personare.core.sessions import Session, open_session
from personare.core.weights import files_of
from personare.encoders.swift import STEP_S, VOICED_FROM, swift_track
from personare.training.usc.grid import (
    ABSOLUTE,
    CONTENT_HOP,
    CONTENT_WIDTH,
    CONTENTS,
    HOP,
    MEL_HOP,
    MELS,
    MIDDLE_HZ,
    N_MELS,
    PROSODY,
    RATE_HZ,
    SOUND_HOP,
    SOUNDS,
    frame_count,
    hann,
    mel_filters,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

VERSION = 1  # raise it whenever the same speech would give other features
MODELS = ("moonshine", "swift-f0")
LEVEL_DB = -26.0  # root mean square of the active frames that every utterance is brought to
LOWEST_HZ, HIGHEST_HZ = 60.0, 600.0
_ENCODER_HOP, _ENCODER_CENTRE = 384, 448  # the encoder's frame i is centred on sample 448 + 384 i
_ENCODER_LEAST = 1600  # samples its own front end needs
_SPREAD_FLOOR = 1e-3
_ACTIVE_DB = 40.0  # frames at most so far below the loudest twentieth count for the level
_MOST_GAIN = 1000.0
_LEAST_REFERENCE_DB = -12.0  # speech at the coding level is always above; keeps silence from counting as loud
_MEL_FLOOR = 1e-7
_MEL_CENTRE, MEL_SPREAD = -4.0, 2.0  # brings log-mels near mean 0 and spread 1


@dataclass(frozen=True, eq=False)
class Features:
    """The measurements of one utterance of T token frames, at its coding level.

    Parameters
    ----------
    content : content frames, two per token frame; [T, 576].
    prosody : relative F0 (octaves), voicing and relative energy every 10 ms; [T, 12].
    mels : log-mel spectrum every 10 ms; [T, 320].
    absolute : absolute F0 (octaves above 160 Hz) and voicing every 10 ms; [T, 8].
    octaves, voiced : absolute F0 and voicing every 8 ms; [5 T].
    """

    content: Floats
    prosody: Floats
    mels: Floats
    absolute: Floats
    octaves: Floats
    voiced: NDArray[np.bool_]


def level_gain(samples: Floats) -> float:
    """The factor that brings the active part of an utterance to the coding level; 1 for silence."""
    count = max(1, len(samples) // MEL_HOP)
    power = np.square(np.resize(samples, count * MEL_HOP).reshape(count, -1), dtype=np.float64).mean(axis=1)
    loud = float(np.quantile(power, 0.95))
    if loud <= 1e-12:
        return 1.0
    active = power[power >= loud * 10 ** (-_ACTIVE_DB / 10)].mean()
    return float(min(10 ** (LEVEL_DB / 20) / np.sqrt(active), _MOST_GAIN))


def measure(samples: Floats) -> Features:
    """Measure 16 kHz samples that are at the coding level already."""
    count = frame_count(len(samples))
    padded = np.pad(samples, (0, count * HOP - len(samples)))
    octaves, voiced = f0_track(padded)
    fine, fine_voiced = _at(octaves, voiced, SOUND_HOP, count * SOUNDS)
    ten, ten_voiced = _at(octaves, voiced, MEL_HOP, count * MELS)
    middle = float(np.median(ten[ten_voiced])) if ten_voiced.any() else 0.0
    energy = energy_db(padded) / 20 + 1
    prosody = np.stack([np.where(ten_voiced, ten - middle, 0), ten_voiced, energy], axis=1)
    absolute = np.stack([ten, ten_voiced], axis=1)
    return Features(
        laid(content_frames(padded), count),
        prosody.astype(np.float32).reshape(count, PROSODY),
        log_mels(padded).reshape(count, MELS * N_MELS),
        absolute.astype(np.float32).reshape(count, ABSOLUTE),
        fine,
        fine_voiced,
    )


def f0_track(samples: Floats) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Octaves above 160 Hz every 16 ms, drawn through unvoiced frames, and voicing; [frames] each."""
    pitch_hz, confidence = swift_track(samples, lowest_hz=LOWEST_HZ, highest_hz=HIGHEST_HZ)
    voiced = confidence >= VOICED_FROM
    octaves = np.log2(np.maximum(pitch_hz, 1.0) / MIDDLE_HZ)
    if not voiced.any():
        return np.zeros(len(octaves)), voiced
    places = np.flatnonzero(voiced)
    return np.interp(np.arange(len(octaves)), places, octaves[places]), voiced


def _at(
    octaves: NDArray[np.float64], voiced: NDArray[np.bool_], hop: int, count: int
) -> tuple[Floats, NDArray[np.bool_]]:
    """Read a track in the middle of ``count`` frames of ``hop`` samples."""
    places = (np.arange(count) + 0.5) * (hop / RATE_HZ / STEP_S)
    nearest = np.minimum(np.rint(places).astype(np.intp), len(voiced) - 1)
    return np.interp(places, np.arange(len(octaves)), octaves).astype(np.float32), voiced[nearest]


def energy_db(samples: Floats) -> Floats:
    """Level under 40 ms around every 10 ms frame, against the loudest twentieth, at least -60 dB; [frames]."""
    power = np.square(_windows(samples) * hann(HOP), dtype=np.float64).sum(axis=1)
    level = 10 * np.log10(np.maximum(power, 1e-12))
    reference = max(float(np.quantile(level, 0.95)), _LEAST_REFERENCE_DB)
    return np.asarray(np.maximum(level - reference, -60.0), np.float32)


def log_mels(samples: Floats) -> Floats:
    """Logarithms (nepers, centred and scaled) of 80 mel bands under 40 ms around every 10 ms frame; [frames, 80]."""
    from scipy import fft

    spectrum = fft.rfft(_windows(samples) * hann(HOP), axis=1)
    power = (spectrum.real**2 + spectrum.imag**2) @ mel_filters(N_MELS, HOP).T
    logs = 0.5 * np.log(power + _MEL_FLOOR)
    return np.asarray((logs - _MEL_CENTRE) / MEL_SPREAD, np.float32)


def _windows(samples: Floats) -> Floats:
    """Views of 640 samples around the middle of every 10 ms frame; [frames, 640]."""
    front = (HOP - MEL_HOP) // 2
    return np.lib.stride_tricks.sliding_window_view(np.pad(samples, (front, front)), HOP)[::MEL_HOP]


def content_frames(samples: Floats) -> Floats:
    """Encode 16 kHz samples by the recognizer's encoder, normalised over the utterance: [encoder frames, 288]."""
    padded = np.pad(samples, (0, max(0, _ENCODER_LEAST - len(samples)) + 2 * _ENCODER_HOP))
    mask = np.ones((1, len(padded)), np.int64)
    frames = _encoder().run(None, {"input_values": padded[None], "attention_mask": mask})[0][0]
    centred = frames - frames.mean(axis=0)
    return np.asarray(centred / np.maximum(centred.std(axis=0), _SPREAD_FLOOR), np.float32)


def laid(content: Floats, count: int, *, speed: float = 1.0) -> Floats:
    """Lay encoder frames on ``count`` token frames by straight lines between neighbours: [count, 576].

    ``speed`` says how much faster than the utterance the sound was played to the encoder.
    """
    centres = np.arange(count * CONTENTS) * CONTENT_HOP + CONTENT_HOP / 2
    places = np.clip((centres / speed - _ENCODER_CENTRE) / _ENCODER_HOP, 0, len(content) - 1)
    below = np.minimum(places.astype(np.intp), max(len(content) - 2, 0))
    share = (places - below).astype(np.float32)[:, None]
    rows = content[below] * (1 - share) + content[np.minimum(below + 1, len(content) - 1)] * share
    return np.asarray(rows, np.float32).reshape(count, CONTENTS * CONTENT_WIDTH)


@lru_cache(maxsize=1)
def _encoder() -> Session:
    return open_session(files_of("moonshine")["encoder_model.ort"])
