"""Fitting the label maker: acted emotions for the labels, neutral speech of many people for what a label must not tell.

Closed form, no network: means and covariances of the numbers of ``encoders.expression``. Labelled utterances come in
several recording conditions (clean, noise, band, room). Measured with the speaker left out, and on corpora that are
given for measuring alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from personare.encoders.expression.labels import LABELS, LabelMaker, numbers_of
from personare.encoders.expression.measuring import track_speech
from personare.encoders.swift import RATE_HZ
from personare.training.embedder.augment import coloured_noise, with_noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

CLEAN = "clean"
CONDITIONS = (CLEAN, "noise", "band", "room")
NEUTRAL = LABELS[-1]
LEAST_UTTERANCES = 4  # of a speaker whose mean counts for B
_SNR_DB, _LOW_HZ, _HIGH_HZ, _DECAY_S = (10.0, 30.0), (150.0, 350.0), (3200.0, 6500.0), (0.15, 0.6)
_REVERBERATION_DB = (0.0, 12.0)  # below the direct sound


@dataclass(frozen=True)
class LabelSettings:
    """How the label maker is fitted.

    Parameters
    ----------
    shrinkage : share of the identity in the within-class covariance.
    speaker_weight : mu, how much the differences between speakers count as noise.
    corpus_weight : nu, how much the differences between corpora of neutral speech count as noise.
    neutral_share : of the mean of neutral speech, what comes from the corpora without labels.
    intensity : how far from neutral an emotion is expected to be, against the actors who are trained on.
    most_s : how much of an utterance is measured.
    most_per_speaker : utterances of a speaker without labels.
    """

    shrinkage: float = 0.3
    speaker_weight: float = 1.0
    corpus_weight: float = 1.0
    neutral_share: float = 0.5
    intensity: float = 0.7
    most_s: float = 8.0
    most_per_speaker: int = 10
    seed: int = 1


@dataclass(frozen=True, eq=False)
class MeasuredSpeech:
    """Numbers of utterances [n, d] with speaker, corpus, emotion ("" where nobody noted it) and condition of each."""

    numbers: Floats
    speakers: NDArray[np.str_]
    corpora: NDArray[np.str_]
    emotions: NDArray[np.str_]
    conditions: NDArray[np.str_]

    def where(self, chosen: NDArray[np.bool_]) -> MeasuredSpeech:
        """Give some of the utterances."""
        return MeasuredSpeech(
            self.numbers[chosen],
            self.speakers[chosen],
            self.corpora[chosen],
            self.emotions[chosen],
            self.conditions[chosen],
        )


def measured(samples: NDArray[np.float32], condition: str, *, rng: np.random.Generator) -> Floats | None:
    """Measure 16 kHz samples of an utterance in another recording condition; None where hardly anything is voiced."""
    track = track_speech(recorded_as(samples, condition, rng=rng))
    return None if track is None else numbers_of(track)


def recorded_as(samples: NDArray[np.float32], condition: str, *, rng: np.random.Generator) -> NDArray[np.float32]:
    """Change 16 kHz samples as another recording would be: noise, a narrower band, a room."""
    if condition == "noise":
        return with_noise(samples, coloured_noise(len(samples), rng=rng), float(rng.uniform(*_SNR_DB)))
    if condition == "band":
        hz = np.fft.rfftfreq(len(samples), 1 / RATE_HZ)
        low, high = float(rng.uniform(*_LOW_HZ)), float(rng.uniform(*_HIGH_HZ))
        gains = 1 / np.sqrt((1 + (low / np.maximum(hz, 1.0)) ** 8) * (1 + (hz / high) ** 8))
        return np.fft.irfft(np.fft.rfft(samples) * gains, len(samples)).astype(np.float32)
    if condition == "room":
        times = np.arange(RATE_HZ // 2) / RATE_HZ
        response = rng.standard_normal(len(times)) * 10 ** (-3 * times / float(rng.uniform(*_DECAY_S)))
        response *= 10 ** (-float(rng.uniform(*_REVERBERATION_DB)) / 20) / np.linalg.norm(response)
        response[0] = 1.0
        size = len(samples) + len(response)
        return np.fft.irfft(np.fft.rfft(samples, size) * np.fft.rfft(response, size), size)[: len(samples)].astype(
            np.float32
        )
    return samples


def fit_labels(acted: MeasuredSpeech, neutral: MeasuredSpeech, settings: LabelSettings) -> LabelMaker:
    """Fit a label maker to acted emotions of ``LABELS`` and to neutral speech of other people."""
    acted = acted.where(np.isin(acted.emotions, LABELS))
    corpora = sorted(set(neutral.corpora.tolist()))
    groups = [acted.numbers, *(neutral.numbers[neutral.corpora == name] for name in corpora)]
    weights = [0.5, *([0.5 / len(corpora)] * len(corpora))] if corpora else [1.0]
    mean = sum(weight * group.mean(axis=0) for weight, group in zip(weights, groups, strict=True))
    square = sum(weight * ((group - mean) ** 2).mean(axis=0) for weight, group in zip(weights, groups, strict=True))
    size = acted.numbers.shape[1]
    blank = LabelMaker(
        np.asarray(mean), np.sqrt(square) + 1e-6, *(np.zeros(0),) * 4, weight=np.array(settings.speaker_weight)
    )
    standard, plain = blank.standardized(acted.numbers), blank.standardized(neutral.numbers)
    classes = np.stack([standard[acted.emotions == label].mean(axis=0) for label in LABELS])
    rest = np.concatenate([standard[acted.emotions == label] - classes[i] for i, label in enumerate(LABELS)])
    within = rest.T @ rest / len(rest)
    within = (1 - settings.shrinkage) * within + settings.shrinkage * np.trace(within) / size * np.eye(size)
    between = np.zeros((size, size))
    neutral_mean = classes[-1]
    if corpora:
        means = np.stack([plain[neutral.corpora == name].mean(axis=0) for name in corpora])
        spread = np.stack([classes[-1], *means]) - np.stack([classes[-1], *means]).mean(axis=0)
        within = within + settings.corpus_weight * spread.T @ spread / max(len(corpora), 1)
        between = sum(
            (
                _speaker_covariance(plain[neutral.corpora == name], neutral.speakers[neutral.corpora == name])
                for name in corpora
            ),
            start=between,
        ) / len(corpora)
        neutral_mean = (1 - settings.neutral_share) * classes[-1] + settings.neutral_share * means.mean(axis=0)
    classes = neutral_mean + settings.intensity * (classes - classes[-1])
    maker = LabelMaker(blank.mean, blank.scale, classes, within, between, within, np.array(settings.speaker_weight))
    own = np.stack([maker.unexplained(row) for row in acted.numbers[acted.conditions == CLEAN]])
    people = acted.speakers[acted.conditions == CLEAN]
    own = np.concatenate([own[people == who] - own[people == who].mean(axis=0) for who in sorted(set(people.tolist()))])
    spread = own.T @ own / len(own)
    return LabelMaker(maker.mean, maker.scale, classes, within, between, spread + 0.1 * np.eye(size), maker.weight)


def _speaker_covariance(standard: Floats, speakers: NDArray[np.str_]) -> Floats:
    means = [
        standard[speakers == who].mean(axis=0)
        for who in sorted(set(speakers.tolist()))
        if (speakers == who).sum() >= LEAST_UTTERANCES
    ]
    if len(means) < 2:
        return np.zeros((standard.shape[1],) * 2)
    return np.cov(np.array(means).T)


def labels_of(maker: LabelMaker, speech: MeasuredSpeech, *, knows_speaker: bool) -> NDArray[np.str_]:
    """Label utterances, alone or with what the other utterances of the same speaker tell."""
    given = np.empty(len(speech.numbers), "U16")
    rest = np.stack([maker.unexplained(row) for row in speech.numbers]) if len(speech.numbers) else np.zeros((0, 0))
    for place, row in enumerate(speech.numbers):
        same = speech.speakers == speech.speakers[place]
        offset, count = (tuple(rest[same].mean(axis=0)), int(same.sum())) if knows_speaker else ((), 0)
        given[place] = maker.label(row, offset=offset, sentences=count)
    return given


def recalls(given: NDArray[np.str_], emotions: NDArray[np.str_], labels: Sequence[str]) -> dict[str, float]:
    """Give the recall of every label in percent, and their mean (UAR); labels that nobody noted are left out."""
    each = {
        label: 100 * float((given[emotions == label] == label).mean()) for label in labels if (emotions == label).any()
    }
    return {**each, "uar": float(np.mean(list(each.values())))} if each else {}


def left_out(
    acted: MeasuredSpeech, neutral: MeasuredSpeech, settings: LabelSettings, *, knows_speaker: bool
) -> NDArray[np.str_]:
    """Label the clean utterances of every actor by a label maker that was fitted without that actor, in order."""
    clean = acted.where(acted.conditions == CLEAN)
    given = np.empty(len(clean.numbers), "U16")
    for who in sorted(set(clean.speakers.tolist())):
        maker = fit_labels(acted.where(acted.speakers != who), neutral, settings)
        given[clean.speakers == who] = labels_of(maker, clean.where(clean.speakers == who), knows_speaker=knows_speaker)
    return given
