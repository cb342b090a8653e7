"""The time grid of the small speech codec and its source-filter sound, shared by training and use; numpy only.

Sound is taken at 16 kHz. One token frame is 640 samples (40 ms, 25 Hz). Inside it lie four mel frames (10 ms), two
content frames (20 ms) and five sound frames (8 ms), for each of which the decoder gives a spectral envelope.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

RATE_HZ = 16_000
HOP = 640  # samples of one token frame
FRAME_RATE_HZ = RATE_HZ / HOP
MEL_HOP, N_MELS = 160, 80
MELS = HOP // MEL_HOP  # mel frames in a token frame
CONTENT_HOP, CONTENT_WIDTH = 320, 288
CONTENTS = HOP // CONTENT_HOP
SOUND_HOP = 128
SOUNDS = HOP // SOUND_HOP
WINDOW = 4 * SOUND_HOP  # samples under one sound frame
TRANSFORM = 8 * SOUND_HOP  # room for the filter to ring
HARMONIC_BANDS, NOISE_BANDS = 80, 40
BANDS = HARMONIC_BANDS + NOISE_BANDS
PROSODY = 3 * MELS  # relative F0, voicing, energy, every 10 ms
ABSOLUTE = 2 * MELS  # absolute F0 and voicing, every 10 ms
MIDDLE_HZ = 160.0  # F0 is given in octaves above this


def frame_count(n_samples: int) -> int:
    """How many token frames cover so many samples; at least one.

    >>> [frame_count(n) for n in (0, 640, 641)]
    [1, 1, 2]
    """
    return max(1, -(-n_samples // HOP))


def hz_of_mel(mel: NDArray[np.float64]) -> NDArray[np.float64]:
    """O'Shaughnessy's mel scale, upside down."""
    return np.asarray(700 * (10 ** (mel / 2595) - 1))


def mel_of_hz(hz: float) -> float:
    """O'Shaughnessy's mel scale."""
    return float(2595 * np.log10(1 + hz / 700))


@cache
def mel_filters(n_mels: int, transform: int, *, rate_hz: int = RATE_HZ) -> Floats:
    """Triangles evenly spaced on the mel scale, each with sum 1; narrow ones take their nearest bin: [n_mels, bins]."""
    edges_hz = hz_of_mel(np.linspace(0, mel_of_hz(rate_hz / 2), n_mels + 2))
    bins_hz = np.linspace(0, rate_hz / 2, transform // 2 + 1)
    hats = np.stack([np.interp(bins_hz, edges_hz, row) for row in np.eye(n_mels + 2)[1:-1]])
    for row, centre in zip(hats, edges_hz[1:-1], strict=True):
        if row.sum() < 1:
            row[int(np.abs(bins_hz - centre).argmin())] += 1 - row.sum()
    return np.asarray(hats / hats.sum(axis=1, keepdims=True), np.float32)


@cache
def interpolation(bands: int, transform: int) -> Floats:
    """Straight lines between bands on the mel scale: log-strengths [bands] @ this = log-strengths per bin."""
    centres_hz = hz_of_mel(np.linspace(0, mel_of_hz(RATE_HZ / 2), bands))
    bins_hz = np.linspace(0, RATE_HZ / 2, transform // 2 + 1)
    return np.stack([np.interp(bins_hz, centres_hz, row) for row in np.eye(bands)]).astype(np.float32)


@cache
def minimum_phase(bands: int, transform: int) -> Floats:
    """The phase of the minimum-phase filter: log-strengths [bands] @ this = radians per bin."""
    cepstra = np.fft.irfft(interpolation(bands, transform).astype(np.float64), transform, axis=1)
    fold = np.zeros(transform)
    fold[0] = fold[transform // 2] = 1.0
    fold[1 : transform // 2] = 2.0
    return np.fft.rfft(cepstra * fold, axis=1).imag.astype(np.float32)


@cache
def hann(size: int) -> Floats:
    """A periodic Hann window."""
    return (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)).astype(np.float32)


def pulses(f0_hz: Floats, *, turn: NDArray[np.float64] | float = 0.0) -> Floats:
    """One band-limited pulse per period, of power 1 at any F0: [..., sound frames] -> samples [..., 128 frames].

    ``turn`` (0..1, [...]) is the phase at the start.
    """
    frames = f0_hz.shape[-1]
    places = np.clip((np.arange(frames * SOUND_HOP) - SOUND_HOP / 2 + 0.5) / SOUND_HOP, 0, frames - 1)
    below = np.minimum(places.astype(np.intp), max(frames - 2, 0))
    share = (places - below).astype(np.float32)
    f0 = f0_hz[..., below] * (1 - share) + f0_hz[..., np.minimum(below + 1, frames - 1)] * share
    cycles = np.cumsum(f0.astype(np.float64) / RATE_HZ, axis=-1) + np.asarray(turn)[..., None]
    away = (cycles - np.rint(cycles)).astype(np.float32)
    period = RATE_HZ / f0
    train: Floats = (np.sinc(away * period) * np.sqrt(period)).astype(np.float32)
    return train


def pooled(features: Floats, frames: int) -> Floats:
    """Average teacher features at 50 Hz in pairs to ``frames`` token frames; the last repeats (sec. 3.1 of the paper).

    >>> pooled(np.float32([[1], [3], [5]]), 2).tolist()
    [[2.0], [5.0]]
    """
    missing = max(0, 2 * frames - len(features))
    rows = np.concatenate([features, np.repeat(features[-1:], missing, axis=0)])[: 2 * frames]
    return np.asarray(rows.reshape(frames, 2, -1).mean(axis=1), np.float32)
