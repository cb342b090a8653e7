"""What a job heard, over all recordings, and which of them a person should listen to: the least certain ones.

The list is private: it names sources. A recording is as certain as its words and its language are; one of which speech
is omitted comes first.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from personare.core.files import PRIVATE_FILE, write_text
from personare.core.spoken import SpeechNotes, SpeechSummary, UncertainRecording

LEAST_CERTAIN = "least-certain.tsv"
MOST_LISTED = 20


def heard_in(
    results: Iterable[tuple[str, str, float, float, SpeechNotes | None]],
) -> tuple[SpeechSummary, tuple[UncertainRecording, ...]]:
    """Sum up (utterance, result, seconds before, seconds after, notes), and choose the least certain recordings."""
    source_s = result_s = omitted_s = 0.0
    languages: Counter[str] = Counter()
    non_speech = partly = other_speaker = 0
    uncertain: list[UncertainRecording] = []
    for utterance, result, before_s, after_s, notes in results:
        source_s, result_s = source_s + before_s, result_s + after_s
        if notes is None:
            continue
        if not notes.is_speech:
            non_speech += 1
            continue
        languages[notes.language] += 1
        partly, omitted_s = partly + bool(notes.omitted_s), omitted_s + notes.omitted_s
        other_speaker += notes.other_speaker
        certain = (notes.language, notes.language_confidence, notes.word_confidence, notes.omitted_s)
        uncertain.append(UncertainRecording(utterance, result, *certain))
        if len(uncertain) > 8 * MOST_LISTED:
            uncertain = _least(uncertain)
    summary = SpeechSummary(source_s, result_s, dict(languages), non_speech, partly, omitted_s, other_speaker)
    return summary, tuple(_least(uncertain))


def _least(recordings: Sequence[UncertainRecording]) -> list[UncertainRecording]:
    return heapq.nsmallest(MOST_LISTED, recordings, key=lambda one: (one.certainty, one.utterance))


def write_least_certain(private: Path, recordings: Sequence[UncertainRecording]) -> None:
    """List them in the private folder; without any, there is no list."""
    place = private / LEAST_CERTAIN
    if not recordings:
        place.unlink(missing_ok=True)
        return
    head = "utterance\tresult\tlanguage\tlanguage_confidence\tword_confidence\tomitted_s"
    lines = [
        f"{' '.join(one.utterance.split())}\t{one.result}\t{one.language}\t{one.language_confidence:.2f}\t"
        f"{one.word_confidence:.2f}\t{one.omitted_s:.1f}"
        for one in recordings
    ]
    write_text(place, "\n".join([head, *lines]) + "\n", mode=PRIVATE_FILE)
