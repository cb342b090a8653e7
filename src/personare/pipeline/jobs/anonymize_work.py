"""The work on one utterance: read it, anonymize each channel by the same draw, write it; trust nothing unconfirmed.

What an earlier run has made is kept only where its digest confirms it, and the source is still the one it was made of.
"""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from personare.anonymizers.signal.retiming import Timing
from personare.core.audio import Audio, encode, is_whole, read_channels
from personare.core.errors import AudioError, OutputError, RejectedSpeechError
from personare.core.files import file_digest, file_sha256, write_bytes
from personare.core.progress import part
from personare.core.remote import RemoteFolder
from personare.core.seeding import Key, rng_for
from personare.core.spoken import (
    SpeakerFacts,
    SpeechNotes,
    combine,
)
from personare.core.utterances import Utterance
from personare.pipeline.jobs.anonymize_blocks import in_blocks
from personare.pipeline.jobs.channels import hide_channels as hide_channels
from personare.pipeline.jobs.channels import open_long, speak_channels
from personare.pipeline.jobs.speaker_check import read_stretches, shared_voice
from personare.pipeline.jobs.speaker_survey import SpeakerSurvey
from personare.pipeline.jobs.target import Format, Names
from personare.pipeline.jobs.target import plain as plain
from personare.pipeline.system import System, tokens_of

_MOST_DRAWS = 100  # after so many, two people of one recording share a voice
Reason = Literal["", "changed", "missing", "damaged"]


@dataclass(frozen=True)
class Conversation:
    """A recording in which each channel is another person: their utterances, by channel."""

    people: tuple[Utterance, ...]

    @property
    def utterance(self) -> str:
        """The name of the work: the first person's utterance."""
        return self.people[0].utterance

    @property
    def speaker(self) -> str:
        """The first person."""
        return self.people[0].speaker


Item = Utterance | Conversation


@dataclass(frozen=True)
class KnownResult:
    """What the journal says of an utterance: the digests of what it was made of and of what was made."""

    source: str
    output: str
    speech_s: float


@dataclass(frozen=True)
class Assignment:
    """One item of work, what the journal knows of it, and the recordings by which its people are surveyed."""

    item: Item
    known: KnownResult | None = None
    samples: tuple[tuple[Utterance, ...], ...] = ()

    @property
    def utterance(self) -> str:
        """The name of the work."""
        return self.item.utterance

    @property
    def speaker(self) -> str:
        """Whose it is."""
        return self.item.speaker


@dataclass(frozen=True)
class AnonymizedUtterance:
    """What became of one utterance: seconds of speech, seconds of work (0 when an earlier run had done it).

    ``source``, ``output``: digests; ``reason``: why it was made again; ``several``: more than one speaker, if checked.
    """

    speech_s: float
    work_s: float
    source: str = ""
    output: str = ""
    reason: Reason = ""
    several: bool | None = None
    source_s: float = 0.0
    notes: SpeechNotes | None = None


