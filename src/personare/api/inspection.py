"""A look at recordings before they are anonymized, and at a few of them after: for the app and for notebooks.

``inspect_corpus`` accounts for every recording that is found: usable, unreadable or left out, with the names of those
that hold more than one speaker. ``preview_recording`` runs the code of the job on one recording and gives the six
seconds with most speech, before and after.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.api.speech import resolve_method
from personare.core.audio import Audio
from personare.core.errors import AudioError
from personare.core.ledger import Excluded
from personare.core.tables import Corpus

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
    language: str | None = None,
) -> Preview:
    """Anonymize the recording of one utterance as the job does, in a voice drawn now, and cut the best six seconds.

    A recording of up to a minute is processed whole: what the job rejects, the preview rejects with the same words.
    Of a longer one only the six seconds are read and processed.
    """
    from personare.core.seeding import Key
    from personare.core.utterances import utterances_in
    from personare.pipeline.jobs.anonymize_work import hide_channels
    from personare.pipeline.system import System

    frame = corpus.frame
    (one,) = utterances_in(frame.filter(frame["utterance"] == utterance))
    others = utterances_in(frame.filter(frame["audio"] == str(one.audio)))
    people = [other for other in others if _together(one, other)] if one.person_channel else [one]
    powers, length_s = _powers(one)
    own = [one.person_channel - 1] if one.person_channel else range(powers.shape[1])
    shown = max(own, key=lambda channel: float(powers[:, channel].sum()))
    start_s = _most_speech(powers[:, shown], PREVIEW_S)
    whole = length_s <= WHOLE_S
    if not whole:
        first_s = one.start_s + start_s
        people, start_s = [replace(who, start_s=first_s, end_s=first_s + PREVIEW_S) for who in people], 0.0
    tracks = [(who, sound) for who in people for sound in who.read_channels()]
    place = [who.utterance for who in people].index(utterance) if one.person_channel else shown
    before = tracks[place][1]
    chosen = resolve_method(method, strength, parameters or {}, language=language)
    system = System(chosen.method, chosen.parameters).in_language(one.language)
    hidden = hide_channels(system, Key.new(), [(who.speaker, who.utterance, sound) for who, sound in tracks])[place]
    after_s = start_s * hidden.duration_s / before.duration_s if before.duration_s else 0.0
    return Preview(utterance, one.speaker, _cut(before, start_s, PREVIEW_S), _cut(hidden, after_s, PREVIEW_S), whole)


def _together(one: Utterance, other: Utterance) -> bool:
    return (one.start_s, one.end_s) == (other.start_s, other.end_s) and other.person_channel is not None


def _cut(sound: Audio, start_s: float, seconds: float) -> Audio:
    first = round(start_s * sound.rate_hz)
    return Audio(np.ascontiguousarray(sound.samples[first : first + round(seconds * sound.rate_hz)]), sound.rate_hz)


def _powers(one: Utterance) -> tuple[NDArray[np.float64], float]:
    """Give the mean power of every frame of 50 ms in all channels of the file [frames, channels], and the length in s.

    The recording is read block by block: a preview of some hours needs no more memory than one of a minute.
    """
    from personare.core.audio import open_blocks

    blocks = open_blocks(one.audio, start_s=one.start_s, stop_s=one.end_s)
    size = max(1, round(_FRAME_S * blocks.rate_hz))
    rest = np.zeros((0, blocks.channels), np.float32)
    powers, samples = [np.zeros((0, blocks.channels))], 0
    for block in blocks:
        samples += len(block)
        joined = np.concatenate([rest, block])
        count = len(joined) // size
        frames = joined[: count * size].reshape(count, size, blocks.channels)
        powers.append(np.einsum("fsc,fsc->fc", frames, frames).astype(np.float64) / size)
        rest = joined[count * size :]
    if one.person_channel is not None and one.person_channel > blocks.channels:
        raise AudioError(f"{one.audio}: has no channel {one.person_channel}; it has {blocks.channels}")
    return np.concatenate(powers), samples / blocks.rate_hz


def _most_speech(powers: NDArray[np.float64], seconds: float) -> float:
    """Give where the ``seconds`` with most speech begin: the window that rises most above the quietest fifth.

    >>> quiet, loud = np.zeros(20), np.ones(20)
    >>> _most_speech(np.concatenate([quiet, quiet, quiet, loud, quiet]), 1.0)
    3.0
    """
    width = round(seconds / _FRAME_S)
    if len(powers) <= width:
        return 0.0
    level_db = 10 * np.log10(powers + 1e-9)
    above = np.minimum(np.maximum(level_db - np.percentile(level_db, 20), 0.0), 30.0)  # a click counts as one frame
    total = np.concatenate([[0.0], np.cumsum(above)])
    return float(np.argmax(total[width:] - total[:-width]) * _FRAME_S)
