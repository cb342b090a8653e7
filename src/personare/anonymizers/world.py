"""WORLD warp: another throat length, another pitch, another breathiness; the strong simple baseline.

The WORLD vocoder splits speech into pitch, spectral envelope and aperiodicity [morise2016world]. The envelope is
stretched along the frequency axis (a shorter or longer vocal tract), the pitch is moved to a drawn height with its
swings made larger or smaller, and the share of noise is changed; then the parts are put together again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from personare.anonymizers.chance import Range, check_range, draw
from personare.anonymizers.vocoder import Speech, median_pitch_hz, repitched, revoiced, warped
from personare.core.audio import Audio

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class WorldWarp:
    """Another throat length, pitch and breathiness (WORLD vocoder).

    Parameters
    ----------
    warp : factor on all resonances, or a range; 1 keeps them.
    either_way : half of the draws use 1 / warp, so that nobody knows the direction.
    f0_hz : the new median pitch, or a range drawn from evenly in octaves.
    f0_spread : factor on the swings of the pitch around its median, or a range.
    breath : exponent on the share of noise; below 1 is breathier, above 1 is clearer.
    """

    paper: ClassVar[str] = "Morise et al., WORLD, 2016"

    warp: Range = (1.12, 1.25)
    either_way: bool = True
    f0_hz: Range = (95.0, 240.0)
    f0_spread: Range = (0.7, 1.2)
    breath: Range = (0.7, 1.3)

    def __post_init__(self) -> None:
        check_range(self.warp, name="world: warp", low=0.5, high=2.0)
        check_range(self.f0_hz, name="world: f0_hz", low=50.0, high=600.0)
        check_range(self.f0_spread, name="world: f0_spread", low=0.0, high=3.0)
        check_range(self.breath, name="world: breath", low=0.2, high=5.0)

    def __call__(self, audio: Audio, *, rng: np.random.Generator) -> Audio:
        """Hide the voice of one channel."""
        warp = draw(self.warp, rng=rng)
        if self.either_way and rng.random() < 0.5:
            warp = 1 / warp
        target_hz = _drawn_in_octaves(self.f0_hz, rng=rng)
        spread, breath = draw(self.f0_spread, rng=rng), draw(self.breath, rng=rng)
        centre = median_pitch_hz(audio)

        def change(speech: Speech) -> Speech:
            moved = warped(speech, speech.frequencies_hz / warp)
            if centre is not None:
                moved = repitched(moved, centre_hz=centre, target_hz=target_hz, spread=spread)
            return replace(moved, breath=_breathed(moved.breath, breath))

        return revoiced(audio, change)


def _drawn_in_octaves(value: Range, *, rng: np.random.Generator) -> float:
    if isinstance(value, tuple):
        return float(np.exp2(rng.uniform(*np.log2(value))))
    return value


def _breathed(breath: NDArray[np.float64], exponent: float) -> NDArray[np.float64]:
    changed: NDArray[np.float64] = np.clip(breath, 1e-6, 1.0) ** exponent
    return changed
