"""The app's jobs: one folder each, with all that was chosen and made; what is on disk is what there is.

JOBS/ID/job.json            what was chosen: speech, who speaks, strength or method, and what is being done
JOBS/ID/found.parquet       the recordings as they were found; speech/: with the names that were given to people
JOBS/ID/recordings/         copies of dropped files; deleted with the job, or UPLOAD_DAYS after its last change
JOBS/ID/anonymized/         may be given away; anonymized-private/ must stay
JOBS/ID/run/, report/       what the attackers found; cache/: speaker embeddings and transcripts of this job only
"""

from __future__ import annotations

import itertools
import json
import re
import secrets
import shutil
import time
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import polars as pl

from personare.core.audio import readable_suffixes
from personare.core.config import from_mapping
from personare.core.errors import ConfigError, OutputError, PersonareError
from personare.core.files import write_text
from personare.core.tables import Corpus

UNCERTAIN = "uncertain"
Phase = Literal["read", "preview", "hide", "attack"]
PHASES: tuple[Phase, ...] = ("read", "preview", "hide", "attack")
Status = Literal["idle", "running", "paused"]
JOB, PROGRESS, FOUND = "job.json", "progress.json", "found.parquet"
ID = re.compile(r"[0-9a-f]{12}")
LONGEST_NAME_BYTES, MOST_PARTS = 255, 32
NOT_IN_NAMES = re.compile(r'[\x00-\x1f\x7f<>:"|?*\ud800-\udfff]')  # what no system, or some, cannot write
UPLOAD_DAYS = 30
REFUSED, EXCLUDED = "refused.json", "excluded.json"


@dataclass(frozen=True)
class JobFacts:
    """What job.json says; ``names`` are the names that were given to people, by the names they were found under.

    Voices are hidden by a ``strength`` or by a ``method``; the other of the two is empty. ``language`` is the code of
    all speech, empty where it is the corpus' own or identified. ``rule_chosen``: the person at the page has chosen the
    rule; ``expired``: copies of dropped recordings were deleted because of their age.
    """

    title: str
    source: str
    created: float
    rule: str = ""
    strength: str = "balanced"
    method: str = ""
    language: str = ""
    phase: Phase = "read"
    status: Status = "idle"
    names: Mapping[str, str] = field(default_factory=dict)
    rule_chosen: bool = False
    expired: bool = False

    @property
    def hidden_by(self) -> dict[str, Any]:
        """The strength or the method, and the language, as the library's functions take them."""
        by = {"method": self.method} if self.method else {"strength": self.strength}
        return {**by, "language": self.language or None}


