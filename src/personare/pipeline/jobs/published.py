"""What of an anonymization may be given away beside the audio: manifest, card, digests; and the private failures.

``SHA256SUMS`` lists the digest of every file in the form that ``sha256sum --check`` reads, so that whoever gets the
folder can tell that it is whole. It is written last.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl

from personare import __version__
from personare.core.files import TEMPORARY, atomic_path, file_sha256, write_text
from personare.core.tables import Corpus, write_frame
from personare.pipeline.jobs.anonymize_work import AnonymizeWork
from personare.pipeline.jobs.worklist import WorkList
from personare.pipeline.system import CARD, tokens_of

AUDIO, MANIFEST, SUMS, FAILURES = "audio", "manifest.parquet", "SHA256SUMS", "failures.tsv"
STATUS = (
    "Pseudonymous while the key or the originals exist (GDPR, Art. 4(5)): whoever has the originals can find them "
    "again by length, loudness, words or samples, without the key (measure it: personare audit --original). Without "
    "both, what is left is the voice, which personare evaluate measures, and the words."
)
_ROWS = 4096  # rows that are Python objects at a time
CARRIED = ("gender", "text", "person_channel")


@dataclass(frozen=True)
class Published:
    """What is in the folder: items, and audio files that no utterance of the corpus explains."""

    items: int
    unexplained: int


def publish(work: AnonymizeWork, items: WorkList, made: pl.DataFrame, *, carried: Sequence[str]) -> Published:
    """Write manifest, card and digests of what is in the folder.

    Parameters
    ----------
    made : the items that are there (``lead``) and the digest of their file (``output``).
    carried : columns of the corpus that come along.
    """
    frame = items.frame.join(made.select("lead", "output"), on="lead", how="inner", maintain_order="left")
    there = frame.select("place", "output").unique(maintain_order=True)
    _write_manifest(frame, work, carried)
    card = {
        "made_by": f"personare {__version__}",
        "method": work.system.method,
        "parameters": dict(work.system.parameters),
        "fingerprint": work.system.present_fingerprint,
        "level": work.system.level,
        "names": work.names,
        "utterances": len(frame),
        "timing": asdict(work.timing) if work.timing else None,
        "text": "text" in carried,
        "status": STATUS,
    }
    write_text(work.target / CARD, json.dumps(card, indent=2, sort_keys=True, default=str) + "\n")
    write_sums(work.target, there)
    if work.put is not None:
        for name in (MANIFEST, CARD, SUMS):
            if (work.target / name).is_file():
                work.put.put(name, (work.target / name).read_bytes())
        return Published(len(there), len(work.put.names(AUDIO)) - len(there))
    return Published(len(there), sum(1 for _ in audio_files(work.target)) - len(there))


def _write_manifest(frame: pl.DataFrame, work: AnonymizeWork, carried: Sequence[str]) -> None:
    """List what is in the folder, in an order that says nothing of the source; only some columns come along."""
    path = work.target / MANIFEST
    if not len(frame):
        path.unlink(missing_ok=True)
        return
    names = frame.select("utterance", "speaker")
    if work.names != "keep":
        parts = (names.slice(begin, _ROWS).iter_rows() for begin in range(0, len(names), _ROWS))
        tokens = ([tokens_of(work.key, work.system, who, what) for what, who in part] for part in parts)
        schema = {"utterance": pl.String(), "speaker": pl.String()}
        names = pl.concat([pl.DataFrame(some, schema=schema, orient="row") for some in tokens])
    listed = names.with_columns(frame["place"].alias("audio"), *(frame[column] for column in carried))
    write_frame(Corpus(listed.sort("utterance")).frame, path)


def write_sums(target: Path, there: pl.DataFrame) -> None:
    """Write the digests of the audio (``place``, ``output``), the manifest and the card."""
    others = [name for name in (CARD, MANIFEST) if (target / name).is_file()]
    with atomic_path(target / SUMS) as part, part.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(f"{digest}  {place}\n" for place, digest in there.sort("place").iter_rows())
        stream.writelines(f"{file_sha256(target / name)}  {name}\n" for name in others)


def read_sums(target: Path) -> dict[str, str]:
    """Read the digests by path; lines of another form are left out."""
    try:
        lines = (target / SUMS).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    pairs = (line.split("  ", 1) for line in lines)
    return {pair[1]: pair[0] for pair in pairs if len(pair) == 2 and len(pair[0]) == hashlib.sha256().digest_size * 2}


def audio_files(target: Path) -> Iterator[Path]:
    """Every file below ``audio/`` that is not a temporary one."""
    for root, _, names in os.walk(target / AUDIO):
        yield from (Path(root) / name for name in names if not TEMPORARY.match(name))


def write_failures(private: Path, failures: Sequence[tuple[str, str]]) -> None:
    """List what failed, (utterance, reason): in the private folder, because it names source files."""
    lines = sorted(f"{' '.join(name.split())}\t{' '.join(error.split())}" for name, error in failures)
    write_text(private / FAILURES, "\n".join(["utterance\terror", *lines]) + "\n", mode=0o600)
