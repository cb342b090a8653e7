"""Check an anonymized folder: is everything there, whole, and nothing else?

The owner's check compares with the journal in the private folder; the public one needs the folder only, and takes the
digests from its ``SHA256SUMS``. Every audio file is decoded to its end.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import polars as pl

from personare.core.audio import decode_whole
from personare.core.errors import AudioError, ConfigError, CorpusError, PersonareError
from personare.core.files import TEMPORARY, file_sha256
from personare.core.seeding import load_key, refuse_readable, token_for
from personare.core.tables import read_frame
from personare.engine import Engine, Result, Serial
from personare.pipeline.jobs.anonymize_journal import last_of, read_results
from personare.pipeline.jobs.published import FAILURES, MANIFEST, SUMS, read_sums
from personare.pipeline.jobs.target import JOB, KEY, private_folder
from personare.pipeline.system import CARD

KNOWN = (MANIFEST, SUMS, CARD)


@dataclass(frozen=True)
class Verified:
    """What was checked, in numbers, and every problem as (place, what is wrong).

    ``files`` are those that have their digest and were decoded to their end.
    """

    files: int
    utterances: int
    failures: int
    seconds: float
    problems: tuple[tuple[str, str], ...]
    public: bool


@dataclass(frozen=True)
class ListedFile:
    """A file within the target, and the digest that was noted, if any was."""

    place: str
    digest: str | None


@dataclass(frozen=True)
class VerifyWork:
    """The work on one file, for any engine: decode it to its end, compare its digest.

    It is sent with every file, so that it holds nothing that grows with their number.
    """

    target: Path

    def __call__(self, file: ListedFile) -> float:
        """Give its seconds of sound."""
        path = self.target / file.place
        if file.digest is not None and file_sha256(path) != file.digest:
            raise AudioError("its digest is not the one that was noted")
        try:
            return decode_whole(path).duration_s
        except AudioError as error:
            raise AudioError(str(error).removeprefix(f"{path}: ")) from None


def verify(
    target: Path,
    *,
    public: bool = False,
    key_file: Path | None = None,
    engine: Engine | None = None,
    watch: Callable[[Result[ListedFile, float]], None] = lambda _: None,
) -> Verified:
    """Check a folder; ``public`` does without the private folder beside it."""
    if not target.is_dir():
        raise CorpusError(f"{target}: no such folder")
    found = sorted(_files(target))
    listed, problems = _manifest(target)
    sums = read_sums(target)
    problems += list(_names(target, found, listed, sums))
    failures = 0
    if not public:
        noted, failures, more = _owner(target, listed, key_file)
        problems += more
        sums = {**sums, **noted}
    seconds, decoded = 0.0, 0
    audio = (ListedFile(place, sums.get(place)) for place in found if _is_audio(place))
    for result in (engine or Serial()).map(VerifyWork(target), audio):
        watch(result)
        seconds += result.value or 0.0
        decoded += result.ok
        if not result.ok:
            problems.append((result.item.place, result.error or "cannot be read"))
    for name in (MANIFEST, CARD):
        if name in sums and name in found and file_sha256(target / name) != sums[name]:
            problems.append((name, "its digest is not the one that was noted"))
    return Verified(decoded, len(listed), failures, seconds, tuple(problems), public)


def count_files(target: Path) -> int:
    """How many audio files there are to decode, for a progress bar."""
    return sum(_is_audio(place) for place in _files(target))


def _files(target: Path) -> Iterator[str]:
    """Every file, as a path within the target."""
    for root, _, names in os.walk(target):
        yield from ((Path(root) / name).relative_to(target).as_posix() for name in names)


def _is_audio(place: str) -> bool:
    return place.startswith("audio/") and not TEMPORARY.match(PurePosixPath(place).name)


def _manifest(target: Path) -> tuple[pl.DataFrame, list[tuple[str, str]]]:
    """Read the manifest as it is written, with paths relative to the folder."""
    none = pl.DataFrame(schema={"utterance": pl.String(), "audio": pl.String()})
    try:
        frame = read_frame(target / MANIFEST).select("utterance", "audio").cast(pl.String)
    except (PersonareError, pl.exceptions.PolarsError) as error:
        return none, [(MANIFEST, str(error).removeprefix(f"{target / MANIFEST}: "))]
    problems = []
    outside = [a for a in frame["audio"] if not a or PurePosixPath(a).is_absolute() or ".." in PurePosixPath(a).parts]
    if outside:
        problems.append((MANIFEST, f"{len(outside)} paths lead out of the folder (first: {outside[0]})"))
    if frame["utterance"].is_duplicated().any():
        problems.append((MANIFEST, "utterances repeat"))
    return frame, problems


def _names(target: Path, found: Sequence[str], listed: pl.DataFrame, sums: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Compare what is there with what is listed: manifest, card and digests."""
    there, places = set(found), set(listed["audio"])
    yield from ((place, "is in the manifest and not there") for place in sorted(places - there))
    for place in found:
        if TEMPORARY.match(PurePosixPath(place).name):
            yield place, "is a temporary file of a run that was interrupted or is under way"
        elif place not in places and place not in KNOWN:
            yield place, "is not in the manifest"
    if not sums:
        yield SUMS, "is missing or empty: nobody can tell whether files have changed"
    else:
        yield from ((place, f"is in {SUMS} and not there") for place in sorted(sums.keys() - there))
        yield from ((place, f"is not in {SUMS}") for place in sorted(there & {*places, MANIFEST, CARD} - sums.keys()))
    try:
        counted = json.loads((target / CARD).read_text(encoding="utf-8"))["utterances"]
    except (OSError, ValueError, KeyError, TypeError):
        yield CARD, "is missing or damaged"
    else:
        if counted != len(listed):
            yield CARD, f"counts {counted} utterances, the manifest lists {len(listed)}"


