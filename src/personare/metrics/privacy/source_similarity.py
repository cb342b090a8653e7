"""SIM: how much coded or anonymized speech still sounds like its speaker: the cosine to the recording it was made from.

SIM = mean over utterances of cos( v(x), v(x') ),  v a speaker vector, x' made from x       [turavecino2025usc, table 1]

1 is the recording itself. Of a codec that shall keep the voice it should be high, of one that shall hide it low; but a
low SIM alone hides nobody: voices that are all moved the same way are found again by who moves them too.
Deviations: intervals leave out speakers, the embedder is the study's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import Estimate, MetricCard
from personare.core.vectors import unit_rows
from personare.metrics.intervals import LEVEL, speaker_mean
from personare.metrics.privacy.vectors import checked_vectors

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

CARD = MetricCard(
    name="sim",
    title="Similarity to the recording SIM",
    better="lower",
    bounds=(-1.0, 1.0),
    chance=None,
    cite="turavecino2025usc, table 1",
    reading="cosine of speaker vectors before and after; 1: the voice is as it was, 0: another one",
    caution="an ignorant attacker's view; voices far from their recordings may still be linked with each other",
)


def sim_estimate(
    original: ArrayLike,
    anonymized: ArrayLike,
    *,
    speakers: ArrayLike,
    level: float = LEVEL,
) -> Estimate:
    """Average the cosine of vectors of the same utterances before and after, [utterances, dimensions]; n = speakers.

    >>> sim_estimate([[1, 0], [0, 2]], [[3, 0], [1, 0]], speakers=["a", "b"]).value
    0.5
    """
    before, after = (unit_rows(checked_vectors(side, of="speaker")) for side in (original, anonymized))
    ids = np.asarray(speakers)
    if before.shape != after.shape or ids.shape != (len(before),):
        shapes = f"{list(before.shape)}, {list(after.shape)} and {list(ids.shape)}"
        raise MetricError(f"each utterance needs a vector before, one after and a speaker, not {shapes}")
    _, who = np.unique(ids, return_inverse=True)
    cosines = (before * after).sum(axis=1)
    return speaker_mean(np.bincount(who, cosines), np.bincount(who), level=level, bounds=CARD.bounds)
