"""PESQ, wide band: how good anonymized speech would sound on a telephone line, judged beside the original.

ITU-T P.862.2; values from 1.04 (bad) to 4.64 (the original itself). The number punishes any change of the voice, wanted
or not: a perfect anonymizer changes the voice and scores low. Compare systems with it, not with people's opinions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from personare.core.audio import Audio
from personare.core.errors import AudioError, MissingExtraError
from personare.core.requirements import Requirements
from personare.listeners.pairs import PairScore, matched

RATE_HZ = 16_000
SHORTEST_S = 0.25


@dataclass(frozen=True)
class Pesq(PairScore):
    """Judge quality: a batch of (original, anonymized) in, one number each out; what PESQ cannot judge is an error."""

    paper: ClassVar[str] = "ITU-T Recommendation P.862.2, 2007"
    gives: ClassVar[tuple[str, ...]] = ("pesq",)
    requires = Requirements("the listener 'pesq'", {"pesq": "quality"})
    fingerprint = "pesq-wb"

    def __call__(self, batch: Sequence[tuple[Audio, Audio]]) -> list[float]:
        """Compare each pair, resampled to 16 kHz."""
        return [self._one(original, anonymized) for original, anonymized in batch]

    def _one(self, original: Audio, anonymized: Audio) -> float:
        try:
            import pesq
        except ImportError:
            raise MissingExtraError("quality", "the listener 'pesq'") from None
        reference, degraded = matched(original, anonymized, rate_hz=RATE_HZ, shortest_s=SHORTEST_S)
        try:
            return float(pesq.pesq(RATE_HZ, reference, degraded, "wb"))
        except pesq.PesqError as error:
            reason = error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else error
            raise AudioError(f"PESQ cannot judge this pair ({reason})") from None
