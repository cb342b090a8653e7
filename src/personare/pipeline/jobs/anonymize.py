"""Anonymize a whole corpus: every utterance in, a folder out whose names, tags and tables tell nobody's identity.

What may be given away is the target folder: audio under keyed tokens, a manifest, and a card that says how it was made
and by which system (its fingerprint). What must be kept private is beside it, in ``<target>-private``: the key, the
settings of the job and the list of failures, which names source files. Whoever deletes the private folder cuts the link
for good. A folder is finished only by the system that began it: ``job.json`` holds its fingerprint.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from personare import __version__
from personare.core.audio import probe, write
from personare.core.errors import AudioError, OutputError
from personare.core.files import write_text
from personare.core.seeding import Key, load_or_make_key, rng_for, token_for
from personare.core.tables import Corpus
from personare.core.utterances import Utterance
from personare.engine import Engine, Result
from personare.pipeline.system import CARD, System, rehearse, tokens_of

JOB = "job.json"
MANIFEST = "manifest.parquet"
Format = Literal["flac", "wav"]
Names = Literal["tokens", "keep"]


@dataclass(frozen=True)
class AnonymizedUtterance:
    """What became of one utterance: seconds of speech, seconds of work (0 when an earlier run had done it)."""

    speech_s: float
    work_s: float


@dataclass(frozen=True)
class AnonymizeSummary:
    """The job in numbers; ``unexplained`` counts audio in the target that no utterance of the corpus explains."""

    done: int
    failed: int
    kept: int
    speech_s: float
    wall_s: float
    failures: tuple[tuple[str, str], ...]
    unexplained: int = 0

    @property
    def real_time_factor(self) -> float:
        """Wall seconds per second of speech processed now (NaN when nothing was left to do)."""
        return self.wall_s / self.speech_s if self.speech_s else float("nan")


def plain(name: str) -> str:
    """Give a name back if it can be a file's path as it is; nothing a corpus says may lead out of the target."""
    if not all(re.fullmatch(r"[\w-][\w.+@=-]*", part) for part in name.split("/")):
        raise OutputError(f"'{name}' cannot be a file name; leave out --names keep")
    return name


@dataclass(frozen=True)
class AnonymizeWork:
    """The work on one utterance, for any engine: read, anonymize each channel by the same draw, write."""

    system: System
    key: Key
    target: Path
    format: Format
    names: Names

    def place_of(self, item: Utterance) -> Path:
        """Where the result of an utterance goes."""
        if self.names == "keep":
            return self.target / "audio" / plain(item.speaker) / f"{plain(item.utterance)}.{self.format}"
        token, _ = tokens_of(self.key, self.system, item.speaker, item.utterance)
        return self.target / "audio" / token[:2] / f"{token}.{self.format}"

    def __call__(self, item: Utterance) -> AnonymizedUtterance:
        """Anonymize it, unless an earlier run has."""
        place = self.place_of(item)
        kept = _kept(place)
        if kept is not None:
            return kept
        began = time.perf_counter()
        anonymize, names = self.system.build(), self.system.names_of(item.speaker, item.utterance)
        channels = [anonymize(channel, rng=rng_for(self.key, "voice", *names)) for channel in item.read_channels()]
        write(place, channels)
        _undate(place)
        return AnonymizedUtterance(channels[0].duration_s, time.perf_counter() - began)


def _kept(place: Path) -> AnonymizedUtterance | None:
    """Tell what an earlier run left of an utterance; a file that was spoilt since is made again."""
    if not place.is_file():
        return None
    try:
        facts = probe(place)
    except AudioError:
        return None
    _undate(place)
    return AnonymizedUtterance(facts.duration_s, 0.0)


def _undate(place: Path) -> None:
    """Give every file the same date: times of writing would tell the order of the source, and so who is who."""
    os.utime(place, (0, 0))


def private_folder(target: Path) -> Path:
    """The folder beside ``target`` that must be kept private."""
    target = target.resolve()
    if not target.name:
        raise OutputError(f"{target}: nothing can lie beside it; name a folder below it")
    return target.with_name(target.name + "-private")


def prepare(target: Path, system: System, *, key_file: Path | None, file_format: Format, names: Names) -> Key:
    """Check the target, find or make the key, and write down the settings; an earlier run must have had the same."""
    rehearse(system)
    private = private_folder(target)
    if key_file is not None and key_file.resolve().is_relative_to(target.resolve()):
        raise OutputError(f"{key_file}: the key must not lie in the folder that is given away; name another place")
    job_file = private / JOB
    if target.exists() and not target.is_dir():
        raise OutputError(f"{target}: is a file; name a folder")
    if target.is_dir() and any(target.iterdir()) and not job_file.is_file():
        raise OutputError(f"{target}: is not empty and was not made by personare anonymize; name a new folder")
    try:
        target.mkdir(parents=True, exist_ok=True)
        private.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{error.filename or target}: cannot be written ({error.strerror})") from None
    key, _ = load_or_make_key(key_file or private / "key")
    job = {
        "method": system.method,
        "parameters": dict(system.parameters),
        "fingerprint": system.present_fingerprint,
        "level": system.level,
        "format": file_format,
        "names": names,
        "key_check": token_for(key, "check"),
    }
    if job_file.is_file():
        _check_same_job(target, job_file, job)
    else:
        write_text(job_file, json.dumps(job, indent=2, sort_keys=True, default=str) + "\n")
    return key


