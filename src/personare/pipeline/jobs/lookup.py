"""Who is behind a token, for whoever holds the key: a person's right of access, and its other direction.

Nothing is stored to answer it: the tokens of every utterance of the originals are computed again under the key.
"""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from personare.core.errors import ConfigError, CorpusError
from personare.core.seeding import Key, load_key
from personare.corpora import read_corpus
from personare.pipeline.jobs.target import JOB, KEY, private_folder
from personare.pipeline.system import System, tokens_of

Level = Literal["speaker", "utterance"]


@dataclass(frozen=True)
class Match:
    """One original utterance and its new names."""

    utterance: str
    speaker: str
    audio: str
    utterance_token: str
    speaker_token: str


@dataclass(frozen=True)
class Originals:
    """The originals of an anonymized folder, and the key to them."""

    source: Path
    key: Key
    level: Level = "speaker"
    layout: str | None = None
    speaker_from: str | None = None
    follow_links: bool = False


def originals_of(
    place: Path, *, key_file: Path | None, level: Level | None, layout: str | None, speaker_from: str | None
) -> Originals:
    """Find the originals: ``place`` is their corpus (with a key file), or DST or DST-private of an anonymization."""
    private = next((p for p in (place, _private(place)) if p is not None and (p / JOB).is_file()), None)
    job = _job(private / JOB) if private is not None else {}
    if private is not None and "source" not in job:
        if "recording" in job:
            raise ConfigError(f"{private}: belongs to one recording, {job['recording']}; there is nothing to look up")
        raise ConfigError(
            f"{private}: does not say where the originals lie; name their folder and --key {private / KEY}"
        )
    if private is None and key_file is None:
        raise ConfigError(f"{place}: name the key with --key FILE, or give the folder ending in -private")
    file = key_file or cast(Path, private) / KEY
    return Originals(
        Path(job["source"]) if job else place,
        load_key(file),
        level or job.get("level", "speaker"),
        layout or job.get("layout"),
        speaker_from or job.get("speaker_from"),
        job.get("follow_links") is True,
    )


def _private(place: Path) -> Path | None:
    return private_folder(place) if place.resolve().name else None


def _job(path: Path) -> dict[str, Any]:
    try:
        job = json.loads(path.read_text(encoding="utf-8"))
        return dict(job)
    except (ValueError, TypeError, OSError) as error:
        raise ConfigError(f"{path}: is no job of personare anonymize ({error})") from None


def look_up(name: str, originals: Originals) -> list[Match]:
    """Find every utterance a name belongs to: a token of an utterance or a speaker, a file, or an original's name."""
    reading = read_corpus(
        originals.source,
        layout=originals.layout,
        speaker_from=originals.speaker_from,
        person_channels=True,
        follow_links=originals.follow_links,
    )
    system = System("mcadams", level=originals.level)  # tokens depend on the level only
    asked = {name, Path(name).stem, str(Path(name).resolve())}
    matches = []
    for one in reading.corpus:
        token, speaker = tokens_of(originals.key, system, one.speaker, one.utterance)
        if asked & {token, speaker, one.utterance, one.speaker, str(one.audio)}:
            matches.append(Match(one.utterance, one.speaker, str(one.audio), token, speaker))
    if not matches:
        near = difflib.get_close_matches(name, reading.corpus.speakers, n=1)
        meant = f"did you mean '{near[0]}'? Or " if near else ""
        rule = f"'{name}' is no token, utterance or speaker of it under this key"
        raise CorpusError(f"{originals.source}: {rule}; {meant}is it the right key?")
    return matches
