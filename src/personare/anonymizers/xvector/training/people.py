"""The voices a trained synthesizer may speak with: invented from the speakers it learnt from, none of them a person.

How high a voice speaks, and its gender, are straight lines from its vector, fitted over the training speakers (ridge
regression). The invented vectors are drawn as O1 draws them, from the main directions of the speakers of each gender,
made non-negative and of length 1 as the encoder's own are, and drawn again while they are nearer to a training speaker
than most recordings of one person are to each other.
"""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from personare.anonymizers.neural.xvector.prosody import f0_statistics
from personare.anonymizers.neural.xvector.weights import SpeakerBank
from personare.anonymizers.xvector.training.lessons import Lesson
from personare.core.errors import TrainingError
from personare.pseudospeakers import pseudospeaker
from personare.pseudospeakers.pool import SpeakerPool

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_RIDGE = 0.03
_COMPONENTS = 2
_ROUNDS = 200
_FEWEST = 10


@dataclass(frozen=True, eq=False)
class People:
    """The training speakers: mean ``vectors`` [n, 256] of length 1, ``genders``, ``pitch`` [n, 2] (NaN: unknown)."""

    vectors: Floats
    genders: tuple[str, ...]
    pitch: Floats
    nearness: float
    """The median cosine of one recording with the mean of its speaker."""


def people_of(lessons: Sequence[Lesson], genders: Mapping[str, str | None]) -> People:
    """Average the recordings of every speaker."""
    by_speaker: dict[str, list[Lesson]] = defaultdict(list)
    for lesson in lessons:
        by_speaker[lesson.speaker].append(lesson)
    vectors, pitch, nearness = [], [], []
    for said in by_speaker.values():
        mean = np.mean([lesson.vector for lesson in said], axis=0).astype(np.float64)
        mean /= np.linalg.norm(mean)
        vectors.append(mean)
        nearness += [float(lesson.vector @ mean) for lesson in said]
        found = f0_statistics(np.concatenate([lesson.track.f0_hz[lesson.track.voiced] for lesson in said]))
        pitch.append((np.nan, np.nan) if found is None else (found.median_log2_hz, found.range_octaves))
    words = tuple((genders.get(name) or "").lower()[:1] for name in by_speaker)
    return People(np.array(vectors), words, np.array(pitch), float(np.median(nearness)))


def voices_of(people: People, *, count: int, rng: np.random.Generator) -> SpeakerBank:
    """Fit the lines and invent ``count`` voices of each gender."""
    known = np.isin(people.genders, ("f", "m"))
    sign = np.where(np.array(people.genders) == "f", 1.0, -1.0)
    spoken = np.isfinite(people.pitch).all(axis=1)
    gender = _line(people.vectors[known], sign[known, None])[:, 0]
    pitch = _line(people.vectors[spoken], people.pitch[spoken])
    vectors, genders = [], []
    for word in ("f", "m"):
        own = people.vectors[np.array(people.genders) == word]
        if len(own) < _FEWEST:
            raise TrainingError(f"{len(own)} training speakers of gender '{word}'; inventing voices takes {_FEWEST}")
        vectors.append(_drawn(own, people.vectors, count, nearness=people.nearness, rng=rng))
        genders += [word] * count
    return SpeakerBank(
        np.concatenate(vectors).astype(np.float32), tuple(genders), pitch.astype(np.float32), gender.astype(np.float32)
    )


def _line(vectors: Floats, wanted: Floats) -> Floats:
    """Ridge regression with a free constant: [257, columns]."""
    mean, middle = vectors.mean(axis=0), wanted.mean(axis=0)
    centred = vectors - mean
    inner = centred.T @ centred + _RIDGE * len(vectors) * np.eye(vectors.shape[1]) * float(centred.var(axis=0).mean())
    slope: Floats = np.linalg.solve(inner, centred.T @ (wanted - middle))
    return np.vstack([slope, middle - mean @ slope])


def _drawn(own: Floats, people: Floats, count: int, *, nearness: float, rng: np.random.Generator) -> Floats:
    fitted = pseudospeaker("o1", components=_COMPONENTS, gender="any").fit(SpeakerPool(own.astype(np.float32)), rng=rng)
    kept: list[NDArray[np.float64]] = []
    for _ in range(_ROUNDS):
        some = np.stack([fitted(own[0].astype(np.float32), rng=rng) for _ in range(count)]).astype(np.float64)
        some = np.maximum(some, 0.0)
        some /= np.linalg.norm(some, axis=1, keepdims=True)
        kept += list(some[(some @ people.T).max(axis=1) < nearness])
        if len(kept) >= count:
            return np.array(kept[:count])
    raise TrainingError("nearly all invented voices are too near to a training speaker; train on more speakers")


def encoded(voices: SpeakerBank) -> bytes:
    """Write the voices as the bytes of an npz."""
    stream = io.BytesIO()
    np.savez_compressed(
        stream,
        vectors=voices.vectors,
        genders=np.array(voices.genders, dtype=str),
        pitch=voices.f0_regression,
        gender=voices.gender_regression,
    )
    return stream.getvalue()
