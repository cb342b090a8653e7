"""Drift: factors that wander a little from phrase to phrase, so that no recording shows one factor from end to end.

Every 0.8 to 2 seconds (about a phrase) each factor gets a new value, drawn by the key; between two values it moves
evenly. One larynx does the same: it rises and falls by some percent of the vocal tract's length while people talk.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from personare.anonymizers.signal.phrases import FRAMES_PER_S
from personare.anonymizers.signal.vocoder import WorldParameters

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

PHRASE_S = (0.8, 2.0)
BLOCK_FRAMES = 10  # 50 ms, within which a factor is constant


@dataclass(frozen=True, eq=False)
class Drift:
    """Factors around 1 over time: logarithms [knots, factors] at ``times_s`` [knots], even between them."""

    times_s: Floats
    logarithms: Floats

    def at(self, time_s: float) -> Floats:
        """Give the factors at one moment: [factors]."""
        return np.exp([np.interp(time_s, self.times_s, track) for track in self.logarithms.T])

    def apply(
        self, speech: WorldParameters, change: Callable[[WorldParameters, Floats], WorldParameters]
    ) -> WorldParameters:
        """Change speech 50 ms by 50 ms, each time with the factors of that moment; on a grid that no cut moves."""
        if not self.logarithms.any():
            return change(speech, np.ones(self.logarithms.shape[1]))
        count, first = len(speech.f0_hz), speech.first_frame
        inner = range((first // BLOCK_FRAMES + 1) * BLOCK_FRAMES - first, count, BLOCK_FRAMES)
        parts = [
            change(_between(speech, begin, end), self.at((first + begin) // BLOCK_FRAMES * BLOCK_FRAMES / FRAMES_PER_S))
            for begin, end in itertools.pairwise([0, *inner, count])
        ]
        return replace(
            speech,
            envelope=np.concatenate([part.envelope for part in parts]),
            aperiodicity=np.concatenate([part.aperiodicity for part in parts]),
        )


def draw_drift(bound: float, *, duration_s: float, rng: Generator, factors: int = 1) -> Drift:
    """Draw factors that stay within 1 / (1 + bound) and 1 + bound; a bound of 0 draws nothing and stays at 1.

    >>> drift = draw_drift(0.04, duration_s=10.0, rng=np.random.default_rng(1), factors=2)
    >>> bool((np.abs(np.log([drift.at(t) for t in range(10)])) <= np.log(1.04)).all())
    True
    """
    if bound == 0:
        return Drift(np.zeros(1), np.zeros((1, factors)))
    times = [0.0]
    while times[-1] < duration_s:
        times.append(times[-1] + float(rng.uniform(*PHRASE_S)))
    reach = np.log1p(bound)
    return Drift(np.array(times), rng.uniform(-reach, reach, size=(len(times), factors)))


def _between(speech: WorldParameters, begin: int, end: int) -> WorldParameters:
    return replace(
        speech,
        f0_hz=speech.f0_hz[begin:end],
        envelope=speech.envelope[begin:end],
        aperiodicity=speech.aperiodicity[begin:end],
        source_frames=speech.source_frames[begin:end],
        first_frame=speech.first_frame + begin,
    )
