"""How high a voice is, by a small neural network: SwiftF0 (30,000 weights, MIT), on a CPU, offline.

It was trained apart from any signal analysis and keeps its track in noise and in children's voices, where DIO often
follows something else.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import MissingExtraError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RATE_HZ = 16_000
STEP_S = 256 / RATE_HZ  # frame i lies at i * STEP_S
VOICED_FROM = 0.5  # confidence from which a frame is voiced


def swift_track(
    samples: NDArray[np.float32], *, lowest_hz: float, highest_hz: float, needed_for: str, threads: int = 1
) -> tuple[Floats, Floats]:
    """Follow 16 kHz samples: pitch in Hz and confidence per frame, each [frames]."""
    heard = _model(threads, needed_for).detect(samples, RATE_HZ, fmin=lowest_hz, fmax=highest_hz)
    return np.asarray(heard.pitch_hz, np.float64), np.asarray(heard.confidence, np.float64)


@lru_cache(maxsize=4)
def _model(threads: int, needed_for: str) -> Any:
    try:
        from swift_f0 import SwiftF0
    except ImportError:
        raise MissingExtraError("pitch", needed_for) from None
    return SwiftF0(threads=threads, spin=False)
