"""WORLD warp: another vocal tract length, another F0, another aperiodicity; the strong simple baseline.

The WORLD vocoder splits speech into F0, spectral envelope and aperiodicity [morise2016world]. The envelope is stretched
along the frequency axis (a shorter or longer vocal tract), F0 is moved to a drawn median with its range made wider or
narrower, and the aperiodicity is changed; then the sound is synthesized again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from personare.anonymizers.signal.ranges import Range, check_range, draw, draw_octaves
from personare.anonymizers.signal.vocoder import (
    WorldParameters,
    median_f0_hz,
    resynthesize,
    transform_f0,
    warp_frequencies,
)
from personare.core.audio import Audio
from personare.core.fingerprint import Fingerprinted
from personare.core.progress import part

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class WorldWarp(Fingerprinted):
    """Another vocal tract length, pitch and breathiness (WORLD vocoder).

    Parameters
    ----------
    warp : factor on all formants, or a range; 1 keeps them.
    either_way : half of the draws use 1 / warp, so that nobody knows the direction.
    f0_hz : the new median F0, or a range drawn from evenly in octaves.
    f0_spread : factor on the F0 range (the excursions around the median, in octaves), or a range.
    aperiodicity : exponent on the aperiodicity; below 1 is breathier, above 1 is clearer.
    """

    paper: ClassVar[str] = "Morise et al., WORLD, 2016"
    VERSION: ClassVar[int] = 1
    RENAMED: ClassVar[Mapping[str, str]] = {"breath": "aperiodicity"}

    warp: Range = (1.12, 1.25)
    either_way: bool = True
    f0_hz: Range = (95.0, 240.0)
    f0_spread: Range = (0.7, 1.2)
    aperiodicity: Range = (0.7, 1.3)

    def __post_init__(self) -> None:
        check_range(self.warp, name="world: warp", low=0.5, high=2.0)
        check_range(self.f0_hz, name="world: f0_hz", low=50.0, high=600.0)
        check_range(self.f0_spread, name="world: f0_spread", low=0.0, high=3.0)
        check_range(self.aperiodicity, name="world: aperiodicity", low=0.2, high=5.0)

    def __call__(self, audio: Audio, *, rng: np.random.Generator) -> Audio:
        """Anonymize one channel."""
        warp = draw(self.warp, rng=rng)
        if self.either_way and rng.random() < 0.5:
            warp = 1 / warp
        target_hz = draw_octaves(self.f0_hz, rng=rng)
        spread, exponent = draw(self.f0_spread, rng=rng), draw(self.aperiodicity, rng=rng)
        with part(0.1):
            source_hz = median_f0_hz(audio)

        def change(speech: WorldParameters) -> WorldParameters:
            changed = warp_frequencies(speech, speech.frequencies_hz / warp)
            if source_hz is not None:
                changed = transform_f0(changed, source_hz=source_hz, target_hz=target_hz, spread=spread)
            return replace(changed, aperiodicity=_scaled(changed.aperiodicity, exponent))

        with part(0.9):
            return resynthesize(audio, change)


def _scaled(aperiodicity: NDArray[np.float64], exponent: float) -> NDArray[np.float64]:
    scaled: NDArray[np.float64] = np.clip(aperiodicity, 1e-6, 1.0) ** exponent
    return scaled
