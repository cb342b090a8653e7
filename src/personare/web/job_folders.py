"""The app's jobs: one folder each, with all that was chosen and made; what is on disk is what there is.

JOBS/ID/job.json            what was chosen: speech, who speaks, strength or method, and what is being done
JOBS/ID/found.parquet       the recordings as they were found; speech/: with the names that were given to people
JOBS/ID/anonymized/         may be given away; anonymized-private/ must stay
JOBS/ID/run/, report/       what the attackers found
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import polars as pl

from personare.core.audio import readable_suffixes
from personare.core.config import from_mapping
from personare.core.errors import ConfigError, OutputError, PersonareError
from personare.core.files import write_text
from personare.core.tables import Corpus

Phase = Literal["read", "preview", "hide", "attack"]
PHASES: tuple[Phase, ...] = ("read", "preview", "hide", "attack")
Status = Literal["idle", "running", "paused"]
JOB, PROGRESS, FOUND = "job.json", "progress.json", "found.parquet"
ID = re.compile(r"[0-9a-f]{12}")
LONGEST_NAME, MOST_PARTS = 200, 4


@dataclass(frozen=True)
class JobFacts:
    """What job.json says; ``names`` are the names that were given to people, by the names they were found under.

    Voices are hidden by a ``strength`` or by a ``method``; the other of the two is empty.
    """

    title: str
    source: str
    created: float
    rule: str = ""
    strength: str = "balanced"
    method: str = ""
    phase: Phase = "read"
    status: Status = "idle"
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def hidden_by(self) -> dict[str, Any]:
        """The strength or the method, as the library's functions take it."""
        return {"method": self.method} if self.method else {"strength": self.strength}


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
    """Give where a dropped file goes: its own name, below at most three folders, never anywhere else."""
    parts = PurePosixPath(name.replace("\\", "/")).parts[-MOST_PARTS:]
    kept = [re.sub(r"[^\w .()+,-]", "_", part).strip(" .")[:LONGEST_NAME] for part in parts]
    kept = [part for part in kept if part]
    if not kept or Path(kept[-1]).suffix.lower() not in readable_suffixes():
        raise ConfigError(f"'{name[:80]}' is not a recording that can be read")
    return job.uploads.joinpath(*kept)
