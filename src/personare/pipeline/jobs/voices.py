"""Make a corpus of invented speakers in a folder: plan, speak, list; what an earlier run made is never made again.

Clips are kept in the cache folder under a name that stands for all their sound depends on, and copied from there: a
second demo starts at once, and an interrupted run ends with the same bits as one that was not.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

import polars as pl

from personare.core.audio import probe, write
from personare.core.errors import AudioError, ConfigError, OutputError
from personare.core.files import atomic_path, write_text
from personare.core.tables import Corpus
from personare.core.weights import files_of, home
from personare.corpora.voices.plan import ENGLISH, PlannedUtterance, plan
from personare.corpora.voices.speakers import Source
from personare.corpora.voices.synthesizer import MODELS, fingerprint, synthesize
from personare.corpora.voices.text import Reading
from personare.engine import Engine, Result, Serial
from personare.languages import language as language_row
from personare.voices.kokoro import Kokoro

MANIFEST = "manifest.parquet"
CARD = "voices.json"
FAILURES = "failures.tsv"
RATE_RANGE_HZ = (8_000, 48_000)


@dataclass(frozen=True)
class Wanted:
    """What is asked for: how many speakers and utterances each, from which seed, at which rate, whose voices, what.

    ``skip`` leaves the first people of the seed out, so that two corpora share nobody. ``language`` is what they speak.
    ``noted_gender`` takes only those of Piper's voices whose gender was measured.
    """

    speakers: int
    utterances: int
    seed: int
    rate_hz: int
    source: Source = "kokoro"
    reading: Reading = "sentences"
    skip: int = 0
    language: str = ENGLISH
    noted_gender: bool = False

    def __post_init__(self) -> None:
        language_row(self.language)
        low, high = RATE_RANGE_HZ
        if not low <= self.rate_hz <= high:
            raise ConfigError(f"rate must be {low} to {high} Hz, not {self.rate_hz}")

    def plan(self) -> list[PlannedUtterance]:
        """Plan every utterance."""
        return plan(
            self.speakers,
            self.utterances,
            seed=self.seed,
            source=self.source,
            reading=self.reading,
            skip=self.skip,
            language=self.language,
            noted_gender=self.noted_gender,
        )

    @property
    def models(self) -> tuple[str, ...]:
        """The models that speak."""
        return MODELS[self.source] if self.language == ENGLISH else Kokoro.MODELS


@dataclass(frozen=True)
class SpokenUtterance:
    """What became of one utterance: seconds of speech, seconds of work (0 when it was there already)."""

    speech_s: float
    work_s: float


@dataclass(frozen=True)
class VoicesSummary:
    """The job in numbers; ``made_s`` is the speech made now, ``speech_s`` all of it."""

    speakers: int
    done: int
    kept: int
    failed: int
    speech_s: float
    made_s: float
    wall_s: float
    failures: tuple[tuple[str, str], ...]

    @property
    def real_time_factor(self) -> float:
        """Wall seconds per second of speech made now (NaN when all was there already)."""
        return self.wall_s / self.made_s if self.made_s else float("nan")


@dataclass(frozen=True)
class VoiceWork:
    """The work on one utterance, for any engine: speak it into the cache unless it is there, copy it to its place."""

    target: Path
    rate_hz: int

    def place_of(self, item: PlannedUtterance) -> Path:
        """Where an utterance goes."""
        return self.target / item.speaker.name / f"{item.name}.flac"

    def stored(self, item: PlannedUtterance) -> Path:
        """Where the cache keeps it."""
        name = fingerprint(item, rate_hz=self.rate_hz)
        return home() / "voices" / name[:2] / f"{name}.flac"

    def is_ready(self, item: PlannedUtterance) -> bool:
        """Whether it is in its place or in the cache, so that nothing has to be spoken."""
        return _is_sound(self.place_of(item), self.rate_hz) or _is_sound(self.stored(item), self.rate_hz)

    def __call__(self, item: PlannedUtterance) -> SpokenUtterance:
        """Do it."""
        place, stored, began = self.place_of(item), self.stored(item), time.perf_counter()
        if _is_sound(place, self.rate_hz):
            return SpokenUtterance(probe(place).duration_s, 0.0)
        new = not _is_sound(stored, self.rate_hz)
        if new:
            write(stored, synthesize(item, rate_hz=self.rate_hz))
        with atomic_path(place) as part:
            shutil.copyfile(stored, part)
        return SpokenUtterance(probe(place).duration_s, time.perf_counter() - began if new else 0.0)


def _is_sound(path: Path, rate_hz: int) -> bool:
    """Whether a whole audio file of this rate is there (files are written atomically: never half of one)."""
    try:
        return path.is_file() and probe(path).rate_hz == rate_hz
    except AudioError:
        return False


def prepare(target: Path, wanted: Wanted, items: list[PlannedUtterance]) -> None:
    """Check the target and write down what is made there; an earlier run must have wanted the same."""
    card_file = target / CARD
    if target.exists() and not target.is_dir():
        raise OutputError(f"{target}: is a file; name a folder")
    if target.is_dir() and any(target.iterdir()) and not card_file.is_file():
        raise OutputError(f"{target}: is not empty and was not made by personare voices; name a new folder")
    sounds = "".join(fingerprint(item, rate_hz=wanted.rate_hz) for item in items)
    settings = asdict(wanted)
    if wanted.source == "kokoro":  # the only one there was: folders from before can be gone on with
        del settings["source"]
    for name, before in (("reading", "sentences"), ("skip", 0), ("language", ENGLISH)):  # likewise
        if settings[name] == before:
            del settings[name]
    card = {"made_by": "personare voices", **settings, "sounds": sha256(sounds.encode()).hexdigest()}
    text = json.dumps(card, indent=2) + "\n"
    if card_file.is_file() and card_file.read_bytes() != text.encode():
        raise OutputError(
            f"{target}: holds voices made with other settings (see {CARD}); name a new folder or delete it"
        )
    for part in target.glob("*/.*.part.flac"):  # left by a run that was killed
        part.unlink(missing_ok=True)
    write_text(card_file, text)


def make_voices(
    target: Path,
    wanted: Wanted,
    *,
    engine: Engine,
    watch: Callable[[Result[PlannedUtterance, SpokenUtterance]], None] = lambda _: None,
) -> VoicesSummary:
    """Make the wanted corpus in ``target``: one folder per speaker and ``manifest.parquet``.

    Parameters
    ----------
    engine : where the speaking is done; clips that are there already are copied in this process.
    watch : is told each Result as it comes.
    """
    began, items = time.perf_counter(), wanted.plan()
    prepare(target, wanted, items)
    work = VoiceWork(target, wanted.rate_hz)
    ready = {item.name for item in items if work.is_ready(item)}
    there = [item for item in items if item.name in ready]
    missing = [item for item in items if item.name not in ready]
    if missing:
        for model in wanted.models:
            files_of(model)  # a missing model is one line before the work, not a failure per utterance
    results: list[Result[PlannedUtterance, SpokenUtterance]] = []
    for where, part in ((Serial(), there), (engine, missing)):
        for result in where.map(work, part, ordered=False) if part else ():
            results.append(result)
            watch(result)
    _write_tables(work, results)
    return _summary(results, wall_s=time.perf_counter() - began)


def _write_tables(work: VoiceWork, results: list[Result[PlannedUtterance, SpokenUtterance]]) -> None:
    """List what was made, and what failed, in the order of the plan."""
    rows = [
        {
            "utterance": r.item.name,
            "speaker": r.item.speaker.name,
            "audio": str(work.place_of(r.item).resolve()),
            "gender": r.item.speaker.gender,
            "text": r.item.text,
            **({"accent": r.item.speaker.accent} if r.item.language == ENGLISH else {"language": r.item.language}),
            "duration_s": r.value.speech_s,
        }
        for r in sorted(results, key=lambda r: r.item.name)
        if r.value is not None
    ]
    if rows:
        Corpus(pl.DataFrame(rows, schema_overrides={"gender": pl.String})).save(work.target / MANIFEST)
    failures = _failures(results)
    if failures:
        lines = "".join(f"{name}\t{error}\n" for name, error in failures)
        write_text(work.target / FAILURES, f"utterance\terror\n{lines}")
    else:
        (work.target / FAILURES).unlink(missing_ok=True)


def _failures(results: list[Result[PlannedUtterance, SpokenUtterance]]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((r.item.name, r.error or "") for r in results if not r.ok))


def _summary(results: list[Result[PlannedUtterance, SpokenUtterance]], *, wall_s: float) -> VoicesSummary:
    made = [r.value for r in results if r.value is not None]
    new = [m for m in made if m.work_s > 0]
    failures = _failures(results)
    return VoicesSummary(
        speakers=len({r.item.speaker.name for r in results if r.ok}),
        done=len(made),
        kept=len(made) - len(new),
        failed=len(failures),
        speech_s=sum(m.speech_s for m in made),
        made_s=sum(m.speech_s for m in new),
        wall_s=wall_s,
        failures=failures,
    )