@dataclass(frozen=True)
class AnonymizeWork:
    """The work on one utterance, for any engine: read, anonymize each channel by the same draw, write.

    ``fetch`` is where recordings lie, ``put`` where results go, if not on this file system; ``survey`` is the folder of
    what is decided per speaker.
    ``journaled`` trusts what the journal's digest confirms; else (a study's stage, whose name already tells system and
    source) a file is trusted that is whole by its own checksum.
    """

    system: System
    key: Key
    target: Path
    format: Format
    names: Names
    journaled: bool = True
    timing: Timing = field(default_factory=Timing)
    fetch: RemoteFolder | None = None
    put: RemoteFolder | None = None
    survey: Path | None = None

    def place_of(self, item: Item | Assignment) -> Path:
        """Where the result of an utterance goes."""
        return self.target / self.name_of(item.speaker, item.utterance)

    def name_of(self, speaker: str, utterance: str) -> str:
        """The path of an utterance's result within the target."""
        if self.names == "keep":
            return f"audio/{plain(speaker)}/{plain(utterance)}.{self.format}"
        token, _ = self.tokens_of(speaker, utterance)
        return f"audio/{token[:2]}/{token}.{self.format}"

    def tokens_of(self, speaker: str, utterance: str) -> tuple[str, str]:
        """What utterance and speaker are called in what is given away."""
        return (utterance, speaker) if self.names == "keep" else tokens_of(self.key, self.system, speaker, utterance)

    def __call__(self, one: Assignment) -> AnonymizedUtterance:
        """Anonymize it, unless an earlier run has."""
        if self.put is None and not self.target.is_dir():
            raise OutputError(f"{self.target}: is not there any more; was it moved, deleted or unmounted?")
        if self.fetch is None:
            return self._made(one, one.item)
        with tempfile.TemporaryDirectory(prefix="personare-") as folder:
            return self._made(one, fetched(one.item, self.fetch, Path(folder)))

    def _made(self, one: Assignment, item: Item) -> AnonymizedUtterance:
        """Anonymize it, where ``item`` lies on this file system."""
        place = self.place_of(one)
        source = source_digest(item)
        kept = self._kept(one, place, source)
        if isinstance(kept, AnonymizedUtterance):
            return kept
        if source is None:
            raise AudioError(f"{_people(one.item)[0].audio}: no such file")
        began = time.perf_counter()
        system = self.system.in_language(stated_language(item))
        opened = None if self.timing else in_blocks(_people(item), place, system, lambda: self.key)
        if opened is not None:
            several = shared_voice(item, _stretches(item)) if self.journaled else None
            speech_s, output = opened.finish(place, put=self.put, name=self.name_of(one.speaker, one.utterance))
            return AnonymizedUtterance(
                speech_s, time.perf_counter() - began, source, output, kept, several, source_s=speech_s
            )
        facts = self._facts(one)
        long = None if self.timing else open_long(_people(item), place, system, lambda: self.key, facts)
        if long is not None:
            several = shared_voice(item, _stretches(item)) if self.journaled else None
            speech_s, output = long.finish(place, put=self.put, name=self.name_of(one.speaker, one.utterance))
            made = (speech_s, time.perf_counter() - began, source, output, kept, several, long.source_s)
            return AnonymizedUtterance(*made, combine(long.notes))
        if isinstance(item, Conversation):
            first = item.people[0]
            heard = read_channels(first.audio, start_s=first.start_s, stop_s=first.end_s)
            tracks = [(who, heard[(who.person_channel or 1) - 1]) for who in item.people]
        else:
            tracks = [(item, channel) for channel in item.read_channels()]
        several = shared_voice(item, [sound for _, sound in tracks]) if self.journaled else None
        seconds = sum(sound.duration_s for _, sound in tracks)
        people = [(t.speaker, t.utterance, sound) for t, sound in tracks]
        with part(1 / seconds if seconds else 0.0):  # methods count seconds; an engine hears shares of this item
            spoken = speak_channels(system, self.key, people, speakers=[facts[t.speaker] for t, _ in tracks])
        channels = [track.audio for track in spoken]
        if self.timing:
            channels = self.timing(channels, rng=rng_for(self.key, "timing", item.speaker, item.utterance))
        content = encode(place, channels)
        if self.put is not None:
            self.put.put(self.name_of(one.speaker, one.utterance), content)
        else:
            write_bytes(place, content, dated=False)  # dates would tell the order of the source, and so who is who
        output = hashlib.sha256(content).hexdigest()
        return AnonymizedUtterance(
            channels[0].duration_s,
            time.perf_counter() - began,
            source,
            output,
            kept,
            several,
            tracks[0][1].duration_s,
            combine([track.notes for track in spoken]),
        )

    def _facts(self, one: Assignment) -> dict[str, SpeakerFacts]:
        """Give what is known of the people of an item; nothing where no survey is made."""
        facts = {who.speaker: SpeakerFacts(gender=_f_or_m(who.gender)) for who in _people(one.item)}
        if self.survey is not None:
            survey = SpeakerSurvey(self.survey, self.fetch)
            for sample in one.samples:
                system = self._surveyed_system(sample)
                identity = system.present_fingerprint
                facts[sample[0].speaker] = survey.facts(system.build(), sample, fingerprint=identity)
        return facts

    def _surveyed_system(self, sample: Sequence[Utterance]) -> System:
        """Give the system that surveys a speaker: where all recordings state one language, nobody identifies it."""
        stated = {one.language for one in sample}
        try:
            return self.system.in_language(stated.pop() if len(stated) == 1 else None)
        except RejectedSpeechError:  # each recording is refused when its own turn comes
            return self.system

    def _kept(self, one: Assignment, place: Path, source: str | None) -> AnonymizedUtterance | Reason:
        """Tell what an earlier run left of an utterance, or why that cannot be kept."""
        if not self.journaled:
            facts = is_whole(place)
            return AnonymizedUtterance(facts.duration_s, 0.0) if facts is not None else ""
        known = one.known
        if known is None:
            return ""
        if source is not None and source != known.source:
            return "changed"
        there = self.put.digest(self.name_of(one.speaker, one.utterance)) if self.put else _digest(place)
        if there is None:
            return "missing"
        if there != known.output:
            return "damaged"
        return AnonymizedUtterance(known.speech_s, 0.0, known.source, known.output)

    def confirmed(self, name: str, digest: str) -> bool:
        """Whether a result is there and has the digest that was noted."""
        return digest == (self.put.digest(name) if self.put else _digest(self.target / name))

    def remove(self, name: str) -> None:
        """Remove a result that nothing confirms."""
        with contextlib.suppress(OSError, OutputError):
            if self.put is not None:
                self.put.remove(name)
            else:
                (self.target / name).unlink(missing_ok=True)


