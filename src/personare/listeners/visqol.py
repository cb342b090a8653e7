"""ViSQOL, speech mode: how close anonymized speech sounds to the original, by similarity of spectrograms.

Neurogram similarity (NSIM) of patches of 20 bands, mapped to a mean opinion score of 1 to 5        [chinen2020visqol]
The mapping from similarity to opinion is the polynomial one, scaled so that the original itself scores 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from personare.core.audio import Audio
from personare.core.errors import AudioError, MissingExtraError
from personare.core.requirements import Requirements
from personare.listeners.pairs import PairScore, matched

RATE_HZ = 16_000
SHORTEST_S = 1.0


@dataclass(frozen=True)
class Visqol(PairScore):
    """Judge quality: a batch of (original, anonymized) in, one opinion score each out."""

    paper: ClassVar[str] = "Chinen et al., ViSQOL v3, 2020"
    gives: ClassVar[tuple[str, ...]] = ("visqol",)
    requires = Requirements("the listener 'visqol'", {"visqol": "quality"})
    fingerprint = "visqol-speech-polynomial"

    def __call__(self, batch: Sequence[tuple[Audio, Audio]]) -> list[float]:
        """Compare each pair, resampled to 16 kHz."""
        return [self._one(original, anonymized) for original, anonymized in batch]

    def _one(self, original: Audio, anonymized: Audio) -> float:
        judge = _judge()
        reference, degraded = matched(original, anonymized, rate_hz=RATE_HZ, shortest_s=SHORTEST_S)
        try:
            found = judge.measure_from_arrays(reference.astype(np.float64), degraded.astype(np.float64), RATE_HZ)
        except (ValueError, IndexError, RuntimeError) as error:
            raise AudioError(f"ViSQOL cannot judge this pair ({error})") from None
        return float(found.moslqo)


@lru_cache(maxsize=1)
def _judge() -> Any:
    try:
        from visqol import VisqolApi
    except ImportError:
        raise MissingExtraError("quality", "the listener 'visqol'") from None
    judge = VisqolApi()
    judge.create(mode="speech", use_lattice_model=False)
    return judge