@dataclass(frozen=True)
class JobFolder:
    """One job on disk."""

    path: Path

    @property
    def id(self) -> str:
        """Its name in addresses."""
        return self.path.name

    @property
    def uploads(self) -> Path:
        """Where dropped files go."""
        return self.path / "recordings"

    @property
    def cache(self) -> Path:
        """Speaker embeddings and transcripts that the work on this job keeps."""
        return self.path / "cache"

    @property
    def speech(self) -> Path:
        """The recordings with the names that were given."""
        return self.path / "speech"

    @property
    def anonymized(self) -> Path:
        """What may be given away."""
        return self.path / "anonymized"

    @property
    def private(self) -> Path:
        """What must stay."""
        return self.path / "anonymized-private"

    def facts(self) -> JobFacts:
        """Read job.json."""
        file = self.path / JOB
        try:
            return from_mapping(JobFacts, json.loads(file.read_text(encoding="utf-8")), where=str(file))
        except (OSError, ValueError) as error:
            raise ConfigError(f"{file}: cannot be read ({error})") from None

    def change(self, **changes: Any) -> JobFacts:
        """Write job.json with other values."""
        facts = replace(self.facts(), **changes)
        self.keep(JOB, asdict(facts))
        return facts

    def keep(self, name: str, content: Any) -> None:
        """Write a JSON file of the job."""
        write_text(self.path / name, json.dumps(content, ensure_ascii=False) + "\n")

    def read(self, name: str) -> Any:
        """Read a JSON file of the job; None where there is none."""
        try:
            return json.loads((self.path / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def ended(self, phase: Phase) -> Any:
        """Tell how a phase ended; None where it has not."""
        return self.read(f"done-{phase}.json")

    def forget_from(self, phase: Phase) -> None:
        """Forget that this phase and the later ones have ended, because what they were made of has changed."""
        for later in PHASES[PHASES.index(phase) :]:
            (self.path / f"done-{later}.json").unlink(missing_ok=True)
        (self.path / PROGRESS).unlink(missing_ok=True)

    def people(self) -> pl.DataFrame:
        """Count the recordings of everybody, by the names they were found under: found, name, recordings."""
        if not (self.path / FOUND).is_file():
            return pl.DataFrame(schema={"found": pl.String, "name": pl.String, "recordings": pl.Int64})
        counts = Corpus.load(self.path / FOUND).frame.group_by("speaker").len("recordings").sort("speaker")
        names = self.facts().names
        given = [names.get(found, found) for found in counts["speaker"]]
        return counts.select(
            pl.col("speaker").alias("found"),
            pl.Series("name", given, dtype=pl.String),
            pl.col("recordings").cast(pl.Int64),
        )

    def write_speech(self) -> Corpus:
        """Write the recordings with the names that were given; the same name is the same person."""
        corpus, names = Corpus.load(self.path / FOUND), self.facts().names
        speakers = [names.get(found, found) for found in corpus.frame["speaker"]]
        frame = corpus.frame.with_columns(pl.Series("speaker", speakers, dtype=pl.String))
        if "gender" in frame.columns:  # two people who are one after all may have had two genders
            frame = frame.with_columns(pl.col("gender").drop_nulls().first().over("speaker"))
        named = Corpus(frame)
        named.save(self.speech / "manifest.parquet")
        return named


def new_job(folder: Path, *, source: str, title: str, rule: str) -> JobFolder:
    """Make a job; without a source, files will be dropped into it."""
    job = JobFolder(folder / secrets.token_hex(6))
    try:
        job.path.mkdir(parents=True, mode=0o700)
    except OSError as error:
        raise OutputError(f"{job.path}: cannot be made ({error.strerror})") from None
    job.keep(JOB, asdict(JobFacts(title, source or str(job.uploads), time.time(), rule)))
    return job


def jobs_in(folder: Path) -> Iterator[JobFolder]:
    """Give every job, the newest first; what is none is passed over."""
    found = []
    for path in folder.iterdir() if folder.is_dir() else ():
        if ID.fullmatch(path.name) and (path / JOB).is_file():
            try:
                found.append((JobFolder(path).facts().created, JobFolder(path)))
            except PersonareError:
                continue
    yield from (job for _, job in sorted(found, key=lambda pair: -pair[0]))


def upload_place(job: JobFolder, name: str) -> Path:
    """Give where a dropped file goes: its own path in the form NFC, below the job's folder, never anywhere else."""
    parts = PurePosixPath(unicodedata.normalize("NFC", name).replace("\\", "/")).parts
    kept = [NOT_IN_NAMES.sub("_", part).strip(" .") for part in parts if part != "/"]
    kept = [part for part in kept if part]
    shown = name[-80:] if len(name) > 80 else name
    if not kept or Path(kept[-1]).suffix.lower() not in readable_suffixes():
        raise ConfigError(f"'{shown}' is not a recording that can be read")
    if len(kept) > MOST_PARTS:
        raise ConfigError(f"'{shown}' lies below {len(kept) - 1} folders; at most {MOST_PARTS - 1} are taken")
    if max(len(part.encode()) for part in kept) > LONGEST_NAME_BYTES:
        raise ConfigError(f"'{shown}' has a name of more than {LONGEST_NAME_BYTES} bytes; rename it")
    return job.uploads.joinpath(*kept)


def protects(verdicts: Iterable[Mapping[str, Any]]) -> bool:
    """Whether every verdict says that people are protected, at least partly; only then is a result given away."""
    found = [one.get("protection") for one in verdicts]
    return bool(found) and all(one in ("protected", "partly protected") for one in found)


def new_upload(job: JobFolder, name: str) -> Path:
    """Make the empty file that a dropped file is copied into; where the name is taken, under a number."""
    place = upload_place(job, name)
    for number in itertools.count(1):
        numbered = place if number == 1 else place.with_name(f"{place.stem[:200]} ({number}){place.suffix}")
        try:
            numbered.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with numbered.open("xb"):
                return numbered
        except FileExistsError:
            if not numbered.exists():  # a folder on the way is a file
                raise ConfigError(
                    f"'{name[-80:]}' lies in a folder that has the name of a recording; rename it"
                ) from None
        except OSError as error:
            raise ConfigError(f"'{name[-80:]}' cannot be written ({error.strerror})") from None
    raise AssertionError("there is always another number")


def refuse_upload(job: JobFolder, name: str, reason: str) -> None:
    """Note a dropped file that was not taken; a recording is counted, any other file is only mentioned."""
    recording = PurePosixPath(name).suffix.lower() in readable_suffixes()
    job.keep(REFUSED, [*(job.read(REFUSED) or []), {"name": name, "reason": reason, "recording": recording}])


def expire_uploads(job: JobFolder, *, now: float) -> bool:
    """Delete the copies of dropped recordings, and what was derived from them, when nobody used the job for long."""
    file = job.path / JOB
    if not job.uploads.is_dir() or now - file.stat().st_mtime < UPLOAD_DAYS * 86_400:
        return False
    for path in (job.uploads, job.cache, job.path / "preview", job.path / UNCERTAIN, job.path / "run"):
        shutil.rmtree(path, ignore_errors=True)
    job.change(expired=True, status="idle")
    return True