def _digest(place: Path) -> str | None:
    try:
        return file_sha256(place) if place.is_file() else None
    except OSError:
        return ""  # there, and not to be read


def fetched(item: Item, remote: RemoteFolder, folder: Path) -> Item:
    """Fetch the recording of an item into a folder of this file system; a recording that is gone is not there then."""
    audio = _people(item)[0].audio
    place = folder / f"recording{audio.suffix}"
    if not remote.fetch(audio.as_posix(), place):
        place.unlink(missing_ok=True)
    if isinstance(item, Conversation):
        return Conversation(tuple(replace(who, audio=place) for who in item.people))
    return replace(item, audio=place)


def source_digest(item: Item) -> str | None:
    """Digest everything a result is made of besides system and key; None where the source is not there any more."""
    people = _people(item)
    try:
        content = file_digest(people[0].audio)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise AudioError(f"{people[0].audio}: cannot be read ({error.strerror})") from None
    parts: list[tuple[object, ...]] = [(p.speaker, p.utterance, p.start_s, p.end_s, p.person_channel) for p in people]
    if (language := stated_language(item)) is not None:  # a corrected language makes a result anew
        parts.append((language,))
    return hashlib.sha256(f"{content} {parts!r}".encode()).hexdigest()


def stated_language(item: Item) -> str | None:
    """Give the language that the corpus states for a recording; None where it states none, or several."""
    stated = {person.language for person in _people(item)}
    return stated.pop() if len(stated) == 1 else None


def current_digest(item: Item, remote: RemoteFolder | None) -> str | None:
    """Digest the source of an item, wherever it lies."""
    if remote is None:
        return source_digest(item)
    with tempfile.TemporaryDirectory(prefix="personare-") as folder:
        return source_digest(fetched(item, remote, Path(folder)))


def _people(item: Item) -> tuple[Utterance, ...]:
    return item.people if isinstance(item, Conversation) else (item,)


def _f_or_m(gender: str | None) -> str | None:
    return gender if gender in ("f", "m") else None


def _stretches(item: Item) -> list[Audio]:
    """Read enough of a recording that is too long to be in memory to hear who speaks."""
    return read_stretches(replace(item.people[0], person_channel=None) if isinstance(item, Conversation) else item)
