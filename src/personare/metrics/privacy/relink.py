"""Relinking: how often somebody who has the originals finds the recording that an anonymized one was made from.

R = (1/n) sum_i 1[ argmax_j s(x'_i, x_j) = the recording that x'_i was made from ],  N originals x_j
s is the likeness of lengths, of energy envelopes, of transcripts or of waveforms; no voice, no key and no model is
needed. The question is that of linking two data sets about the same people              [article2014anonymisation]
Guessing gives 1/N. Where k originals are equally alike, the right one among them counts 1/k.
Deviations: the opinion names the risk and gives no formula; intervals leave out speakers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import Estimate, MetricCard
from personare.metrics.intervals import LEVEL, speaker_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

_EQUAL = 1e-9
ENVELOPE_POINTS = 256


def _card(name: str, title: str, likeness: str, caution: str) -> MetricCard:
    return MetricCard(
        name=name,
        title=title,
        better="lower",
        bounds=(0.0, 1.0),
        chance=None,
        cite="article2014anonymisation, section 2.2.2",
        reading=f"share of recordings that somebody with the originals finds again by {likeness} alone",
        caution=caution,
        unit="%",
    )


DURATION_CARD = _card(
    "relink_duration",
    "Relinking by duration",
    "length",
    "Falls with the number of originals: compare at the same N. Low says nothing of other traces.",
)
ENVELOPE_CARD = _card(
    "relink_envelope",
    "Relinking by energy envelope",
    "the loudness over time",
    "Words and rhythm stay in speech that is to be understood: a better aligner finds more than this one does.",
)
TRANSCRIPT_CARD = _card(
    "relink_transcript",
    "Relinking by transcript",
    "the words in the manifest",
    "Counts words as they are written; whoever can listen or recognize speech needs no manifest.",
)
WAVEFORM_CARD = _card(
    "relink_waveform",
    "Relinking by waveform",
    "the samples",
    "The first seconds are compared, below 2 kHz: a copy, a gain, a delay or a filter is found, a vocoder is not.",
)


def relink_estimate(
    likeness: ArrayLike,
    right: ArrayLike,
    *,
    speakers: ArrayLike,
    level: float = LEVEL,
) -> Estimate:
    """Estimate how often the most alike original is the right one; n = speakers.

    Parameters
    ----------
    likeness : [n, N], higher is more alike.
    right : [n], the column of the recording that each row was made from.

    >>> relink_estimate([[3, 1], [2, 2]], [0, 1], speakers=["a", "b"]).value
    0.75
    """
    table, answers, ids = np.asarray(likeness, dtype=np.float64), np.asarray(right), np.asarray(speakers)
    if table.ndim != 2 or answers.shape != (len(table),) or ids.shape != (len(table),) or not table.size:
        shapes = f"{list(table.shape)}, {list(answers.shape)} and {list(ids.shape)}"
        raise MetricError(f"relinking needs likeness [n, N], n right columns and n speakers, not {shapes}")
    if np.isnan(table).any():
        raise MetricError("relinking needs likeness without NaN")
    best = table.max(axis=1, keepdims=True)
    ties = table >= best - _EQUAL
    credit = ties[np.arange(len(table)), answers] / ties.sum(axis=1)
    _, who = np.unique(ids, return_inverse=True)
    return speaker_mean(np.bincount(who, credit), np.bincount(who), level=level, bounds=DURATION_CARD.bounds)


def duration_likeness(anonymized_s: ArrayLike, original_s: ArrayLike) -> NDArray[np.float64]:
    """Compare lengths in seconds, [n] with [N]: minus the difference.

    >>> duration_likeness([1.0], [1.0, 3.0]).tolist()
    [[0.0, -2.0]]
    """
    after, before = np.asarray(anonymized_s, dtype=np.float64), np.asarray(original_s, dtype=np.float64)
    return np.asarray(-np.abs(after[:, None] - before[None, :])) + 0.0


def envelope_of(samples: NDArray[np.float32], rate_hz: int, *, frame_s: float = 0.01) -> NDArray[np.float64]:
    """Give the log energy of 10 ms frames, stretched to 256 points of zero mean and length 1: how loudness goes."""
    size = max(1, round(frame_s * rate_hz))
    frames = samples[: len(samples) // size * size] if len(samples) >= size else samples
    energy = np.square(frames.astype(np.float64)).reshape(-1, size if len(frames) >= size else len(frames)).mean(axis=1)
    loudness = np.log10(np.maximum(energy, energy.max() * 1e-5 + 1e-12))
    points = np.interp(np.linspace(0, len(loudness) - 1, ENVELOPE_POINTS), np.arange(len(loudness)), loudness)
    points -= points.mean()
    norm = np.linalg.norm(points)
    return points / norm if norm > _EQUAL else np.zeros(ENVELOPE_POINTS)  # a steady sound differs by rounding


def text_likeness(anonymized: Sequence[str | None], original: Sequence[str | None]) -> NDArray[np.float64]:
    """Compare transcripts: 1 where they are the same, 0 elsewhere; no transcript is like no other.

    >>> text_likeness(["a", None], ["a", "b"]).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    return np.array([[float(a is not None and a == b) for b in original] for a in anonymized])


def waveform_likeness(anonymized: NDArray[np.float64], original: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compare sounds [n, t] with [N, t] of one rate: the greatest correlation at any delay, whatever its sign."""
    points = 2 * original.shape[1]
    before = np.fft.rfft(_unit(original), points)
    table = np.empty((len(anonymized), len(original)))
    for row, sound in enumerate(np.fft.rfft(_unit(anonymized), points)):
        table[row] = np.abs(np.fft.irfft(before * sound.conj(), points)).max(axis=1)
    return table


def _unit(sounds: NDArray[np.float64]) -> NDArray[np.float64]:
    centred = sounds - sounds.mean(axis=1, keepdims=True)
    norms = np.linalg.norm(centred, axis=1, keepdims=True)
    return np.asarray(np.divide(centred, norms, out=np.zeros_like(centred), where=norms > 0))
