"""Anonymize the channels of one recording together: whole, or block by block where the recording is long.

Channels of one recording share their timing, and different people on them get different voices. A method that
re-synthesizes words needs many times the memory of what it reads, so that recordings of more than ten minutes are cut
at pauses into blocks of five minutes at most. Every block is spoken by the same voice. Memory then does not grow with
the length of the recording; only formats that are written front to back (flac, wav, mp3) can be written so.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from personare.anonymizers.neural.words.transcript import mark_sound
from personare.core.audio import Audio, AudioBlocks, encode_blocks, open_blocks, probe
from personare.core.audio_writing import can_encode_blocks
from personare.core.errors import RejectedSpeechError
from personare.core.progress import Watch, watched
from personare.core.protocols import Anonymizer, in_time
from personare.core.seeding import Key, rng_for
from personare.core.spoken import (
    NOTHING_KNOWN,
    DecidesPerSpeaker,
    SpeakerFacts,
    SpeechNotes,
    SpokenAudio,
    combine,
    pool,
    speak,
)
from personare.core.utterances import Utterance
from personare.pipeline.jobs.anonymize_blocks import OpenRecording
from personare.pipeline.system import System

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Frames = NDArray[np.float32]

LONG_S, BLOCK_S, LEAST_BLOCK_S = 600.0, 300.0, 240.0
_STEP_S, _PAUSE_STEPS = 0.02, 15  # a block ends in the quietest 0.3 s
_MOST_DRAWS = 100  # after so many, two people of one recording share a voice


def speak_channels(
    system: System,
    key: Key,
    tracks: Sequence[tuple[str, str, Audio]],
    *,
    speakers: Sequence[SpeakerFacts] | None = None,
    watch: Watch | None = None,
    timed: bool = False,
) -> list[SpokenAudio]:
    """Anonymize (speaker, utterance, sound) channel by channel; the same names get the same draw.

    ``speakers`` is what is known of the speaker of each channel.

    What belongs together in time keeps its timing, whatever the method does to others: several channels of one
    recording, and what is ``timed`` by something else, e.g. a picture.
    Where a method tells which voice a draw gives (``voice_of``), different people of one recording get different ones:
    who is drawn a voice that an earlier one has draws again. ``watch`` is told of the seconds of sound that are done;
    all of them in the end, whatever the method tells.
    """
    anonymize = system.build()
    if timed or len(tracks) > 1:
        anonymize = in_time(anonymize)
    known = list(speakers) if speakers is not None else [NOTHING_KNOWN] * len(tracks)
    draws = _draws(anonymize, system, key, tracks, known)
    hidden = []
    for draw, (_, _, sound), speaker in zip(draws, tracks, known, strict=True):
        with watched(watch, total_s=sound.duration_s) if watch else contextlib.nullcontext():
            hidden.append(speak(anonymize, sound, rng=rng_for(key, "voice", *draw), speaker=speaker))
    return hidden


def hide_channels(
    system: System,
    key: Key,
    tracks: Sequence[tuple[str, str, Audio]],
    *,
    watch: Watch | None = None,
    timed: bool = False,
) -> list[Audio]:
    """Anonymize channels about whose speakers nothing is known; see ``speak_channels``."""
    return [spoken.audio for spoken in speak_channels(system, key, tracks, watch=watch, timed=timed)]


def _draws(
    anonymize: Anonymizer,
    system: System,
    key: Key,
    tracks: Sequence[tuple[str, str, Audio]],
    speakers: Sequence[SpeakerFacts],
) -> list[tuple[str, ...]]:
    """Give the names that the draw of every channel is for."""
    names = [system.names_of(who, what) for who, what, _ in tracks]
    voice_of = getattr(anonymize, "voice_of", None)
    if voice_of is None or len(set(names)) < 2:
        return names
    chosen: dict[tuple[str, ...], tuple[str, ...]] = {}
    taken: set[object] = set()
    for name, (_, _, sound), speaker in zip(names, tracks, speakers, strict=True):
        extra = {"speaker": speaker} if isinstance(anonymize, DecidesPerSpeaker) else {}
        attempts = (name, *((*name, str(attempt)) for attempt in range(2, _MOST_DRAWS)))
        for draw in attempts if name not in chosen else ():
            voice = voice_of(sound, rng=rng_for(key, "voice", *draw), **extra)
            if voice not in taken:
                chosen[name] = draw
                taken.add(voice)
                break
        else:
            chosen.setdefault(name, name)
    return [chosen[name] for name in names]


@dataclass
class LongRecording(OpenRecording):
    """A long recording that is open, and the method that speaks its channels; it can be written once.

    Parameters
    ----------
    tracks : speaker, utterance and channel (0 is the first) of everybody who speaks.
    speakers : what is known of them; of others, the first block tells.
    notes, source_s : of the blocks that were written so far.
    """

    source: AudioBlocks
    system: System
    key: Key
    tracks: Sequence[tuple[str, str, int]]
    speakers: Mapping[str, SpeakerFacts]
    notes: list[SpeechNotes | None] = field(default_factory=list)
    source_s: float = 0.0

    @property
    def total_s(self) -> float:
        """Seconds of all channels; 0 where nobody knows."""
        return (self.source.frames or 0) / self.source.rate_hz * len(self.tracks)

    def write(self, place: BinaryIO, path: Path) -> float:
        """Encode what is spoken into ``place``, an open file, as ``path`` would be; gives the seconds."""
        rate_hz = self.source.rate_hz
        frames = encode_blocks(place, path, self._spoken(), rate_hz=rate_hz, channels=len(self.tracks))
        return frames / rate_hz

    def _spoken(self) -> Iterator[Frames]:
        """Speak block by block; a block that is refused is omitted, unless most of the recording is."""
        method = self.system.build()
        if len(self.tracks) > 1:
            method = in_time(method)
        draws: list[tuple[str, ...]] = []
        refused: RejectedSpeechError | None = None
        known: list[SpeakerFacts] = []
        for block in blocks_at_pauses(iter(self.source), rate_hz=self.source.rate_hz):
            sounds = [
                Audio(np.ascontiguousarray(block[:, channel]), self.source.rate_hz) for *_, channel in self.tracks
            ]
            self.source_s += sounds[0].duration_s
            if not known:
                known = [self._facts(method, who, sound) for (who, *_), sound in zip(self.tracks, sounds, strict=True)]
                named = [(who, what, sound) for (who, what, _), sound in zip(self.tracks, sounds, strict=True)]
                draws = _draws(method, self.system, self.key, named, known)
            spoken = []
            for sound, draw, speaker in zip(sounds, draws, known, strict=True):
                try:
                    rng = rng_for(self.key, "voice", *draw)
                    one = speak(method, sound, rng=rng, speaker=speaker)
                except RejectedSpeechError as error:
                    refused = refused or error
                    one = _omitted(sound, error, timed=len(self.tracks) > 1)
                spoken.append(one.audio.samples)
                self.notes.append(one.notes)
            yield np.stack(spoken, axis=1)
        whole = combine(self.notes)
        if refused is not None and whole is not None and 2 * whole.omitted_s > whole.speech_s:
            raise refused

    def _facts(self, method: Anonymizer, speaker: str, sound: Audio) -> SpeakerFacts:
        facts = self.speakers.get(speaker, NOTHING_KNOWN)
        if facts.vector or facts.language or not isinstance(method, DecidesPerSpeaker):
            return facts
        return pool([method.evidence(sound)], gender=facts.gender)


def open_long(
    people: Sequence[Utterance],
    target: Path,
    system: System,
    key: Callable[[], Key],
    speakers: Mapping[str, SpeakerFacts],
) -> LongRecording | None:
    """Open a long recording to be spoken block by block; None where it is short, or method or format need it whole.

    ``people`` are those who speak, each on a channel, or one person on all of them; all name the same file. ``key``
    gives the key, once the file is open: what cannot be read leaves no key behind.
    """
    if not getattr(system.build(), "needs_words", False):
        return None
    first = people[0]
    facts = probe(first.audio)
    length_s = min(first.end_s or facts.duration_s, facts.duration_s) - first.start_s
    if length_s <= LONG_S or not can_encode_blocks(target, facts.rate_hz):
        return None
    if len(people) == 1 and first.person_channel is None:
        tracks = [(first.speaker, first.utterance, channel) for channel in range(facts.channels)]
    else:
        tracks = [(who.speaker, who.utterance, (who.person_channel or 1) - 1) for who in people]
    opened = open_blocks(first.audio, start_s=first.start_s, stop_s=first.end_s)
    return LongRecording(opened, system, key(), tracks, speakers)


def blocks_at_pauses(frames: Iterator[Frames], *, rate_hz: int) -> Iterator[Frames]:
    """Cut a stream of [frames, channels] into blocks of four to five minutes, in the quietest moment of that minute."""
    least, most = round(LEAST_BLOCK_S * rate_hz), round(BLOCK_S * rate_hz)
    waiting: list[Frames] = []
    count = 0
    for some in frames:
        waiting.append(some)
        count += len(some)
        while count > most:
            whole = np.concatenate(waiting) if len(waiting) > 1 else waiting[0]
            cut = least + _quietest(whole[least:most], rate_hz)
            yield whole[:cut]
            waiting, count = [whole[cut:]], len(whole) - cut
    if count:
        yield np.concatenate(waiting)


def _quietest(frames: Frames, rate_hz: int) -> int:
    step = max(1, round(_STEP_S * rate_hz))
    count = len(frames) // step
    powers = np.square(frames[: count * step], dtype=np.float64).sum(axis=1).reshape(count, step).sum(axis=1)
    smooth = np.convolve(powers, np.ones(_PAUSE_STEPS), mode="valid")
    return (int(smooth.argmin()) + _PAUSE_STEPS // 2) * step


def _omitted(sound: Audio, error: RejectedSpeechError, *, timed: bool) -> SpokenAudio:
    """A soft tone in the place of a block that is refused: in silence as long as it, or with a short pause."""
    tone = mark_sound("tone", sound.rate_hz)
    samples = np.zeros(len(sound.samples) if timed else 2 * len(tone), np.float32)
    samples[: len(tone)] = tone[: len(samples)]
    notes = SpeechNotes(error.language, 0.0, error.speech_s, error.speech_s)
    return SpokenAudio(replace(sound, samples=samples), notes)
