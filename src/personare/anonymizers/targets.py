"""Voices to aim at: a table of average pitch and resonances, built in or measured on any corpus.

The built-in table is made of published averages, not of anybody's recordings: F0 and F1..F4 of 45 men and 48 women,
mean over twelve vowels [hillenbrand1995, table V]; F5 from the spacing of a tube closed at one end (F5 = 9/7 F4).
Around each average, voices are spread by our choice of one standard deviation: throat length 5 %, pitch 2 semitones,
single formants 2.5 %, so that men and women overlap a little, as they do in [petersonbarney1952, hillenbrand1995].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist

import numpy as np

from personare.anonymizers.resonances import formants
from personare.anonymizers.vocoder import median_pitch_hz
from personare.core.audio import Audio
from personare.core.errors import TableError
from personare.core.tables import read_frame, write_frame

FORMANTS = ("f1_hz", "f2_hz", "f3_hz", "f4_hz", "f5_hz")
_AVERAGE = {
    "m": (130.0, (523.0, 1511.0, 2511.0, 3536.0, 4546.0)),
    "f": (220.0, (615.0, 1761.0, 2860.0, 4159.0, 5347.0)),
}
_EACH = 24
_LENGTH_SD, _PITCH_SD_SEMITONES, _FORMANT_SD = 0.05, 2.0, 0.025


@dataclass(frozen=True)
class Target:
    """A voice to aim at: median pitch and median formants."""

    gender: str
    f0_hz: float
    formants_hz: tuple[float, ...]


def built_in() -> list[Target]:
    """Give the built-in table: 24 men and 24 women spread evenly through the plausible range.

    >>> voices = built_in()
    >>> len(voices), round(min(v.f0_hz for v in voices)), round(max(v.f0_hz for v in voices))
    (48, 109, 274)
    """
    return [_spread(gender, i) for gender in ("m", "f") for i in range(_EACH)]


def neutral() -> Target:
    """Give the voice between the two averages, taken for a speaker too short to be measured."""
    men, women = _AVERAGE["m"], _AVERAGE["f"]
    middle = tuple((a * b) ** 0.5 for a, b in zip(men[1], women[1], strict=True))
    return Target("", (men[0] * women[0]) ** 0.5, middle)


def _spread(gender: str, i: int) -> Target:
    """Place the i-th voice: evenly spread quantiles of independent normal deviations (a Kronecker lattice)."""
    steps = np.sqrt([2, 3, 5, 7, 11, 13, 17])  # irrational: no two columns move together
    normal = [NormalDist().inv_cdf(float(q)) for q in 0.02 + 0.96 * ((i + 0.5) * steps % 1.0)]
    pitch_hz, places = _AVERAGE[gender]
    length = 1 + _LENGTH_SD * normal[0]
    shifted = tuple(f * length * (1 + _FORMANT_SD * z) for f, z in zip(places, normal[2:], strict=True))
    return Target(gender, pitch_hz * 2 ** (_PITCH_SD_SEMITONES * normal[1] / 12), shifted)


def measure(utterances: Sequence[Audio], *, gender: str = "") -> Target | None:
    """Measure one speaker: medians over their utterances, None when none of them shows enough speech."""
    pitches = [p for p in (median_pitch_hz(audio) for audio in utterances) if p is not None]
    places = [p for p in (formants(audio) for audio in utterances) if p is not None and len(p) == len(FORMANTS)]
    if not pitches or not places:
        return None
    middle = np.median(np.stack(places), axis=0)
    return Target(gender, float(np.median(pitches)), tuple(float(f) for f in middle))


def save(targets: Sequence[Target], path: Path) -> None:
    """Write a table: one row per target, without any name."""
    import polars as pl

    rows = [
        {"gender": t.gender, "f0_hz": round(t.f0_hz, 1)}
        | {name: round(f, 1) for name, f in zip(FORMANTS, t.formants_hz, strict=True)}
        for t in targets
    ]
    write_frame(pl.DataFrame(rows), path)


def load(path: Path) -> list[Target]:
    """Read a table that `personare fit-targets` (or a hand) has written."""
    frame = read_frame(path)
    missing = [name for name in ("f0_hz", *FORMANTS) if name not in frame.columns]
    if missing:
        raise TableError(f"{path}: column '{missing[0]}' is missing; make the table with: personare fit-targets")
    if not len(frame):
        raise TableError(f"{path}: holds no targets")
    return [_target(row, f"{path}: row {i + 1}") for i, row in enumerate(frame.iter_rows(named=True))]


def _target(row: dict[str, object], where: str) -> Target:
    try:
        f0, *places = (float(str(row[name])) for name in ("f0_hz", *FORMANTS))
    except ValueError:
        raise TableError(f"{where}: pitch and formants must be numbers in Hz") from None
    if not (50 <= f0 <= 600 and all(a < b for a, b in zip([100.0, *places], [*places, 12_000.0], strict=True))):
        raise TableError(f"{where}: pitch must lie in 50..600 Hz and formants must rise within 100..12000 Hz")
    return Target(str(row.get("gender") or ""), f0, tuple(places))
