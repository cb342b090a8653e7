"""What recognizers share: from transcripts to the share of words or letters that they get wrong, before and after.

Where the corpus notes what was said (column ``text``), both sides are compared with it; where it does not, the words
recognized in the original are the reference, and the finding says so.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar

from personare.core.audio import Audio
from personare.core.findings import Finding
from personare.core.observations import (
    FROM_ORIGINAL,
    SIDES,
    Observation,
    ObservedUtterance,
    Side,
    Stimulus,
    SummaryContext,
    UtilitySummary,
)
from personare.core.protocols import Listener
from personare.listeners.means import no_estimate
from personare.listeners.normalize import normalizer
from personare.metrics import card
from personare.metrics.utility.wer import WordErrors, character_errors, wer_estimate, word_errors

TEXT = "text"


class Recognizer(Listener):
    """A listener for words: a batch of Audio in, one transcript each out; gives ``wer``, or ``cer`` by letters.

    ``normalizer`` names how texts are made comparable; it is a parameter of every recognizer.
    """

    gives: ClassVar[tuple[str, ...]] = ("wer",)
    batched: ClassVar[bool] = True
    columns = (TEXT,)

    normalizer: str

    @abstractmethod
    def __call__(self, batch: Sequence[Audio]) -> list[str]:
        """Transcribe each Audio."""
        ...

    @property
    def summary_fingerprint(self) -> str:
        """The rules by which texts are made comparable."""
        return normalizer(self.normalizer).fingerprint

    def check(self) -> None:
        """Say now what is missing, not once for each utterance."""
        self.requires.check()
        normalizer(self.normalizer).requires.check()

    def observe(self, batch: Sequence[Stimulus]) -> list[Observation]:
        """Transcribe each stimulus."""
        return [Observation(words=text) for text in self([stimulus.audio for stimulus in batch])]

    def summarize(self, rows: Sequence[ObservedUtterance], context: SummaryContext) -> UtilitySummary:
        """Compute the error rates of both sides."""
        return _summary(rows, context, self.gives[0], self.normalizer)


def _summary(
    rows: Sequence[ObservedUtterance], context: SummaryContext, metric: str, normalizer_name: str
) -> UtilitySummary:
    texts = context.noted.get(TEXT, {})
    observed = [row for row in rows if _words(row, "original") is not None and _words(row, "anonymized") is not None]
    counted = [row for row in observed if row.utterance in texts] if texts else observed
    findings = tuple(_findings(counted, context, metric, normalizer_name))
    if not texts:
        note = "Nobody wrote down what was said: words heard in the original are the reference for those heard after."
        return UtilitySummary(findings, (note,))
    lacking = len(observed) - len(counted)
    note = f"{lacking} of {context.total} utterances have no text and count as failed for the error rate."
    return UtilitySummary(findings, (note,) if lacking else ())


def _findings(
    rows: Sequence[ObservedUtterance], context: SummaryContext, metric: str, normalizer_name: str
) -> Iterator[Finding]:
    texts, normalize = context.noted.get(TEXT, {}), normalizer(normalizer_name)
    references = [normalize(texts[row.utterance] if texts else _words(row, "original") or "") for row in rows]
    speakers = [context.speakers[row.utterance] for row in rows]
    for side in SIDES if texts else SIDES[1:]:
        conditions: dict[str, str | int | float] = {
            "speech": side,
            "by": context.listener,
            "reference": "written" if texts else FROM_ORIGINAL,
        }
        if not any(references):
            yield Finding(card(metric), no_estimate(), conditions, failed=context.total)
            continue
        hypotheses = [normalize(_words(row, side) or "") for row in rows]
        errors = character_errors(references, hypotheses) if metric == "cer" else word_errors(references, hypotheses)
        estimate = wer_estimate(errors, speakers=speakers)
        counts = _counts(errors, "letters" if metric == "cer" else "words")
        yield Finding(card(metric), estimate, conditions | counts, failed=context.total - len(rows))


def _counts(errors: WordErrors, unit: str) -> dict[str, int]:
    sums = (errors.words, errors.substitutions, errors.deletions, errors.insertions)
    return {name: int(count.sum()) for name, count in zip((unit, "S", "D", "I"), sums, strict=True)}


def _words(row: ObservedUtterance, side: Side) -> str | None:
    observation = row.sides.get(side)
    return None if observation is None else observation.words
