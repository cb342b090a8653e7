"""Word error rate: how much of what was said a recognizer no longer gets right.

WER = (substitutions + deletions + insertions) / words in the references       [tomashenko2022voiceprivacy, sec. 2.3.1]

Errors are summed over all utterances before dividing. The alignment is jiwer's (least edits).
Deviations: none. Words are what white space separates: bring case, punctuation and numbers into one form before.

CER, the character error rate, is the same with letters instead of words; one space between words counts as a letter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import Estimate, MetricCard
from personare.metrics.intervals import LEVEL, speaker_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]

CARD = MetricCard(
    name="wer",
    title="Word error rate",
    better="lower",
    bounds=(0.0, math.inf),
    chance=None,
    cite="tomashenko2022voiceprivacy, sec. 2.3.1",
    reading="wrong, lost and invented words per word that was said; compare with the WER of the original speech",
    caution="depends on the recognizer and on how text was normalized; can exceed 1",
    unit="%",
)
CHARACTER_CARD = MetricCard(
    name="cer",
    title="Character error rate",
    better="lower",
    bounds=(0.0, math.inf),
    chance=None,
    cite="personare, after tomashenko2022voiceprivacy, sec. 2.3.1",
    reading="wrong, lost and invented letters per letter that was said: for recognizers that write letters, and beside "
    "the WER for languages with long words, in which one wrong ending is a wrong word",
    caution="not comparable with a word error rate, which is usually several times as high; can exceed 1",
    unit="%",
)


@dataclass(frozen=True, eq=False)
class WordErrors:
    """Errors of each utterance, [utterances] each: words replaced, lost, invented; words in the reference."""

    substitutions: Counts
    deletions: Counts
    insertions: Counts
    words: Counts

    @property
    def errors(self) -> Counts:
        """All errors of each utterance."""
        return self.substitutions + self.deletions + self.insertions


def word_errors(references: Sequence[str], hypotheses: Sequence[str]) -> WordErrors:
    """Align references with hypotheses, utterance by utterance.

    >>> errors = word_errors(["the cat sat", "yes"], ["the bat", "yes yes"])
    >>> errors.substitutions.tolist(), errors.deletions.tolist(), errors.insertions.tolist(), errors.words.tolist()
    ([1, 0], [1, 0], [0, 1], [3, 1])
    """
    if len(references) != len(hypotheses):
        raise MetricError(f"{len(references)} references do not fit {len(hypotheses)} hypotheses")
    if not len(references):
        raise MetricError("a word error rate needs at least one utterance")
    counts = np.zeros((len(references), 4), dtype=np.int64)
    spoken, recognized = [r.split() for r in references], [h.split() for h in hypotheses]
    counts[:, 3] = [len(words) for words in spoken]
    counts[:, 2] = [len(words) for words in recognized]  # where nothing was said all are invented
    rows = [i for i, words in enumerate(spoken) if words]
    if rows:
        counts[rows, :3] = _edits([" ".join(spoken[i]) for i in rows], [" ".join(recognized[i]) for i in rows])
    return WordErrors(*counts.T)


def character_errors(references: Sequence[str], hypotheses: Sequence[str]) -> WordErrors:
    """Align letters instead of words; the space between two words counts as a letter.

    >>> errors = character_errors(["the cat"], ["the  bats"])
    >>> errors.substitutions.tolist(), errors.deletions.tolist(), errors.insertions.tolist(), errors.words.tolist()
    ([1], [0], [1], [7])
    """
    letters, recognized = ([" ".join("_".join(t.split())) for t in texts] for texts in (references, hypotheses))
    return word_errors(letters, recognized)


def wer(errors: WordErrors) -> float:
    """Compute the word error rate of all utterances together.

    >>> wer(word_errors(["the cat sat", "yes"], ["the bat", "yes yes"]))
    0.75
    """
    if not errors.words.sum():
        raise MetricError("a word error rate needs at least one word in the references")
    return float(errors.errors.sum() / errors.words.sum())


def wer_estimate(
    errors: WordErrors,
    *,
    speakers: Sequence[str],
    level: float = LEVEL,
) -> Estimate:
    """Compute WER with an interval from leaving out speakers, one id per utterance; n = speakers."""
    if len(speakers) != len(errors.words):
        raise MetricError(f"each utterance needs one speaker: {len(errors.words)} utterances, {len(speakers)} speakers")
    wer(errors)
    known, who = np.unique(np.asarray(speakers), return_inverse=True)
    wrong, words = np.bincount(who, errors.errors), np.bincount(who, errors.words)

    def rates(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        spoken = drawn @ words
        return np.where(spoken > 0, drawn @ wrong / np.maximum(spoken, 1), np.nan)

    return speaker_interval(rates, speakers=len(known), level=level, bounds=CARD.bounds)


def _edits(references: list[str], hypotheses: list[str]) -> Any:
    """Ask jiwer for the substitutions, deletions and insertions of each utterance, [utterances, 3]."""
    import jiwer

    kinds = {"substitute": 0, "delete": 1, "insert": 2}
    counts = np.zeros((len(references), 3), dtype=np.int64)
    for row, chunks in zip(counts, jiwer.process_words(references, hypotheses).alignments, strict=True):
        for chunk in chunks:
            if chunk.type in kinds:
                size = max(chunk.ref_end_idx - chunk.ref_start_idx, chunk.hyp_end_idx - chunk.hyp_start_idx)
                row[kinds[chunk.type]] += size
    return counts
