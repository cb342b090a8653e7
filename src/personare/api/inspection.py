"""A look at recordings before they are anonymized, and at a few of them after: for the app and for notebooks.

``inspect_corpus`` accounts for every recording that is found: usable, unreadable or left out, with the names of those
that hold more than one speaker. ``preview_recording`` runs the code of the job on one recording and gives the six
seconds with most speech, before and after.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.api.speech import resolve_method
from personare.core.audio import Audio
from personare.core.ledger import Excluded
from personare.core.tables import Corpus

if TYPE_CHECKING:
    from personare.core.utterances import Utterance

PREVIEW_S = 6.0
WHOLE_S = 60.0  # recordings up to this length are processed whole for a preview, as the job does
_FRAME_S = 0.05


@dataclass(frozen=True)
class Inspection:
    """What a folder of recordings holds.

    Parameters
    ----------
    corpus : the usable recordings, None where there is none; ``recordings`` counts them (a two-channel call is one).
    excluded : recordings that are not in it, each with its outcome and reason.
    several_speakers : names of recordings with more than one speaker on a channel; ``speakers_checked`` counts those
        that were checked for it.
    person_on_each_channel : names of two-channel recordings with another speaker on each channel, read as one person.
    notes : what else a reader must know, one line each.
    """

    corpus: Corpus | None
    recordings: int
    excluded: tuple[Excluded, ...]
    several_speakers: tuple[str, ...]
    speakers_checked: int
    person_on_each_channel: tuple[str, ...]
    notes: tuple[str, ...]


def inspect_corpus(
    path: str | Path,
    *,
    speaker_from: str | None = None,
    began: Callable[[int], None] = lambda _: None,
    watch: Callable[[bool], None] = lambda _: None,
) -> Inspection:
    """Read a corpus and every recording of it once.

    ``began`` is told how many utterances are checked, ``watch`` after each of them whether it can be read.
    """
    import polars as pl

    from personare.corpora import read_corpus
    from personare.corpora.problems import LEFT_OUT, left_out
    from personare.pipeline.jobs.speaker_check import check_corpus
    from personare.pipeline.jobs.worklist import LEAD, with_leads

    reading = read_corpus(Path(path), speaker_from=speaker_from, person_channels=True)
    began(len(reading.corpus))
    checked = check_corpus(reading.corpus, watch=lambda result: watch(result.ok))
    broken = {name: reason for name, reason, kind in checked.unreadable if kind == "unreadable"}
    frame = with_leads(reading.corpus.frame)
    leads = dict(frame.select("utterance", LEAD).iter_rows())
    lost = {leads[name]: reason for name, reason in broken.items()}  # a call that cannot be read is one recording
    frame = frame.filter(~pl.col(LEAD).is_in(list(lost)))
    excluded = [*left_out(reading.problems), *(Excluded(name, "unreadable", lost[name]) for name in lost)]
    notes = [p.line for p in reading.problems if p.kind not in LEFT_OUT]
    usable = Corpus(frame.select(reading.corpus.frame.columns)) if len(frame) else None
    recordings, several = frame[LEAD].n_unique(), sorted({leads[name] for name in checked.several})
    every = checked.checked >= len(frame) > 0
    return Inspection(
        usable,
        recordings,
        tuple(excluded),
        tuple(several),
        recordings if every else min(checked.checked, recordings),
        checked.each_channel,
        (*notes, *reading.notes, *checked.notes),
    )


@dataclass(frozen=True)
class Preview:
    """Six seconds of one person in one recording, before and after; ``whole``: the whole recording was processed."""

    utterance: str
    speaker: str
    before: Audio
    after: Audio
    whole: bool


def preview_recording(
    corpus: Corpus,
    utterance: str,
    *,
    method: str | None = None,
    strength: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Preview:
    """Anonymize the recording of one utterance as the job does, in a voice drawn now, and cut the best six seconds.

    A recording of up to a minute is processed whole: what the job rejects, the preview rejects with the same words.
    Of a longer one only the six seconds are processed.
    """
    from personare.core.seeding import Key
    from personare.core.utterances import utterances_in
    from personare.pipeline.jobs.anonymize_work import hide_channels
    from personare.pipeline.system import System

    frame = corpus.frame
    (one,) = utterances_in(frame.filter(frame["utterance"] == utterance))
    people = [other for other in utterances_in(frame.filter(frame["audio"] == str(one.audio))) if _together(one, other)]
    tracks = [(who, who.read()) for who in people] if one.person_channel else [(one, s) for s in one.read_channels()]
    own = [i for i, (who, _) in enumerate(tracks) if who.utterance == utterance]
    shown = max(own, key=lambda i: float(np.square(tracks[i][1].samples, dtype=np.float64).sum()))
    start_s = most_speech(tracks[shown][1], PREVIEW_S)
    whole = tracks[shown][1].duration_s <= WHOLE_S
    if not whole:
        tracks = [(who, _cut(sound, start_s, PREVIEW_S)) for who, sound in tracks]
        start_s = 0.0
    before = tracks[shown][1]
    chosen = resolve_method(method, strength, parameters or {})
    system = System(chosen.method, chosen.parameters)
    hidden = hide_channels(system, Key.new(), [(who.speaker, who.utterance, sound) for who, sound in tracks])[shown]
    after_s = start_s * hidden.duration_s / before.duration_s if before.duration_s else 0.0
    return Preview(utterance, one.speaker, _cut(before, start_s, PREVIEW_S), _cut(hidden, after_s, PREVIEW_S), whole)


def _together(one: Utterance, other: Utterance) -> bool:
    return (one.start_s, one.end_s) == (other.start_s, other.end_s) and other.person_channel is not None


def _cut(sound: Audio, start_s: float, seconds: float) -> Audio:
    first = round(start_s * sound.rate_hz)
    return Audio(np.ascontiguousarray(sound.samples[first : first + round(seconds * sound.rate_hz)]), sound.rate_hz)


def most_speech(sound: Audio, seconds: float) -> float:
    """Give where the ``seconds`` with most speech begin: the window that rises most above the quietest fifth.

    >>> quiet, loud = np.zeros(16_000, np.float32), np.ones(16_000, np.float32)
    >>> most_speech(Audio(np.concatenate([quiet, quiet, quiet, loud, quiet]), 16_000), 1.0)
    3.0
    """
    frame = max(1, round(_FRAME_S * sound.rate_hz))
    count, width = len(sound.samples) // frame, round(seconds / _FRAME_S)
    if count <= width:
        return 0.0
    power = np.square(sound.samples[: count * frame], dtype=np.float64).reshape(count, frame).mean(axis=1)
    level_db = 10 * np.log10(power + 1e-9)
    above = np.minimum(np.maximum(level_db - np.percentile(level_db, 20), 0.0), 30.0)  # a click counts as one frame
    total = np.concatenate([[0.0], np.cumsum(above)])
    return float(np.argmax(total[width:] - total[:-width]) * _FRAME_S)
