"""What of an anonymization may be given away beside the audio: manifest, card, digests; and the private failures.

``SHA256SUMS`` lists the digest of every file in the form that ``sha256sum --check`` reads, so that whoever gets the
folder can tell that it is whole. It is written last.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl

from personare import __version__
from personare.anonymizers.former_names import CARD_VERSION
from personare.core.errors import FailureKind
from personare.core.files import TEMPORARY, atomic_path, file_sha256, temporary_path, write_text
from personare.core.ledger import Excluded, Ledger, Outcome
from personare.core.tables import Corpus, write_frame
from personare.pipeline.jobs.anonymize_work import AnonymizeWork
from personare.pipeline.jobs.worktable import WorkTable
from personare.pipeline.system import CARD

AUDIO, MANIFEST, SUMS, FAILURES = "audio", "manifest.parquet", "SHA256SUMS", "failures.tsv"
STATUS = (
    "Pseudonymous while the key or the originals exist (GDPR, Art. 4(5)): whoever has the originals can find them "
    "again by length, loudness, words or samples, without the key (measure it: personare audit --original). Without "
    "both, what is left is the voice, which personare evaluate measures, and the words."
)
ROW_GROUP = 16_384  # rows of a manifest that are in memory at a time
CARRIED = ("gender", "text", "person_channel")


@dataclass(frozen=True)
class Published:
    """What is in the folder: items, and audio files that no utterance of the corpus explains."""

    items: int
    unexplained: int


def publish(
    work: AnonymizeWork,
    table: WorkTable,
    private: Path,
    *,
    carried: Sequence[str],
    ledger: Ledger,
) -> Published:
    """Write manifest, card and digests of what is in the folder; only columns that are ``carried`` come along."""
    utterances = table.list_made(work.tokens_of)
    _write_manifest(work.target / MANIFEST, table.listed(carried, rows=ROW_GROUP), private)
    items = table.made_in(None)
    card = {
        "card": CARD_VERSION,
        "made_by": f"personare {__version__}",
        "method": work.system.method,
        "parameters": dict(work.system.parameters),
        "fingerprint": work.system.present_fingerprint,
        "level": work.system.level,
        "names": work.names,
        "utterances": utterances,
        "ledger": ledger.to_dict(),
        "timing": asdict(work.timing) if work.timing else None,
        "text": "text" in carried,
        "status": STATUS,
    }
    write_text(work.target / CARD, json.dumps(card, indent=2, sort_keys=True, default=str) + "\n")
    write_sums(work.target, table.digests())
    if work.put is not None:
        for name in (MANIFEST, CARD, SUMS):
            if (work.target / name).is_file():
                work.put.put(name, (work.target / name).read_bytes())
        return Published(items, len(work.put.names(AUDIO)) - items)
    return Published(items, sum(1 for _ in audio_files(work.target)) - items)


def _write_manifest(path: Path, parts: Iterator[pl.DataFrame], private: Path) -> None:
    """List what is in the folder, in the order of the new names; a long list is joined from parts on the disk."""
    first, second = next(parts, None), next(parts, None)
    if first is None:
        path.unlink(missing_ok=True)
        return
    if second is None:
        write_frame(Corpus(first).frame, path)
        return
    with contextlib.ExitStack() as stack:
        files = []
        for part in itertools.chain((first, second), parts):
            files.append(stack.enter_context(temporary_path(private / path.name)))
            write_frame(Corpus(part).frame, files[-1])
        first = second = None
        with atomic_path(path) as whole:
            try:
                pl.scan_parquet(files).sink_parquet(whole, row_group_size=ROW_GROUP, maintain_order=True)
            except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
                raise OSError(str(error).splitlines()[0]) from error


def write_sums(target: Path, audio: Iterable[tuple[str, str]]) -> None:
    """Write the digests of the audio, (path, digest) sorted by path, then those of the manifest and the card."""
    others = [name for name in (CARD, MANIFEST) if (target / name).is_file()]
    with atomic_path(target / SUMS) as part, part.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(f"{digest}  {place}\n" for place, digest in audio)
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


def write_failures(
    private: Path, failures: Mapping[str, tuple[str, FailureKind]], excluded: Sequence[Excluded] = ()
) -> None:
    """List every recording that is not in the folder, its outcome and the reason; private, because it names sources."""
    rows: list[tuple[str, Outcome, str]] = [(name, kind, error) for name, (error, kind) in failures.items()]
    rows += [(one.name, one.outcome, one.reason) for one in excluded]
    lines = sorted("\t".join(" ".join(cell.split()) for cell in row) for row in rows)
    write_text(private / FAILURES, "\n".join(["utterance\toutcome\terror", *lines]) + "\n", mode=0o600)
