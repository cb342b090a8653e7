"""Metrics of utterances before and after, one call each: what is left of words, pitch and emotion.

Every function gives an ``Estimate`` over all utterances; intervals redraw speakers where ``speakers`` names who speaks
in each utterance, else utterances, and are then too narrow where a speaker has several.
Definitions, formulas and deviations: the files of ``metrics.utility``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import Estimate
from personare.metrics.intervals import LEVEL
from personare.metrics.utility import concordance, pitch, recall
from personare.metrics.utility import voicing as voicing_file
from personare.metrics.utility import wer as wer_file
from personare.metrics.utility.quality import mean_estimate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def wer(
    references: str | Sequence[str],
    hypotheses: str | Sequence[str],
    *,
    speakers: ArrayLike | None = None,
    level: float = LEVEL,
) -> Estimate:
    """Compute the word error rate of all utterances together; words are what white space separates.

    >>> from personare import metrics
    >>> metrics.wer(["the cat sat", "yes"], ["the bat", "yes yes"]).value
    0.75
    """
    errors = wer_file.word_errors(_texts(references), _texts(hypotheses))
    who = [str(name) for name in _units(speakers, len(errors.words))]
    return wer_file.wer_estimate(errors, speakers=who, level=level)


def cer(
    references: str | Sequence[str],
    hypotheses: str | Sequence[str],
    *,
    speakers: ArrayLike | None = None,
    level: float = LEVEL,
) -> Estimate:
    """Compute the character error rate; one space between words counts as a letter.

    >>> from personare import metrics
    >>> metrics.cer("abcd", "abxd").value
    0.25
    """
    errors = wer_file.character_errors(_texts(references), _texts(hypotheses))
    who = [str(name) for name in _units(speakers, len(errors.words))]
    return wer_file.wer_estimate(errors, speakers=who, level=level)


def ccc(
    before: ArrayLike,
    after: ArrayLike,
    *,
    speakers: ArrayLike | None = None,
    level: float = LEVEL,
) -> Estimate:
    """Compute the concordance of two lists of values, e.g. arousal before and after.

    >>> from personare import metrics
    >>> metrics.ccc([1, 2, 3], [1, 2, 3]).value
    1.0
    """
    who = _units(speakers, np.size(before))
    return concordance.ccc_estimate(before, after, speakers=who, level=level)


def uar(
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    speakers: ArrayLike | None = None,
    level: float = LEVEL,
) -> Estimate:
    """Compute the unweighted average recall of classes, e.g. emotions.

    >>> from personare import metrics
    >>> metrics.uar(["sad", "sad", "happy"], ["sad", "happy", "happy"]).value
    0.75
    """
    who = _units(speakers, np.size(truth))
    return recall.uar_estimate(truth, predicted, speakers=who, level=level)


def f0_spearman(
    original_hz: Sequence[Any] | ArrayLike,
    anonymized_hz: Sequence[Any] | ArrayLike,
    *,
    speakers: ArrayLike | None = None,
    level: float = LEVEL,
) -> Estimate:
    """Compute the rank correlation of the pitch, mean over utterances; a track per utterance, or one track.

    >>> from personare import metrics
    >>> metrics.f0_spearman([100, 0, 120, 140], [200, 210, 230, 500]).value
    1.0
    """
    values = _of_tracks(pitch.f0_spearman, original_hz, anonymized_hz)
    who = _units(speakers, len(values))
    return pitch.correlation_estimate(values, speakers=who, level=level)


def pitch_correlation(
    original_hz: Sequence[Any] | ArrayLike,
    anonymized_hz: Sequence[Any] | ArrayLike,
    *,
    frames: pitch.Frames = "voiced",
    speakers: ArrayLike | None = None,
    level: float = LEVEL,
) -> Estimate:
    """Compute VoicePrivacy 2022's correlation of the pitch, mean over utterances; a track per utterance, or one track.

    >>> from personare import metrics
    >>> round(metrics.pitch_correlation([0, 100, 120, 140], [0, 200, 240, 280]).value, 6)
    1.0
    """
    values = _of_tracks(lambda a, b: pitch.pitch_correlation(a, b, frames=frames), original_hz, anonymized_hz)
    who = _units(speakers, len(values))
    return pitch.correlation_estimate(values, speakers=who, level=level)


def voicing_error(
    original_hz: Sequence[Any] | ArrayLike,
    anonymized_hz: Sequence[Any] | ArrayLike,
    *,
    speakers: ArrayLike | None = None,
    level: float = LEVEL,
) -> Estimate:
    """Compute the share of frames whose voicing differs, mean over utterances; a track per utterance, or one track.

    >>> from personare import metrics
    >>> metrics.voicing_error([[100, 0], [0, 0]], [[0, 0], [0, 0]]).value
    0.25
    """
    values = _of_tracks(voicing_file.voicing_error, original_hz, anonymized_hz)
    who = _units(speakers, len(values))
    return mean_estimate(values, speakers=who, level=level, bounds=voicing_file.CARD.bounds)


def _texts(texts: str | Sequence[str]) -> Sequence[str]:
    return [texts] if isinstance(texts, str) else texts


def _units(speakers: ArrayLike | None, utterances: int) -> Any:
    """Give the speaker of each utterance; without speakers every utterance is its own."""
    return np.arange(utterances) if speakers is None else np.asarray(speakers)


def _of_tracks(metric: Callable[[Any, Any], float], original: Any, anonymized: Any) -> list[float]:
    """Apply a metric of two tracks to each pair of tracks."""
    first, second = ([side] if _is_track(side) else list(side) for side in (original, anonymized))
    if len(first) != len(second):
        raise MetricError(f"{len(first)} original pitch tracks do not fit {len(second)} anonymized ones")
    return [metric(a, b) for a, b in zip(first, second, strict=True)]


def _is_track(side: Any) -> bool:
    """Whether this is one track (numbers) rather than several."""
    return len(side) == 0 or np.ndim(side[0]) == 0
