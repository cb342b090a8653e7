"""Opinion scores and intelligibility of many utterances as one number with its interval over speakers.

mean over utterances; the interval leaves out whole speakers, because utterances of one speaker resemble each other.
The scores themselves come from listeners (PESQ, STOI, ESTOI, ViSQOL, DNSMOS); here are their cards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import Estimate, MetricCard
from personare.metrics.intervals import ENDLESS, LEVEL, Bounds, speaker_mean

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_CHANGED = "any change of the voice lowers it, wanted or not: compare anonymizers with it, never with people's opinions"
_NO_REFERENCE = "trained on noisy telephone-like speech; it does not know what was said or who said it"

PESQ_CARD = MetricCard(
    "pesq",
    "PESQ (wide band)",
    "higher",
    (1.04, 4.644),
    None,
    "itu2007p862.2",
    "4.64: nothing changed; 1: bad",
    _CHANGED,
)
STOI_CARD = MetricCard(
    "stoi", "STOI", "higher", (-1.0, 1.0), None, "taal2011stoi", "1: every envelope is as before", _CHANGED
)
ESTOI_CARD = MetricCard(
    "estoi", "Extended STOI", "higher", (-1.0, 1.0), None, "jensen2016estoi", "1: every spectrum is as before", _CHANGED
)
VISQOL_CARD = MetricCard(
    "visqol", "ViSQOL (speech)", "higher", (1.0, 5.0), None, "chinen2020visqol", "5: nothing changed; 1: bad", _CHANGED
)
DNSMOS_CARD = MetricCard(
    "dnsmos", "DNSMOS overall", "higher", (1.0, 5.0), None, "reddy2022dnsmos", "opinion of the whole", _NO_REFERENCE
)
DNSMOS_SPEECH_CARD = MetricCard(
    "dnsmos_speech", "DNSMOS speech", "higher", (1.0, 5.0), None, "reddy2022dnsmos", "the speech alone", _NO_REFERENCE
)
DNSMOS_BACKGROUND_CARD = MetricCard(
    "dnsmos_background",
    "DNSMOS background",
    "higher",
    (1.0, 5.0),
    None,
    "reddy2022dnsmos",
    "5: no background noise",
    _NO_REFERENCE,
)


def mean_estimate(
    scores: ArrayLike,
    *,
    speakers: ArrayLike,
    level: float = LEVEL,
    bounds: Bounds = ENDLESS,
) -> Estimate:
    """Average scores of utterances, one speaker id each, with an interval from leaving out speakers; n = speakers.

    ``bounds`` are those of the score, see ``intervals``.

    >>> print(mean_estimate([1.0, 2.0, 3.0], speakers=["a", "a", "b"]).value)
    2.0
    """
    values, ids = np.asarray(scores, dtype=np.float64), np.asarray(speakers)
    if values.ndim != 1 or values.shape != ids.shape or not len(values):
        raise MetricError(f"each score needs one speaker: {list(values.shape)} and {list(ids.shape)}")
    if not np.isfinite(values).all():
        raise MetricError("a mean needs finite scores; count failures instead of averaging them")
    _, who = np.unique(ids, return_inverse=True)
    return speaker_mean(np.bincount(who, values), np.bincount(who), level=level, bounds=bounds)
