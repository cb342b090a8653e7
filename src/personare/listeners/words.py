"""From transcripts to error rates: how many words or letters a recognizer gets wrong, before and after anonymization.

Where the corpus notes what was said (column ``text``), both sides are compared with it; where it does not, the words
recognized in the original are the reference, and the finding says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from personare.core.findings import Finding
from personare.core.observations import SIDES, ObservedUtterance, Side, SummaryContext, UtilitySummary
from personare.core.seeding import rng_for
from personare.listeners.means import no_estimate
from personare.listeners.normalize import Normalizer
from personare.metrics import card
from personare.metrics.utility.wer import WordErrors, character_errors, wer_estimate, word_errors

if TYPE_CHECKING:
    from typing import Literal

TEXT = "text"


def summarize_words(
    rows: Sequence[ObservedUtterance], context: SummaryContext, *, metric: Literal["wer", "cer"]
) -> UtilitySummary:
    """Compute error rates of ``original`` (where text is noted) and ``anonymized`` speech, with S/D/I counts."""
    texts = context.noted.get(TEXT, {})
    observed = [row for row in rows if _words(row, "original") is not None and _words(row, "anonymized") is not None]
    counted = [row for row in observed if row.utterance in texts] if texts else observed
    findings = tuple(_findings(counted, context, metric))
    if not texts:
        note = "Nobody wrote down what was said: words heard in the original are the reference for those heard after."
        return UtilitySummary(findings, (note,))
    lacking = len(observed) - len(counted)
    note = f"{lacking} of {context.total} utterances have no text and count as failed for the error rate."
    return UtilitySummary(findings, (note,) if lacking else ())


def _findings(rows: Sequence[ObservedUtterance], context: SummaryContext, metric: str) -> Iterator[Finding]:
    texts, normalize = context.noted.get(TEXT, {}), Normalizer()
    references = [normalize(texts[row.utterance] if texts else _words(row, "original") or "") for row in rows]
    speakers = [context.speakers[row.utterance] for row in rows]
    for side in SIDES if texts else SIDES[1:]:
        conditions: dict[str, str | int | float] = {
            "speech": side,
            "by": context.listener,
            "reference": "written" if texts else "heard in the original",
        }
        if not any(references):
            yield Finding(card(metric), no_estimate(), conditions, failed=context.total)
            continue
        hypotheses = [normalize(_words(row, side) or "") for row in rows]
        errors = character_errors(references, hypotheses) if metric == "cer" else word_errors(references, hypotheses)
        rng = rng_for(context.key, "words", context.listener, side)
        estimate = wer_estimate(errors, speakers=speakers, rng=rng)
        counts = _counts(errors, "letters" if metric == "cer" else "words")
        yield Finding(card(metric), estimate, conditions | counts, failed=context.total - len(rows))


def _counts(errors: WordErrors, unit: str) -> dict[str, int]:
    sums = (errors.words, errors.substitutions, errors.deletions, errors.insertions)
    return {name: int(count.sum()) for name, count in zip((unit, "S", "D", "I"), sums, strict=True)}


def _words(row: ObservedUtterance, side: Side) -> str | None:
    observation = row.sides.get(side)
    return None if observation is None else observation.words
