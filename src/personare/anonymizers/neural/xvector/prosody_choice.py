"""How it is said: which of F0 contour, voicing, energy and timing are the speaker's, and which are predicted or drawn.

What is measured on the source can give its speaker away to an attacker who knows the method: the energy contour, the
shape of F0 (docs/explain/leaks.md says how that is measured). The prosody network makes them from content and the
pseudo-speaker's vector instead. Timing is moved by keyed chance: how fast the whole is spoken and how much silence is
at its ends, and, where asked for, the speed of every stretch of about a syllable.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from personare.core.errors import ConfigError
from personare.encoders.grid import PAIR, STEP
from personare.encoders.prosody import F0Statistics, PredictedProsody, ProsodyTrack, transform_f0

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

F0Choice = Literal["keep", "blend", "predicted", "flat"]
EnergyChoice = Literal["keep", "predicted"]
TimingChoice = Literal["keep", "moved", "even"]
MOST_RETIMED = 0.5
TEMPO_OCTAVES = 0.3  # a pseudo-speaker speaks up to so much slower or faster: 0.81 to 1.23 times the time
_STRETCH = (10, 30)  # frames of 12 ms that share a speed: about a syllable


@dataclass(frozen=True)
class ProsodyChoice:
    """What of the prosody is kept.

    Parameters
    ----------
    f0 : the contour's shape is the source's, a ``blend``, ``predicted`` from content, or ``flat``; the latter two have
        predicted voicing too.
    blend : share of the predicted contour in a blend.
    energy : the source's, or predicted from content.
    timing : the source's, or ``moved``: another tempo, drawn, and other silence at both ends; or ``even``: besides, one
        rate for everybody, and pauses that are drawn (see even_timing.py).
    retime : how much slower or faster a stretch may become (0.2: by a fifth), against the rest; 0 for none.
    """

    f0: F0Choice = "keep"
    blend: float = 0.5
    energy: EnergyChoice = "keep"
    timing: TimingChoice = "keep"
    retime: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.blend <= 1:
            raise ConfigError(f"xvector: blend is a share, 0 to 1, not {self.blend}")
        if not 0 <= self.retime <= MOST_RETIMED:
            raise ConfigError(f"xvector: retime is 0 (no stretch) to {MOST_RETIMED}, not {self.retime}")

    @property
    def needs_prediction(self) -> bool:
        """Whether the prosody network is needed."""
        return self.f0 != "keep" or self.energy != "keep" or self.timing == "even"

    def tempo(self, rng: np.random.Generator) -> float:
        """Draw how many times as long everything becomes."""
        return float(np.exp2(rng.uniform(-TEMPO_OCTAVES, TEMPO_OCTAVES))) if self.timing != "keep" else 1.0

    @property
    def needs_track(self) -> bool:
        """Whether anything is measured on the source."""
        return self.f0 in ("keep", "blend") or self.energy == "keep"


def chosen_prosody(
    choice: ProsodyChoice,
    track: ProsodyTrack | None,
    predicted: PredictedProsody | None,
    *,
    source: F0Statistics | None,
    target: F0Statistics,
) -> ProsodyTrack:
    """Put the prosody of a phrase together; F0 moves from the ``source`` statistics (None: stays) to ``target``."""
    if track is None:
        assert predicted is not None, "nothing measured needs everything predicted"
        track = ProsodyTrack(predicted.f0_hz(target), predicted.voiced, predicted.energy_db)
    elif choice.f0 in ("keep", "blend") and source is not None:
        track = transform_f0(track, source, target)
    if predicted is None:
        return track
    if choice.energy == "predicted":
        track = replace(track, energy_db=predicted.energy_db)
    if choice.f0 == "blend":
        octaves = (1 - choice.blend) * np.log2(track.f0_hz) + choice.blend * np.log2(predicted.f0_hz(target))
        return replace(track, f0_hz=np.exp2(octaves).astype(np.float32))
    if choice.f0 == "predicted":
        return replace(track, f0_hz=predicted.f0_hz(target), voiced=predicted.voiced)
    if choice.f0 == "flat":
        flat = np.full(len(track.f0_hz), np.exp2(target.median_log2_hz), np.float32)
        return replace(track, f0_hz=flat, voiced=predicted.voiced)
    return track


def retimed_places(count: int, *, reach: float, tempo: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw where each frame of the result comes from, ``tempo`` times as many as ``count``: rising, 0 to count - 1.

    The speed of a stretch, against the mean, lies between 1 / (1 + reach) and 1 + reach.
    """
    drawn = max(1, round(count * tempo))
    places = np.concatenate([[0.0], np.cumsum(stretch_speeds(drawn - 1, reach=reach, rng=rng))])
    return places * ((count - 1) / max(float(places[-1]), 1e-9))


def stretch_speeds(count: int, *, reach: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw the speed of each of ``count`` frames, the same within a stretch."""
    speeds: list[float] = []
    half = np.log1p(reach) / 2  # a speed against the mean of such speeds is within twice this
    while len(speeds) < count:
        speeds += [float(np.exp(rng.uniform(-half, half)))] * int(rng.integers(*_STRETCH))
    return np.array(speeds[: max(count, 0)])


def retime_rows(rows: Floats, places: NDArray[np.float64]) -> Floats:
    """Take rows [count, ...] from other places, with linear interpolation."""
    below = np.minimum(places.astype(np.intp), max(len(rows) - 2, 0))
    share = (places - below).astype(np.float32).reshape(-1, *[1] * (rows.ndim - 1))
    moved: Floats = rows[below] * (1 - share) + rows[np.minimum(below + 1, len(rows) - 1)] * share
    return moved


def retime_track(track: ProsodyTrack, places: NDArray[np.float64]) -> ProsodyTrack:
    """Move a track along: its fine frames are between those of the network."""
    fine = fine_places(places, len(track.f0_hz))
    octaves = retime_rows(np.log2(track.f0_hz), fine)
    nearest = np.rint(fine).astype(np.intp)
    return ProsodyTrack(np.exp2(octaves).astype(np.float32), track.voiced[nearest], retime_rows(track.energy_db, fine))


def fine_places(places: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Where fine frames come from, of which the source has ``count``, when the network's come from ``places``."""
    middles = (np.arange(len(places)) + 0.5) * PAIR - 0.5
    moved = np.interp(np.arange(len(places) * PAIR), middles, (places + 0.5) * PAIR - 0.5)
    return np.clip(moved, 0, count - 1)


def sample_places(places: NDArray[np.float64], count: int, *, length: int) -> NDArray[np.intp]:
    """Where the ``length`` samples of the result come from, of which the source has ``count``."""
    middles = (np.arange(len(places)) + 0.5) * STEP
    moved = np.interp(np.arange(length), middles, (places + 0.5) * STEP)
    return np.clip(np.rint(moved), 0, max(count - 1, 0)).astype(np.intp)
