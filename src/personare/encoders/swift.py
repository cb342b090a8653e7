"""How high a voice is, by a small neural network: SwiftF0 (30,000 weights, MIT), on a CPU, offline.

It was trained apart from any signal analysis and keeps its track in noise and in children's voices, where DIO often
follows something else. One frame every 16 ms; a long recording is cut into pieces that overlap as far as the network
sees, so that its frames are the same as in one piece.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from personare.core.sessions import Session, open_session
from personare.core.weights import files_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MODEL = "swift-f0"
RATE_HZ = 16_000
STEP = 256
STEP_S = STEP / RATE_HZ  # frame i lies at i * STEP_S
VOICED_FROM = 0.5  # confidence from which a frame is voiced
_PIECE, _BEFORE, _AFTER = 1875, 11, 10  # frames: 30 s, and how far the network sees to either side
_SILENT = 0.001  # a frame whose largest sample is below has no pitch


def swift_track(
    samples: NDArray[np.float32], *, lowest_hz: float, highest_hz: float, threads: int = 1
) -> tuple[Floats, Floats]:
    """Follow 16 kHz samples: pitch in Hz and confidence per frame, each [frames]."""
    model = _model(threads)
    limits = {"fmin": np.array(lowest_hz, np.float32), "fmax": np.array(highest_hz, np.float32)}
    count = max(1, len(samples) // STEP)
    pieces = []
    for first in range(0, count, _PIECE):
        last, begin = min(first + _PIECE, count), max(0, first - _BEFORE)
        piece = samples[begin * STEP : (last + _AFTER) * STEP if last < count else None]
        outputs = model.run(["pitch", "confidence"], {"audio": piece[None].astype(np.float32), **limits})
        pieces.append(np.stack([values[0][first - begin : last - begin] for values in outputs]).astype(np.float64))
    pitch_hz, confidence = np.concatenate(pieces, axis=1)
    return pitch_hz, np.where(_loudest(samples, count) < _SILENT, 0.0, confidence)


def _loudest(samples: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """The largest sample of every frame."""
    whole = np.abs(samples[: count * STEP])
    loudest: NDArray[np.float32] = np.pad(whole, (0, count * STEP - len(whole))).reshape(count, STEP).max(axis=1)
    return loudest


@lru_cache(maxsize=2)
def _model(threads: int) -> Session:
    return open_session(files_of(MODEL)["model.onnx"], threads=threads)
