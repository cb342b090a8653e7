"""The time grid of the neural synthesizer: content, F0 and energy laid on common frames of 12 and 6 ms.

Audio is taken at 16 kHz. The content encoder gives a frame every 384 samples (24 ms); the network works every 192
(12 ms) and describes the sound every 96 (6 ms). F0 and energy are measured every 6 ms and given to it in pairs.
"""

from __future__ import annotations

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


def frame_count(n_samples: int) -> int:
    """How many frames of the network cover so many samples."""
    return -(-n_samples // STEP)


def on_frames(content: Floats, count: int, *, speed: float = 1.0) -> Floats:
    """Interpolate content [encoder frames, 288] linearly onto ``count`` frames of the network.

    ``speed`` says how much faster than the utterance the sound was played to the encoder.
    """
    places = ((np.arange(count) * STEP + STEP / 2) / speed - CONTENT_CENTRE) / CONTENT_STEP
    places = np.clip(places, 0, len(content) - 1)
    below = np.minimum(places.astype(np.intp), max(len(content) - 2, 0))
    share = (places - below).astype(np.float32)[:, None]
    above = np.minimum(below + 1, len(content) - 1)
    interpolated: Floats = content[below] * (1 - share) + content[above] * share
    return interpolated
