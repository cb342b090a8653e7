"""WORLD warp: another vocal tract length, another F0, another aperiodicity; the strong simple baseline.

The WORLD vocoder splits speech into F0, spectral envelope and aperiodicity [morise2016world]. The envelope is stretched
along the frequency axis (a shorter or longer vocal tract), F0 is moved to a drawn median with its range made wider or
narrower, and the aperiodicity is changed; then the sound is synthesized again.

The axis is stretched in two straight pieces, as in vocal tract length normalization [lee1998frequency]: by the factor
up to a drawn knee, and from there so that the end of the band stays where it is. Stretched as a whole, a voice moved
down ended below the band, and the edge told the factor; a cliff that a telephone has left would be moved by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from personare.anonymizers.signal.band_limit import band_limit_hz
from personare.anonymizers.signal.drift import draw_drift
from personare.anonymizers.signal.ranges import Range, check_range, draw, draw_octaves
from personare.anonymizers.signal.vocoder import (
    WORLD_LIBRARIES,
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

    Floats = NDArray[np.float64]

_KNEES = (0.7, 0.85)  # share of the band, before or after, whichever ends higher


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
    drift : how far the warp wanders from phrase to phrase, as a share of it; 0 keeps one factor throughout.
    """

    paper: ClassVar[str] = "Morise et al., WORLD, 2016"
    VERSION: ClassVar[int] = 2
    LIBRARIES: ClassVar[Mapping[str, str]] = WORLD_LIBRARIES
    RENAMED: ClassVar[Mapping[str, str]] = {"breath": "aperiodicity"}

    warp: Range = (1.12, 1.25)
    either_way: bool = True
    f0_hz: Range = (95.0, 240.0)
    f0_spread: Range = (0.7, 1.2)
    aperiodicity: Range = (0.7, 1.3)
    drift: float = 0.04

    def __post_init__(self) -> None:
        check_range(self.warp, name="world: warp", low=0.5, high=2.0)
        check_range(self.f0_hz, name="world: f0_hz", low=50.0, high=600.0)
        check_range(self.f0_spread, name="world: f0_spread", low=0.0, high=3.0)
        check_range(self.aperiodicity, name="world: aperiodicity", low=0.2, high=5.0)
        check_range(self.drift, name="world: drift", low=0.0, high=0.2)

    secret_names: ClassVar[tuple[str, ...]] = ("warp, in octaves", "F0, in octaves", "F0 range", "aperiodicity")

    def secrets(self, audio: Audio, *, rng: np.random.Generator) -> Floats:
        """Give the warp and the change of the median F0 in octaves, the factor on its range, the exponent."""
        change, source_hz = self._draw(rng), median_f0_hz(audio)
        octaves = 0.0 if source_hz is None else np.log2(change.target_hz / source_hz)
        return np.array([np.log2(change.warp), octaves, change.spread, change.exponent])

    def undo(self, audio: Audio, secrets: Floats) -> Audio:
        """Stretch the axis back, and F0, its range and the aperiodicity with it; the knee is taken to be usual."""
        warp, ratio = np.exp2(np.clip(secrets[:2], -2.0, 2.0)).tolist()
        spread, exponent = np.clip(secrets[2:], 0.1, 10.0).tolist()
        source_hz, limit_hz = median_f0_hz(audio), band_limit_hz(audio)

        def change(speech: WorldParameters) -> WorldParameters:
            sources_hz = stretched(
                speech.frequencies_hz, 1 / warp, knee_hz=float(np.mean(_KNEES)) * limit_hz, limit_hz=limit_hz
            )
            changed = warp_frequencies(speech, sources_hz)
            if source_hz is not None:
                changed = transform_f0(changed, source_hz=source_hz, target_hz=source_hz / ratio, spread=1 / spread)
            return replace(changed, aperiodicity=_scaled(changed.aperiodicity, 1 / exponent))

        return resynthesize(audio, change)

    def _draw(self, rng: np.random.Generator) -> _Draw:
        warp = draw(self.warp, rng=rng)
        if self.either_way and rng.random() < 0.5:
            warp = 1 / warp
        target_hz = draw_octaves(self.f0_hz, rng=rng)
        return _Draw(warp, target_hz, draw(self.f0_spread, rng=rng), draw(self.aperiodicity, rng=rng))

    def __call__(self, audio: Audio, *, rng: np.random.Generator) -> Audio:
        """Anonymize one channel."""
        drawn = self._draw(rng)
        knee = float(rng.uniform(*_KNEES))
        drift = draw_drift(self.drift, duration_s=audio.duration_s, rng=rng)
        with part(0.1):
            source_hz, limit_hz = median_f0_hz(audio), band_limit_hz(audio)

        def warped(speech: WorldParameters, factors: Floats) -> WorldParameters:
            factor = drawn.warp * float(factors[0])
            sources_hz = stretched(speech.frequencies_hz, factor, knee_hz=knee * limit_hz, limit_hz=limit_hz)
            return warp_frequencies(speech, sources_hz)

        def change(speech: WorldParameters) -> WorldParameters:
            changed = drift.apply(speech, warped)
            if source_hz is not None:
                changed = transform_f0(changed, source_hz=source_hz, target_hz=drawn.target_hz, spread=drawn.spread)
            return replace(changed, aperiodicity=_scaled(changed.aperiodicity, drawn.exponent))

        with part(0.9):
            return resynthesize(audio, change)


@dataclass(frozen=True)
class _Draw:
    """What the key decides: factor on formants, new median F0, factor on its range, exponent on the aperiodicity."""

    warp: float
    target_hz: float
    spread: float
    exponent: float


def stretched(frequencies_hz: Floats, factor: float, *, knee_hz: float, limit_hz: float) -> Floats:
    """Map each frequency of the result to the one it comes from: stretched up to the knee, the limit onto itself.

    >>> stretched(np.array([1250.0, 5000.0, 8000.0]), 1.25, knee_hz=5000.0, limit_hz=8000.0).tolist()
    [1000.0, 4000.0, 8000.0]
    """
    after_hz = min(knee_hz, knee_hz * factor)
    ends_hz = [limit_hz, max(limit_hz, float(frequencies_hz[-1]))]
    sources_hz: Floats = np.interp(frequencies_hz, [0.0, after_hz, *ends_hz], [0.0, after_hz / factor, *ends_hz])
    return sources_hz


def _scaled(aperiodicity: Floats, exponent: float) -> Floats:
    scaled: Floats = np.clip(aperiodicity, 1e-6, 1.0) ** exponent
    return scaled
