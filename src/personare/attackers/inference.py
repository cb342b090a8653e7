"""Guessing who you are without naming you: gender, age group or accent of a speaker from their disguised voice.

The attacker learns from anonymized speech of other speakers whose attribute they know, then says one value for each
target. Beside it stand: the *majority* guess, which needs no voice at all; and the *control*, the same attacker who
hears somebody else instead of the target. What the attack achieves beyond both is what the anonymization lets through
(article 29 working party's third criterion; risk as in giomi2023anonymeter, computed by the metrics).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import ConfigError
from personare.core.softmax_regression import SoftmaxRegression, fit_softmax_regression
from personare.core.vectors import unit_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.attackers.split import Split

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Inferred:
    """One guess per target speaker: ``truth``, ``guess``, ``control`` [n], and the majority value of the training.

    ``unknown`` counts target speakers whose attribute nobody knows; they are left out.
    """

    speakers: tuple[str, ...]
    truth: NDArray[np.str_]
    guess: NDArray[np.str_]
    control: NDArray[np.str_]
    majority: str
    unknown: int

    @property
    def attempts(self) -> int:
        """How many speakers were attacked."""
        return len(self.speakers)

    @property
    def successes(self) -> int:
        """How many were guessed rightly."""
        return int((self.guess == self.truth).sum())

    @property
    def control_successes(self) -> int:
        """How many were guessed rightly from somebody else's voice."""
        return int((self.control == self.truth).sum())

    @property
    def baseline(self) -> float:
        """Share of targets for whom the majority value is right."""
        return float((self.truth == self.majority).mean())


def infer_attribute(
    split: Split, attribute: Mapping[str, str | None], *, rng: np.random.Generator, l2: float = 1.0
) -> Inferred:
    """Attack one attribute (speaker -> value) of the test speakers; every speaker's utterances are heard together."""
    training = split.training_vectors()
    labels = np.array([attribute.get(name) or "" for name in training.names], dtype=str)[training.speaker]
    known = labels != ""
    counts = np.bincount(training.speaker)[training.speaker]
    classifier = fit_attribute(training.vectors[known], labels[known].tolist(), weights=1 / counts[known], l2=l2)
    test = split.test.embeddings
    speakers = tuple(sorted(name for name in set(test.speakers) if attribute.get(name)))
    if len(speakers) < 2:
        raise ConfigError(f"inference needs two test speakers whose attribute is known, not {len(speakers)}")
    evidence = _per_speaker(classifier.log_probabilities(unit_rows(test.vectors)), test.speakers, speakers)
    classes = np.array(classifier.classes)
    guess = classes[evidence.argmax(1)]
    known_values = [attribute.get(name) or "" for name in training.names]
    return Inferred(
        speakers,
        np.array([attribute[name] for name in speakers], dtype=str),
        guess,
        guess[_somebody_else(len(speakers), rng)],
        max(classifier.classes, key=known_values.count),
        len(set(test.speakers)) - len(speakers),
    )


def fit_attribute(
    vectors: NDArray[np.float32], values: Sequence[str], *, weights: Floats, l2: float = 1.0
) -> SoftmaxRegression:
    """Fit the classifier of an attribute on vectors of length 1."""
    if len(set(values)) < 2:
        raise ConfigError(f"an attribute needs two values among the training speakers, not {len(set(values))}")
    return fit_softmax_regression(unit_rows(vectors), values, example_weights=weights, l2=l2)


def _per_speaker(logs: Floats, owners: Sequence[str], speakers: Sequence[str]) -> Floats:
    """Mean log-probability over every speaker's utterances: [speakers, classes]."""
    position = {name: i for i, name in enumerate(speakers)}
    at = np.array([position.get(name, -1) for name in owners])
    sums = np.zeros((len(speakers), logs.shape[1]))
    np.add.at(sums, at[at >= 0], logs[at >= 0])
    means: Floats = sums / np.bincount(at[at >= 0], minlength=len(speakers))[:, None]
    return means


def _somebody_else(n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """For each of n somebody else, everyone once: one long circle in random order."""
    order = rng.permutation(n)
    other = np.empty(n, np.int64)
    other[order] = np.roll(order, 1)
    return other
