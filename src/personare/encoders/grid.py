"""The time grid of the neural voice: what is said and how high it is sung, laid on common frames of 12 and 6 ms.

Sound is taken at 16 kHz. The content encoder speaks every 384 samples (24 ms); the network works every 192 (12 ms) and
describes the sound every 96 (6 ms). Pitch and energy are measured every 6 ms and given to the network in pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

RATE_HZ = 16_000
STEP = 192  # samples between two frames of the network
FINE = 96  # samples between two descriptions of the sound
PAIR = STEP // FINE
CONTENT_STEP, CONTENT_CENTRE = 384, 448  # the encoder's frame i is centred on sample 448 + 384 i
WIDTH = 288  # numbers per frame of content
PROSODY = 3 * PAIR  # pitch, voicing, energy, for both halves of a frame
_MIDDLE_HZ = 160.0
_QUIETEST_DB, _RANGE_DB = -60.0, 20.0
_WINDOW = 4 * FINE


@dataclass(frozen=True, eq=False)
class Track:
    """How an utterance is sung.

    Parameters
    ----------
    f0_hz : pitch every 6 ms, drawn through where there is none; [fine frames].
    voiced : whether there is one; [fine frames].
    energy_db : loudness every 6 ms against the loudest twentieth of the utterance; [fine frames].
    """

    f0_hz: Floats
    voiced: NDArray[np.bool_]
    energy_db: Floats


def frame_count(n_samples: int) -> int:
    """How many frames of the network cover so many samples."""
    return -(-n_samples // STEP)


def on_frames(content: Floats, count: int, *, speed: float = 1.0) -> Floats:
    """Lay content [encoder frames, 288] on ``count`` frames of the network by straight lines between neighbours.

    ``speed`` says how much faster than the utterance the sound was played to the encoder.
    """
    places = ((np.arange(count) * STEP + STEP / 2) / speed - CONTENT_CENTRE) / CONTENT_STEP
    places = np.clip(places, 0, len(content) - 1)
    below = np.minimum(places.astype(np.intp), max(len(content) - 2, 0))
    share = (places - below).astype(np.float32)[:, None]
    above = np.minimum(below + 1, len(content) - 1)
    laid: Floats = content[below] * (1 - share) + content[above] * share
    return laid


def prosody(track: Track, count: int) -> Floats:
    """Pitch, voicing and energy as the network takes them: [count, 6]."""
    rows = np.stack(
        [
            np.log2(track.f0_hz / np.float32(_MIDDLE_HZ)),
            track.voiced.astype(np.float32),
            np.maximum(track.energy_db, np.float32(_QUIETEST_DB)) / np.float32(_RANGE_DB) + 1,
        ],
        axis=1,
    ).astype(np.float32)
    return rows[: count * PAIR].reshape(count, PROSODY)


def energies_db(samples: Floats, fine_frames: int) -> Floats:
    """Loudness under 24 ms around each fine frame's middle, against the loudest twentieth; [fine frames]."""
    front = (_WINDOW - FINE) // 2
    padded = np.pad(samples.astype(np.float64), (front, fine_frames * FINE + _WINDOW - len(samples) - front))
    windows = np.lib.stride_tricks.sliding_window_view(padded, _WINDOW)[: fine_frames * FINE : FINE]
    power = np.einsum("ft,ft,t->f", windows, windows, np.hanning(_WINDOW + 2)[1:-1])
    level = 10 * np.log10(np.maximum(power, 1e-12))
    against: Floats = (level - np.quantile(level, 0.95)).astype(np.float32)
    return against


def drawn_through(f0_hz: NDArray[np.float64], *, otherwise_hz: float) -> Floats:
    """Draw the pitch through frames without one, in octaves; ``otherwise_hz`` where there is none at all."""
    voiced = np.flatnonzero(f0_hz > 0)
    if not len(voiced):
        return np.full(len(f0_hz), otherwise_hz, np.float32)
    drawn: NDArray[np.float64] = np.exp2(np.interp(np.arange(len(f0_hz)), voiced, np.log2(f0_hz[voiced])))
    return drawn.astype(np.float32)
