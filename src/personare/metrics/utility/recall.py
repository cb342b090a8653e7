"""Unweighted average recall (UAR): are emotions still recognized, each one counting the same however rare it is?

recall = recognized as the class / truly of the class
UAR    = mean of the recall over classes                                                     [schuller2009emotion]

Chance is 1 / number of classes. Used for emotion recognition in VoicePrivacy 2024.
Deviations: none. A class that only one speaker has is not in the mean without that speaker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import Estimate, MetricCard
from personare.metrics.intervals import LEVEL, speaker_interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

CARD = MetricCard(
    name="uar",
    title="Unweighted average recall",
    better="higher",
    bounds=(0.0, 1.0),
    chance=None,
    cite="schuller2009emotion; tomashenko2024plan",
    reading="share of each emotion that is recognized, averaged; guessing gives 1 / number of emotions",
    caution="depends on the recognizer; compare with the original speech",
    unit="%",
)
CLASS_CARD = MetricCard(
    name="recall",
    title="Recall of one class",
    better="higher",
    bounds=(0.0, 1.0),
    chance=None,
    cite="schuller2009emotion",
    reading="share of one emotion that is recognized as such; read all classes together",
    caution="a recognizer that always gives this class reaches 100 %; UAR does not have that flaw",
    unit="%",
)


def uar(truth: ArrayLike, predicted: ArrayLike) -> float:
    """Compute the mean recall over the classes that occur in ``truth``.

    >>> uar(["sad", "sad", "happy"], ["sad", "happy", "happy"])
    0.75
    """
    return float(
        _mean_recall(*(table.sum(axis=0)[None] for table in _tables(truth, predicted, np.zeros(np.size(truth)))))[0]
    )


def uar_chance(truth: ArrayLike) -> float:
    """Give what guessing reaches: one divided by the number of classes."""
    return 1 / len(np.unique(np.asarray(truth)))


def uar_estimate(
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    speakers: ArrayLike,
    level: float = LEVEL,
) -> Estimate:
    """Compute UAR with an interval from leaving out speakers, one id per utterance; n = speakers."""
    hits, totals = _tables(truth, predicted, speakers)
    return speaker_interval(
        lambda drawn: _mean_recall(drawn @ hits, drawn @ totals), speakers=len(hits), level=level, bounds=CARD.bounds
    )


def class_recall_estimate(
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    of: str,
    speakers: ArrayLike,
    level: float = LEVEL,
) -> Estimate:
    """Compute the recall of the class ``of`` with an interval from leaving out speakers; n = speakers who have it.

    >>> class_recall_estimate(list("aab"), list("aba"), of="a", speakers=[1, 2, 2]).value
    0.5
    """
    own = np.asarray(truth) == of
    if not own.any():
        raise MetricError(f"no utterance is truly of the class '{of}'; classes: {', '.join(np.unique(truth).tolist())}")
    return uar_estimate(
        np.asarray(truth)[own], np.asarray(predicted)[own], speakers=np.asarray(speakers)[own], level=level
    )


def _tables(truth: ArrayLike, predicted: ArrayLike, speakers: ArrayLike) -> tuple[Floats, Floats]:
    """Count recognized and all utterances of each speaker and class, [speakers, classes] each."""
    true, guess, ids = np.asarray(truth), np.asarray(predicted), np.asarray(speakers)
    if true.ndim != 1 or not len(true):
        raise MetricError("average recall needs at least one utterance with a true class")
    if not true.shape == guess.shape == ids.shape:
        raise MetricError(f"{len(true)} true classes do not fit {guess.size} predicted ones and {ids.size} speakers")
    classes, kind = np.unique(true, return_inverse=True)
    known, who = np.unique(ids, return_inverse=True)
    cell, shape = who * len(classes) + kind, (len(known), len(classes))
    size = shape[0] * shape[1]
    hits: Floats = np.bincount(cell[true == guess], minlength=size).astype(np.float64)
    totals: Floats = np.bincount(cell, minlength=size).astype(np.float64)
    return hits.reshape(shape), totals.reshape(shape)


def _mean_recall(hits: Floats, totals: Floats) -> Floats:
    there = totals > 0
    recall = np.where(there, hits / np.where(there, totals, 1.0), 0.0)
    mean: Floats = recall.sum(axis=1) / there.sum(axis=1)
    return mean