def _check_same_job(target: Path, job_file: Path, job: dict[str, Any]) -> None:
    """Refuse to go on in a folder that another key, other settings or another version of the method has begun."""
    try:
        begun: dict[str, Any] = json.loads(job_file.read_text(encoding="utf-8"))
        other = [name for name in ("level", "format", "names", "key_check") if begun.get(name) != job[name]]
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


def anonymize(
    corpus: Corpus,
    target: Path,
    system: System,
    *,
    engine: Engine,
    key_file: Path | None = None,
    file_format: Format = "flac",
    names: Names = "tokens",
    keep: Callable[[list[Utterance]], list[Utterance]] = lambda items: items,
    watch: Callable[[Result[Utterance, AnonymizedUtterance]], None] = lambda _: None,
) -> AnonymizeSummary:
    """Anonymize ``corpus`` into ``target``; what an interrupted run finished is kept, and the end is bit-identical.

    Parameters
    ----------
    keep : chooses a shard of the items; the manifest lists what is in the folder after this run.
    watch : is given each Result as it comes.
    """
    began = time.perf_counter()
    items = keep(list(corpus))
    if names == "keep":
        for item in items:  # names that cannot be kept must fail before anything is written
            plain(item.speaker), plain(item.utterance)
    key = prepare(target, system, key_file=key_file, file_format=file_format, names=names)
    work = AnonymizeWork(system, key, target, file_format, names)
    items.sort(key=lambda item: work.place_of(item).name)  # the order of work must not tell the order of the source
    results: list[Result[Utterance, AnonymizedUtterance]] = []
    for result in engine.map(work, items, ordered=False):
        results.append(result)
        watch(result)
    unexplained = _write_manifest(corpus, work)
    failures = tuple(sorted((r.item.utterance, r.error or "") for r in results if not r.ok))
    _write_failures(private_folder(target) / "failures.tsv", failures, tried={item.utterance for item in items})
    done = [r.value for r in results if r.value is not None]
    fresh = [d for d in done if d.work_s > 0]
    return AnonymizeSummary(
        done=len(done),
        failed=len(failures),
        kept=len(done) - len(fresh),
        speech_s=sum(d.speech_s for d in fresh),
        wall_s=time.perf_counter() - began,
        failures=failures,
        unexplained=unexplained,
    )


def _write_failures(path: Path, failures: Sequence[tuple[str, str]], *, tried: set[str]) -> None:
    """List what failed; what another shard wrote about utterances not tried now stays."""
    before = path.read_text(encoding="utf-8").splitlines()[1:] if path.is_file() else []
    rows = [line for line in before if line.split("\t")[0] not in tried]
    rows += [f"{utterance}\t{error}" for utterance, error in failures]
    write_text(path, "\n".join(["utterance\terror", *sorted(rows)]) + "\n")


def _write_manifest(corpus: Corpus, work: AnonymizeWork) -> int:
    """List what is in the folder, in an order that says nothing of the source; only gender and text come along.

    Audio that the corpus does not explain (of a speaker who was withdrawn, say) is counted, not listed.
    """
    rows = []
    carried = [c for c in ("gender", "text") if c in corpus.frame.columns]
    for item in corpus:
        place = work.place_of(item)
        if place.is_file():
            token, speaker = tokens_of(work.key, work.system, item.speaker, item.utterance)
            named = (item.utterance, item.speaker) if work.names == "keep" else (token, speaker)
            known = {c: getattr(item, c) for c in carried}
            rows.append({"utterance": named[0], "speaker": named[1], "audio": str(place.resolve())} | known)
    schema = dict.fromkeys(["utterance", "speaker", "audio", *carried], pl.String)
    if rows:
        Corpus(pl.DataFrame(rows, schema=schema).sort("utterance")).save(work.target / MANIFEST)
    card = {
        "made_by": f"personare {__version__}",
        "method": work.system.method,
        "parameters": dict(work.system.parameters),
        "fingerprint": work.system.present_fingerprint,
        "level": work.system.level,
        "names": work.names,
        "utterances": len(rows),
    }
    write_text(work.target / CARD, json.dumps(card, indent=2, sort_keys=True, default=str) + "\n")
    listed = {row["audio"] for row in rows}
    files = (work.target / "audio").rglob(f"*.{work.format}")
    return sum(1 for path in files if not path.name.startswith(".") and str(path.resolve()) not in listed)
