"""Encode recordings as words and symbols, and speak such symbols: the two halves of the method expressive.

What is known of a speaker from all of their recordings (gender, languages, manner of speaking) is surveyed first, as
for ``anonymize``. A recording that is refused is a failure with its reason; nothing is written for it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from personare.anonymizers.neural.expressive.anonymizer import Expressive
from personare.anonymizers.neural.expressive.symbols import SymbolRecording, sentences_of
from personare.core.audio import read_mono, write
from personare.core.errors import OutputError, PersonareError
from personare.core.seeding import Key, rng_for
from personare.core.spoken import NOTHING_KNOWN
from personare.core.utterances import Utterance
from personare.pipeline.jobs.speaker_survey import SpeakerSurvey, surveyed

FORMATS = ("flac", "wav", "opus", "mp3")


@dataclass(frozen=True)
class Encoded:
    """Symbols of recordings, and those that failed with the reason."""

    recordings: tuple[SymbolRecording, ...]
    failures: tuple[tuple[str, str], ...]

    @property
    def sentences(self) -> int:
        """How many sentences there are."""
        return sum(len(one.sentences) for one in self.recordings)

    @property
    def bits_per_sentence(self) -> float:
        """Mean over sentences of how many bits their symbols have at most."""
        bits = [sentence.bits for one in self.recordings for sentence in one.sentences]
        return sum(bits) / len(bits) if bits else 0.0


def encode_file(source: Path, method: Expressive, *, file_format: str = "wav") -> Encoded:
    """Encode one recording; channels are mixed. A recording that is refused raises its error."""
    audio = read_mono(source)
    script, gender, _ = method.encode(audio, speaker=NOTHING_KNOWN)
    name = f"{source.stem}.{file_format}"
    return Encoded((SymbolRecording(name, source.stem, gender, audio.rate_hz, sentences_of(script)),), ())


def encode_utterances(
    utterances: Sequence[Utterance],
    method: Expressive,
    *,
    file_format: str = "flac",
    watch: Callable[[int], None] = lambda _: None,
) -> Encoded:
    """Encode the utterances of a corpus, with what all recordings of a speaker tell about the speaker."""
    recordings, failures = [], []
    samples = surveyed(utterances)
    with tempfile.TemporaryDirectory(prefix="personare-") as folder:
        survey = SpeakerSurvey(Path(folder))
        for one in utterances:
            try:
                facts = survey.facts(method, samples[one.speaker], fingerprint=method.fingerprint)
                audio = one.read()
                script, gender, _ = method.encode(audio, speaker=facts)
                name = f"{one.speaker}/{one.utterance}.{file_format}"
                sentences = sentences_of(script)
                recordings.append(SymbolRecording(name, one.speaker, gender, audio.rate_hz, sentences))
            except PersonareError as error:
                failures.append((one.utterance, str(error)))
            watch(1)
    return Encoded(tuple(recordings), tuple(failures))


def speak_recordings(
    recordings: Iterable[SymbolRecording],
    target: Path,
    method: Expressive,
    key: Key,
    *,
    watch: Callable[[int], None] = lambda _: None,
) -> float:
    """Speak recordings into a new folder, one file each; gives the seconds of speech."""
    known = list(recordings)
    check_target(known, target)
    languages: dict[str, set[str]] = {}
    for one in known:
        languages.setdefault(one.speaker, set()).update(one.script.languages)
    seconds = 0.0
    for one in known:
        rng = rng_for(key, "voice", one.speaker)
        audio = method.speak_symbols(
            one.script, gender=one.gender, languages=sorted(languages[one.speaker]), rng=rng, rate_hz=one.rate_hz
        )
        place = target / one.name
        place.parent.mkdir(parents=True, exist_ok=True)
        write(place, audio)
        seconds += audio.duration_s
        watch(1)
    return seconds


def check_target(recordings: Sequence[SymbolRecording], target: Path) -> None:
    """Refuse, before anything is spoken, a place that cannot be written."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise OutputError(f"{target}: exists already; name a new folder")
    names: set[str] = set()
    for one in recordings:
        if one.name.rpartition(".")[2].lower() not in FORMATS:
            raise OutputError(f"recording '{one.name}': must end in one of {', '.join(FORMATS)}; change its name")
        if one.name in names:
            raise OutputError(f"recording '{one.name}': is there twice; give one another name")
        names.add(one.name)
