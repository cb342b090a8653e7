"""The pseudo-speakers of a trained synthesizer: drawn from the speakers it was trained on, none of them a person.

The pitch of a voice and its gender are linear in its vector, fitted over the training speakers (ridge regression). The
vectors are drawn as O1 draws them, from the principal directions of the speakers of each gender, made non-negative and
of length 1 as the encoder's own are, and drawn again while they are nearer to a training speaker than most recordings
of one person are to each other.
"""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from personare.anonymizers.neural.xvector.weights import SpeakerBank
from personare.core.errors import TrainingError
from personare.encoders.prosody import f0_statistics
from personare.pseudospeakers import pseudospeaker
from personare.pseudospeakers.pool import SpeakerPool
from personare.training.synthesizer.features import SynthesizerFeatures

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_RIDGE = 0.03
_COMPONENTS = 2
_ROUNDS = 200
_MIN_SPEAKERS = 10


@dataclass(frozen=True, eq=False)
class TrainingSpeakers:
    """The training speakers: mean ``vectors`` [n, 256] of length 1, ``genders``, ``pitch`` [n, 2] (NaN: unknown)."""

    vectors: Floats
    genders: tuple[str, ...]
    pitch: Floats
    nearness: float
    """The median cosine of one recording with the mean of its speaker."""


def training_speakers(utterances: Sequence[SynthesizerFeatures], genders: Mapping[str, str | None]) -> TrainingSpeakers:
    """Average the recordings of every speaker."""
    by_speaker: dict[str, list[SynthesizerFeatures]] = defaultdict(list)
    for utterance in utterances:
        by_speaker[utterance.speaker].append(utterance)
    vectors, pitch, nearness = [], [], []
    for own in by_speaker.values():
        mean = np.mean([utterance.vector for utterance in own], axis=0).astype(np.float64)
        mean /= np.linalg.norm(mean)
        vectors.append(mean)
        nearness += [float(utterance.vector @ mean) for utterance in own]
        spoken = f0_statistics(np.concatenate([utterance.track.f0_hz[utterance.track.voiced] for utterance in own]))
        pitch.append((np.nan, np.nan) if spoken is None else (spoken.median_log2_hz, spoken.range_octaves))
    words = tuple((genders.get(name) or "").lower()[:1] for name in by_speaker)
    return TrainingSpeakers(np.array(vectors), words, np.array(pitch), float(np.median(nearness)))


def draw_voices(speakers: TrainingSpeakers, *, count: int, rng: np.random.Generator) -> SpeakerBank:
    """Fit pitch and gender, and draw ``count`` voices of each gender."""
    known = np.isin(speakers.genders, ("f", "m"))
    sign = np.where(np.array(speakers.genders) == "f", 1.0, -1.0)
    spoken = np.isfinite(speakers.pitch).all(axis=1)
    gender = _ridge(speakers.vectors[known], sign[known, None])[:, 0]
    pitch = _ridge(speakers.vectors[spoken], speakers.pitch[spoken])
    vectors, genders = [], []
    for word in ("f", "m"):
        own = speakers.vectors[np.array(speakers.genders) == word]
        if len(own) < _MIN_SPEAKERS:
            raise TrainingError(
                f"{len(own)} training speakers of gender '{word}'; drawing voices takes {_MIN_SPEAKERS}"
            )
        vectors.append(_drawn(own, speakers.vectors, count, nearness=speakers.nearness, rng=rng))
        genders += [word] * count
    return SpeakerBank(
        np.concatenate(vectors).astype(np.float32), tuple(genders), pitch.astype(np.float32), gender.astype(np.float32)
    )


def _ridge(vectors: Floats, targets: Floats) -> Floats:
    """Ridge regression with a free constant: [257, columns]."""
    mean, middle = vectors.mean(axis=0), targets.mean(axis=0)
    centred = vectors - mean
    inner = centred.T @ centred + _RIDGE * len(vectors) * np.eye(vectors.shape[1]) * float(centred.var(axis=0).mean())
    slope: Floats = np.linalg.solve(inner, centred.T @ (targets - middle))
    return np.vstack([slope, middle - mean @ slope])


def _drawn(own: Floats, everyone: Floats, count: int, *, nearness: float, rng: np.random.Generator) -> Floats:
    fitted = pseudospeaker("o1", components=_COMPONENTS, gender="any").fit(SpeakerPool(own.astype(np.float32)), rng=rng)
    kept: list[NDArray[np.float64]] = []
    for _ in range(_ROUNDS):
        some = np.stack([fitted(own[0].astype(np.float32), rng=rng) for _ in range(count)]).astype(np.float64)
        some = np.maximum(some, 0.0)
        some /= np.linalg.norm(some, axis=1, keepdims=True)
        kept += list(some[(some @ everyone.T).max(axis=1) < nearness])
        if len(kept) >= count:
            return np.array(kept[:count])
    raise TrainingError("nearly all drawn voices are too near to a training speaker; train on more speakers")


def encode_voices(voices: SpeakerBank) -> bytes:
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
