"""Pools for the tests: invented ones (clouds around two genders) and the real x-vectors beside the project."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from personare.pseudospeakers.pool import SpeakerPool

DIMENSION = 256
_FAR: dict[str, object] = {"farthest": 40, "average": 20}
SETTINGS: dict[str, dict[str, object]] = {
    "b1": _FAR,
    "s1": _FAR,
    "s2": _FAR,
    "keyed": {"voices": 300},
    "wgan": {"steps": 100},
    "ohnn": {"rotations": 3},
}


def clouds(each: int = 120, *, d: int = DIMENSION, seed: int = 0) -> SpeakerPool:
    """Voices of two genders, six clouds each; a few directions vary much, most vary little, as in real vectors.

    Two strangers of one gender have cosines of about -0.1 to 0.5, like the real x-vectors beside the project.
    """
    rng = np.random.default_rng(seed)
    shared = 0.1 * rng.standard_normal(d)
    scales = np.sqrt(np.exp(-np.arange(d) / 15) + 0.02)
    parts, genders = [], []
    for gender in ("f", "m"):
        middle = shared + 0.12 * rng.standard_normal(d)
        centres = middle + 0.6 * scales * rng.standard_normal((6, d))
        parts.append(centres[rng.integers(6, size=each)] + scales * rng.standard_normal((each, d)))
        genders += [gender] * each
    return SpeakerPool((5 * np.concatenate(parts)).astype(np.float32), tuple(genders))


def golden(shared_folder: Path, kind: str = "orig") -> SpeakerPool:
    """The trial x-vectors of VoicePrivacy 2020 with genders and speakers: 1496 x 512."""
    vectors, genders, ids = [], [], []
    for gender in ("f", "m"):
        with np.load(shared_folder / "golden" / "vpc2020" / f"xvectors_trial_{gender}_{kind}.npz") as archive:
            vectors.append(archive["vector"])
            ids += [str(s) for s in archive["speaker"]]
        genders += [gender] * len(vectors[-1])
    return SpeakerPool(np.concatenate(vectors), tuple(genders), tuple(ids))
