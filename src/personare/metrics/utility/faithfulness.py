"""Faithfulness: whether re-synthesized speech says the words of the original, judged by recognizers without a text.

For word sequences a and b with edit distance d(a, b),

    agreement(a, b) = 1 - d(a, b) / max(|a|, |b|)                    (1 where both are empty)

Two recognizers r transcribe the original, o_r, and the result, s_r. Faithfulness is the mean of agreement(o_r, s_q)
over all pairs of recognizers; agreement(o_1, o_2), what the recognizers share on the original, is its ceiling: words
that no two recognizers hear alike cannot be repeated faithfully.                                           [personare]
"""

from __future__ import annotations

from collections.abc import Sequence

from personare.core.findings import MetricCard
from personare.metrics.utility.wer import word_errors

CARD = MetricCard(
    name="faithfulness",
    title="Faithfulness",
    better="higher",
    bounds=(0.0, 1.0),
    chance=None,
    cite="personare",
    reading="share of words on which recognizers agree between the original and the result; compare with the agreement "
    "of the recognizers on the original alone",
    caution="depends on the recognizers; a fluent sentence that nobody said scores near 0, and so does speech that no "
    "recognizer understands",
    unit="%",
)


def word_agreement(one: str, other: str) -> float:
    """Give the share of words that two normalized texts have in common, in order.

    >>> word_agreement("we go home now", "we go home"), word_agreement("", ""), word_agreement("yes", "")
    (0.75, 1.0, 0.0)
    """
    longer, shorter = sorted((one, other), key=lambda text: len(text.split()), reverse=True)
    if not longer.split():
        return 1.0
    if not shorter.split():
        return 0.0
    errors = word_errors([longer], [shorter])
    edits = int(errors.substitutions[0] + errors.deletions[0] + errors.insertions[0])
    return max(0.0, 1.0 - edits / len(longer.split()))


def faithfulness(originals: Sequence[str], results: Sequence[str]) -> float:
    """Give the mean agreement of every transcript of the original with every transcript of the result.

    >>> faithfulness(["go home", "go home"], ["go home", "go"])
    0.75
    """
    pairs = [word_agreement(original, result) for original in originals for result in results]
    return sum(pairs) / len(pairs)
