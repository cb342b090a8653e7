"""Where an anonymized corpus or recording goes: checked before any work, and noted in the private folder beside it.

The folder (or file) may be given away. ``<target>-private`` beside it must not: it holds the key, the settings of the
job and where the originals lie.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from personare.core.errors import CorpusError, OutputError
from personare.core.files import PRIVATE_FOLDER, create, make_folder
from personare.core.seeding import Key, load_or_make_key, refuse_bad_key, refuse_readable, token_for
from personare.corpora import check_place
from personare.pipeline.system import System, rehearse

JOB = "job.json"
KEY = "key"
LONGEST_NAME_BYTES = 255
PINNED = ("level", "format", "names", "key_check", "timing", "text", "put")
Format = Literal["flac", "wav", "opus", "mp3"]
Names = Literal["tokens", "keep"]


@dataclass(frozen=True)
class Origin:
    """Where originals lie and how they were read: what ``personare lookup`` needs to read them again."""

    source: Path
    layout: str | None = None
    speaker_from: str | None = None
    follow_links: bool = False

    def as_row(self) -> dict[str, Any]:
        """Give it for job.json."""
        row = {"source": str(self.source.resolve()), "layout": self.layout, "speaker_from": self.speaker_from}
        return row | ({"follow_links": True} if self.follow_links else {})


def noted_origin(target: Path) -> Origin | None:
    """Give where the originals of an anonymized folder lie and how they were read; None where nobody noted it."""
    if not target.resolve().name:
        return None
    try:
        job = json.loads((private_folder(target) / JOB).read_text(encoding="utf-8"))
        return Origin(Path(job["source"]), job["layout"], job["speaker_from"], job.get("follow_links") is True)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def check_source(source: Path, target: Path) -> None:
    """Refuse a source that is not there or is a pipe with a name, and say so when the two were swapped."""
    if not source.exists() and target.exists():
        raise CorpusError(f"{source}: no such file or folder, but {target} is there; SRC comes first, then DST")
    check_place(source)


def check_folder(source: Path, target: Path, *, key_file: Path | None) -> None:
    """Refuse, before a corpus is read, a folder that nothing can be written into."""
    from personare.core.audio import MEDIA_SUFFIXES, WRITABLE

    if target.resolve().is_relative_to(source.resolve()):
        raise OutputError(f"{target}: lies inside {source} and would become part of it; name a folder elsewhere")
    if not target.exists() and target.suffix.lower() in {*WRITABLE, *MEDIA_SUFFIXES}:
        raise OutputError(
            f"{target}: SRC is a corpus of many recordings, so that DST is a folder; leave out the ending"
        )
    check_target(target, key_file=key_file)


def check_target(target: Path, *, key_file: Path | None) -> None:
    """Refuse a folder that is not ours to write into, and a key that would be given away with it."""
    private = private_folder(target)
    if key_file is not None and key_file.resolve().is_relative_to(target.resolve()):
        raise OutputError(f"{key_file}: the key must not lie in the folder that is given away; name another place")
    if target.exists() and not target.is_dir():
        raise OutputError(f"{target}: is a file; name a folder")
    if target.is_dir() and any(target.iterdir()) and not (private / JOB).is_file():
        raise OutputError(f"{target}: is not empty and was not made by personare anonymize; name a new folder")


def private_folder(target: Path) -> Path:
    """The folder beside ``target`` that must be kept private."""
    target = target.resolve()
    if not target.name:
        raise OutputError(f"{target}: nothing can lie beside it; name a folder below it")
    size = len(f"{target.name}-private".encode())
    if size > LONGEST_NAME_BYTES:
        rule = f"with '-private' its name has {size} bytes, more than {LONGEST_NAME_BYTES}"
        raise OutputError(f"'{target.name[:40]}...': {rule}; choose a shorter one")
    return target.with_name(target.name + "-private")


def prepare(
    target: Path,
    system: System,
    *,
    key_file: Path | None,
    file_format: Format,
    names: Names,
    origin: Origin | None = None,
    timing: Mapping[str, Any] | None = None,
    text: bool = True,
    put: str | None = None,
) -> tuple[Key, bool]:
    """Check the target, find or make the key, and write down the settings; an earlier run must have had the same.

    Tells also whether a target that an earlier run has begun is not there any more.
    """
    rehearse(system)
    check_target(target, key_file=key_file)
    private = private_folder(target)
    job_file = private / JOB
    vanished = job_file.is_file() and not target.exists()
    refuse_bad_key(key_file or private / KEY)
    make_both(target, private)
    key, _ = load_or_make_key(key_file or private / KEY)
    job = {
        "method": system.method,
        "parameters": dict(system.parameters),
        "fingerprint": system.present_fingerprint,
        "level": system.level,
        "format": file_format,
        "names": names,
        "key_check": token_for(key, "check"),
        "timing": dict(timing) if timing else None,
        "text": None if text else False,
        "put": put,
        **(origin.as_row() if origin else {}),
    }
    written = json.dumps(job, indent=2, sort_keys=True, default=str) + "\n"
    if job_file.is_file() or not create(job_file, written.encode()):
        _check_same_job(target, job_file, job)
    return key, vanished


def make_both(target: Path, private: Path) -> None:
    """Make the folder and the private one beside it; one that others can read is refused."""
    try:
        make_folder(target)
        make_folder(private, mode=PRIVATE_FOLDER)
        mode = private.stat().st_mode
    except OSError as error:
        raise OutputError(f"{error.filename or target}: cannot be written ({error.strerror})") from None
    refuse_readable(private, mode, what="private folder", repair="700")


def _check_same_job(target: Path, job_file: Path, job: dict[str, Any]) -> None:
    """Refuse to go on in a folder that another key, other settings or another version of the method has begun."""
    try:
        begun: dict[str, Any] = json.loads(job_file.read_text(encoding="utf-8"))
        other = [name for name in PINNED if begun.get(name) != job[name]]
    except (ValueError, AttributeError, OSError) as error:
        raise OutputError(
            f"{job_file}: is no job of personare anonymize any more ({error}); name a new folder"
        ) from None
    typed = all(begun.get(name) == json.loads(json.dumps(job[name], default=str)) for name in ("method", "parameters"))
    if other or (begun.get("fingerprint") != job["fingerprint"] and not typed):
        raise OutputError(f"{target}: was begun with other settings or another key; name a new folder or delete it")
    if "fingerprint" not in begun:
        raise OutputError(
            f"{target}: was begun by an earlier personare, which wrote no version of '{job['method']}' down, and would "
            "mix two versions; name a new folder, or delete this one"
        )
    if begun["fingerprint"] != job["fingerprint"]:
        raise OutputError(
            f"{target}: was begun with another version of '{job['method']}' or with other models or files, and would "
            "mix two systems; name a new folder, or delete this one"
        )


def plain(name: str) -> str:
    """Give a name back if it can be a file's path as it is; nothing a corpus says may lead out of the target."""
    parts = name.split("/")
    if not all(re.fullmatch(r"[\w-][\w.+@=-]*", part) for part in parts):
        raise OutputError(f"'{name[:80]}' cannot be a file name; leave out --names keep")
    if max(len(part.encode()) for part in parts) > LONGEST_NAME_BYTES - len(".flac"):
        raise OutputError(f"'{name[:40]}...' is too long for a file name; leave out --names keep")
    return name
