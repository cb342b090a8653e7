"""What recognizers share: from transcripts to the share of words or letters that they get wrong, before and after.

Where the corpus notes what was said (column ``text``), both sides are compared with it; where it does not, the words
recognized in the original are the reference, and the finding says so. Utterances in different languages (column
``language``) are never counted together: each language has findings of its own.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
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

TEXT, LANGUAGE = "text", "language"


class Recognizer(Listener):
    """A listener for words: a batch of Audio in, one transcript each out; gives ``wer``, ``cer`` by letters, or both.

    ``normalizer`` names how texts are made comparable; it is a parameter of every recognizer.
    """

    gives: ClassVar[tuple[str, ...]] = ("wer",)
    batched: ClassVar[bool] = True
    columns = (TEXT, LANGUAGE)

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
        """Compute the error rates of both sides, in each language that the corpus states."""
        return _summary(rows, context, self.gives, self.normalizer)


def _summary(
    rows: Sequence[ObservedUtterance], context: SummaryContext, metrics: Sequence[str], normalizer_name: str
) -> UtilitySummary:
    texts, languages = context.noted.get(TEXT, {}), context.noted.get(LANGUAGE, {})
    observed = [row for row in rows if _words(row, "original") is not None and _words(row, "anonymized") is not None]
    counted = [row for row in observed if row.utterance in texts] if texts else observed
    findings: list[Finding] = []
    stated = sorted({languages.get(name, "") for name in context.speakers})
    for code in stated:
        own = [row for row in counted if languages.get(row.utterance, "") == code]
        total = sum(languages.get(name, "") == code for name in context.speakers) if len(stated) > 1 else context.total
        part = replace(context, total=max(total, len(own)))
        findings += [finding for metric in metrics for finding in _findings(own, part, metric, normalizer_name, code)]
    notes = [] if len(stated) < 2 else ["Error rates are given for each language; none pools languages."]
    if not texts:
        notes.append(
            "Nobody wrote down what was said: words heard in the original are the reference for those heard after."
        )
        return UtilitySummary(tuple(findings), tuple(notes))
    if lacking := len(observed) - len(counted):
        notes.append(f"{lacking} of {context.total} utterances have no text and count as failed for the error rate.")
    return UtilitySummary(tuple(findings), tuple(notes))


def _findings(
    rows: Sequence[ObservedUtterance], context: SummaryContext, metric: str, normalizer_name: str, code: str
) -> Iterator[Finding]:
    texts, normalize = context.noted.get(TEXT, {}), normalizer(normalizer_name).of_language(code or None)
    references = [normalize(texts[row.utterance] if texts else _words(row, "original") or "") for row in rows]
    speakers = [context.speakers[row.utterance] for row in rows]
    for side in SIDES if texts else SIDES[1:]:
        conditions: dict[str, str | int | float] = {
            "speech": side,
            "by": context.listener,
            "reference": "written" if texts else FROM_ORIGINAL,
            **({LANGUAGE: code} if code else {}),
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
