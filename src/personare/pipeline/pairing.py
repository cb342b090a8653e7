"""Which anonymized utterance came from which original: only the key's owner can tell, and an evaluation must know."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from personare.core.errors import CorpusError
from personare.core.seeding import Key, load_key
from personare.core.tables import Corpus
from personare.pipeline.jobs.anonymize import private_folder
from personare.pipeline.system import System, read_system, tokens_of


@dataclass(frozen=True, eq=False)
class Pairs:
    """Originals with their anonymized audio.

    Parameters
    ----------
    frame : the original corpus' columns, plus ``anonymized`` (path).
    missing : original utterances with no anonymized counterpart (failures of the anonymizer: counted, never dropped).
    strangers : anonymized utterances with no original.
    """

    frame: pl.DataFrame
    missing: tuple[str, ...]
    strangers: int


def key_for(anonymized: Path, key_file: Path | None) -> Key | None:
    """Find the key of an anonymized folder: the one named, or the one in its private folder."""
    if key_file is not None:
        return load_key(key_file)
    beside = private_folder(anonymized.resolve()) / "key"
    return load_key(beside) if beside.is_file() else None


def pair(original: Corpus, anonymized: Corpus, *, system: System | None, key: Key | None) -> Pairs:
    """Pair by keyed tokens when there is a key, else by equal utterance ids (tools that keep names)."""
    if "start_s" in anonymized.frame.columns:
        raise CorpusError("the anonymized corpus cuts utterances out of longer files; write one file per utterance")
    frame = original.frame
    theirs = set(anonymized.frame["utterance"].to_list())
    ids = frame["utterance"].to_list()
    if key is not None and system is not None and not theirs.intersection(ids):
        rows = frame.select("speaker", "utterance").iter_rows()
        ids = [tokens_of(key, system, speaker, utterance)[0] for speaker, utterance in rows]
    if not theirs.intersection(ids):
        hint = "is it the right key?" if key else "name the key with --key (it is in the folder ending in -private)"
        raise CorpusError(f"no anonymized utterance can be paired with an original; {hint}")
    other = anonymized.frame.select(pl.col("utterance").alias("_id"), pl.col("audio").alias("anonymized"))
    joined = frame.with_columns(pl.Series("_id", ids)).join(other, on="_id", how="left", maintain_order="left")
    missing = joined.filter(pl.col("anonymized").is_null())["utterance"].to_list()
    return Pairs(
        joined.filter(pl.col("anonymized").is_not_null()).drop("_id"), tuple(missing), len(theirs.difference(ids))
    )


def pair_folders(original: Corpus, anonymized: Corpus, folder: Path, key_file: Path | None = None) -> Pairs:
    """Pair an original corpus with the anonymized folder it became."""
    return pair(original, anonymized, system=read_system(folder), key=key_for(folder, key_file))
