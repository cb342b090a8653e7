"""The survey of speakers: what a method decides once per speaker, from all of their recordings.

A pseudo-voice has a gender, and words have a language; guessed per recording, one person gets both a woman's and a
man's voice. A worker that meets a speaker for the first time asks the method for evidence of up to ``MOST_RECORDINGS``
of their recordings, pools it, and writes the decision into a folder of the job, where all later work on that speaker
finds it: an interrupted job decides nothing twice. The recordings are chosen by a hash of their names, so that every
worker, shard and machine comes to the same decision. A gender that the corpus gives counts more than any guess.
"""

from __future__ import annotations

import functools
import hashlib
import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from personare.core.errors import PersonareError
from personare.core.files import PRIVATE_FILE, PRIVATE_FOLDER, make_folder, write_text
from personare.core.protocols import Anonymizer
from personare.core.remote import RemoteFolder
from personare.core.spoken import NOTHING_KNOWN, DecidesPerSpeaker, SpeakerEvidence, SpeakerFacts, pool
from personare.core.utterances import Utterance

MOST_RECORDINGS = 32
_REMEMBERED = 256  # speakers, in the memory of a worker


def survey_rank(speaker: str, utterance: str) -> int:
    """Where an utterance stands among those of its speaker: the first ones are surveyed; depends on names alone."""
    return int.from_bytes(hashlib.sha256(f"{speaker}\0{utterance}".encode()).digest()[:7])


def surveyed(utterances: Iterable[Utterance]) -> dict[str, tuple[Utterance, ...]]:
    """Choose the recordings of every speaker that are surveyed."""
    of: dict[str, list[Utterance]] = {}
    for one in utterances:
        of.setdefault(one.speaker, []).append(one)
    return {
        speaker: tuple(sorted(own, key=lambda one: survey_rank(one.speaker, one.utterance))[:MOST_RECORDINGS])
        for speaker, own in of.items()
    }


def surveys(method: Anonymizer) -> bool:
    """Whether a method decides anything per speaker."""
    return isinstance(method, DecidesPerSpeaker) and getattr(method, "surveys", True)


@dataclass(frozen=True)
class SpeakerSurvey:
    """Decides per speaker, and keeps the decisions in ``folder``; ``fetch`` is where recordings lie, if not here."""

    folder: Path
    fetch: RemoteFolder | None = None

    def facts(self, method: Anonymizer, sample: Sequence[Utterance], *, fingerprint: str) -> SpeakerFacts:
        """Give what is known of the speaker of these recordings, deciding it if nobody has."""
        if not sample or not surveys(method):
            return NOTHING_KNOWN
        name = hashlib.sha256(f"{fingerprint}\0{sample[0].speaker}".encode()).hexdigest()[:32]
        place = self.folder / f"{name}.json"
        known = _read(place)
        if known is None:
            known = pool(list(self._evidence(method, sample)), gender=_given_gender(sample))
            make_folder(self.folder, mode=PRIVATE_FOLDER)
            write_text(place, json.dumps(known.to_dict()) + "\n", mode=PRIVATE_FILE)
        return known

    def _evidence(self, method: Anonymizer, sample: Sequence[Utterance]) -> Iterable[SpeakerEvidence]:
        assert isinstance(method, DecidesPerSpeaker)
        for one in sample:
            try:
                with tempfile.TemporaryDirectory(prefix="personare-") as folder:
                    yield method.evidence(_here(one, self.fetch, Path(folder)).read())
            except (PersonareError, OSError):  # a recording that cannot be read fails when its own turn comes
                continue


def _here(one: Utterance, remote: RemoteFolder | None, folder: Path) -> Utterance:
    if remote is None:
        return one
    place = folder / f"recording{one.audio.suffix}"
    remote.fetch(one.audio.as_posix(), place)
    return replace(one, audio=place)


def _given_gender(sample: Sequence[Utterance]) -> str | None:
    return next((one.gender for one in sample if one.gender in ("f", "m")), None)


def _read(place: Path) -> SpeakerFacts | None:
    try:
        return _parsed(place.read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError):
        return None


@functools.lru_cache(maxsize=_REMEMBERED)
def _parsed(text: str) -> SpeakerFacts:
    return SpeakerFacts.from_dict(json.loads(text))
