"""Target voices: a table of median F0 and formants, built in or measured on any corpus.

The built-in table is made of published averages, not of anybody's recordings: F0 and F1..F4 of 45 men and 48 women,
mean over twelve vowels [hillenbrand1995, table V]; F5 from the spacing of a tube closed at one end (F5 = 9/7 F4).
Around each average, targets are spread by our choice of one standard deviation: tract length 5 %, F0 2 semitones,
single formants 2.5 %, so that men and women overlap a little, as they do in [petersonbarney1952, hillenbrand1995].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist

import numpy as np

from personare.anonymizers.signal.formant_tracking import median_formants_hz
from personare.anonymizers.signal.vocoder import median_f0_hz
from personare.core.audio import Audio
from personare.core.errors import TableError
from personare.core.tables import read_frame, write_frame

FORMANTS = ("f1_hz", "f2_hz", "f3_hz", "f4_hz", "f5_hz")
_AVERAGE = {
    "m": (130.0, (523.0, 1511.0, 2511.0, 3536.0, 4546.0)),
    "f": (220.0, (615.0, 1761.0, 2860.0, 4159.0, 5347.0)),
}
_EACH = 24
_TRACT_SD, _F0_SD_SEMITONES, _FORMANT_SD = 0.05, 2.0, 0.025


@dataclass(frozen=True)
class TargetVoice:
    """A voice to aim at: median F0 and median formants."""

    gender: str
    f0_hz: float
    formants_hz: tuple[float, ...]


def builtin_targets() -> list[TargetVoice]:
    """Give the built-in table: 24 men and 24 women spread evenly through the plausible range.

    >>> table = builtin_targets()
    >>> len(table), round(min(t.f0_hz for t in table)), round(max(t.f0_hz for t in table))
    (48, 109, 274)
    """
    return [_lattice_target(gender, i) for gender in ("m", "f") for i in range(_EACH)]


def average_target() -> TargetVoice:
    """Give the voice between the two averages, taken for a speaker too short to be measured."""
    men, women = _AVERAGE["m"], _AVERAGE["f"]
    middle = tuple((a * b) ** 0.5 for a, b in zip(men[1], women[1], strict=True))
    return TargetVoice("", (men[0] * women[0]) ** 0.5, middle)


def _lattice_target(gender: str, i: int) -> TargetVoice:
    """Place the i-th voice: evenly spread quantiles of independent normal deviations (a Kronecker lattice)."""
    steps = np.sqrt([2, 3, 5, 7, 11, 13, 17])  # irrational: no two columns move together
    normal = [NormalDist().inv_cdf(float(q)) for q in 0.02 + 0.96 * ((i + 0.5) * steps % 1.0)]
    f0_hz, formants = _AVERAGE[gender]
    length = 1 + _TRACT_SD * normal[0]
    shifted = tuple(f * length * (1 + _FORMANT_SD * z) for f, z in zip(formants, normal[2:], strict=True))
    return TargetVoice(gender, f0_hz * 2 ** (_F0_SD_SEMITONES * normal[1] / 12), shifted)


def measure_target(utterances: Sequence[Audio], *, gender: str = "") -> TargetVoice | None:
    """Measure one speaker: medians over their utterances, None when none of them shows enough speech."""
    f0s = [f0 for f0 in (median_f0_hz(audio) for audio in utterances) if f0 is not None]
    formants = [
        f for f in (median_formants_hz(audio) for audio in utterances) if f is not None and len(f) == len(FORMANTS)
    ]
    if not f0s or not formants:
        return None
    middle = np.median(np.stack(formants), axis=0)
    return TargetVoice(gender, float(np.median(f0s)), tuple(float(f) for f in middle))


def save_targets(targets: Sequence[TargetVoice], path: Path) -> None:
    """Write a table: one row per target, without any name."""
    import polars as pl

    rows = [
        {"gender": t.gender, "f0_hz": round(t.f0_hz, 1)}
        | {name: round(f, 1) for name, f in zip(FORMANTS, t.formants_hz, strict=True)}
        for t in targets
    ]
    write_frame(pl.DataFrame(rows), path)


def load_targets(path: Path) -> list[TargetVoice]:
    """Read a table that `personare fit-targets` (or a hand) has written."""
    frame = read_frame(path)
    missing = [name for name in ("f0_hz", *FORMANTS) if name not in frame.columns]
    if missing:
        raise TableError(f"{path}: column '{missing[0]}' is missing; make the table with: personare fit-targets")
    if not len(frame):
        raise TableError(f"{path}: holds no targets")
    return [_target(row, f"{path}: row {i + 1}") for i, row in enumerate(frame.iter_rows(named=True))]


def _target(row: dict[str, object], where: str) -> TargetVoice:
    try:
        f0, *formants = (float(str(row[name])) for name in ("f0_hz", *FORMANTS))
    except ValueError:
        raise TableError(f"{where}: pitch and formants must be numbers in Hz") from None
    if not (50 <= f0 <= 600 and all(a < b for a, b in zip([100.0, *formants], [*formants, 12_000.0], strict=True))):
        raise TableError(f"{where}: pitch must lie in 50..600 Hz and formants must rise within 100..12000 Hz")
    return TargetVoice(str(row.get("gender") or ""), f0, tuple(formants))