def _owner(
    target: Path, listed: pl.DataFrame, key_file: Path | None
) -> tuple[dict[str, str], int, list[tuple[str, str]]]:
    """Compare with the private folder: the digests of the journal, the count of failures, problems."""
    private = private_folder(target)
    if not (private / JOB).is_file():
        raise ConfigError(f"{private}: not there, or of no job; whoever has only the folder checks it with --public")
    problems: list[tuple[str, str]] = []
    try:
        refuse_readable(private, private.stat().st_mode, what="private folder", repair="700")
        job = json.loads((private / JOB).read_text(encoding="utf-8"))
        key = load_key(key_file or private / KEY)
        if job["key_check"] != token_for(key, "check"):
            problems.append((KEY, "is not the key that this folder was made with"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        problems.append((JOB, f"is damaged ({error})"))
        job = {}
    except ConfigError as error:
        problems.append((KEY, str(error)))
    results = read_results(private)
    made = last_of(results.filter(pl.col("output").is_not_null() & (pl.col("system") == job.get("fingerprint"))))
    noted = set(made["output"])
    sums = {place: digest for place, digest in read_sums(target).items() if place.startswith("audio/")}
    strange = sorted(place for place, digest in sums.items() if digest not in noted)
    problems += [(place, "is not in the journal with this digest") for place in strange]
    missing = len(noted) - len(noted.intersection(sums.values()))
    lines = _lines(private / FAILURES)
    if missing and not lines:
        problems.append((SUMS, f"{missing} results of the journal are not in the folder"))
    if len(listed) and not len(made):
        problems.append(("journal", "tells of no result: it is lost, or an earlier personare made the folder"))
    return sums, lines, problems


def _lines(failures: Path) -> int:
    try:
        lines = failures.read_text(encoding="utf-8").splitlines()[1:]
        return sum("\tleft out\t" not in line for line in lines)
    except OSError:
        return 0
