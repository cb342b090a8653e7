"""How an utterance is sung: its pitch by the neural tracker SwiftF0, and its energy, every 6 ms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from personare.encoders.grid import FINE, PAIR, RATE_HZ, Track, drawn_through, energies_db, frame_count
from personare.encoders.swift import STEP_S, VOICED_FROM, swift_track

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOWEST_HZ, HIGHEST_HZ = 60.0, 600.0
_UNVOICED_HZ = 160.0


def tracked(samples: NDArray[np.float32]) -> Track:
    """Measure 16 kHz samples; the track covers whole frames of the network."""
    count = frame_count(len(samples)) * PAIR
    pitch_hz, confidence = swift_track(samples, lowest_hz=LOWEST_HZ, highest_hz=HIGHEST_HZ)
    coarse = np.where(confidence >= VOICED_FROM, pitch_hz, 0.0)
    places = np.arange(count) * (FINE / RATE_HZ / STEP_S)
    voiced = coarse[np.minimum(np.rint(places).astype(np.intp), len(coarse) - 1)] > 0
    drawn = np.log2(drawn_through(coarse, otherwise_hz=_UNVOICED_HZ))
    f0 = np.exp2(np.interp(places, np.arange(len(drawn)), drawn)).astype(np.float32)
    return Track(f0, voiced, energies_db(samples, count))
