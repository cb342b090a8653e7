"""A corpus of tokens: one Parquet table or WebDataset shards, with who speaks, what is said and the rates, to train on.

Parquet: one row per utterance; ``codes`` is a list of frames x levels numbers, frame by frame. Shards: plain tar files
of at most so many utterances, each as ``<key>.pntk`` (a token file) and ``<key>.json`` (names, text); keys count up, so
that they do not show how recordings were called. Files depend on the rows alone: no date, no owner.
"""

from __future__ import annotations

import io
import json
import math
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from personare.codecs.tokens import SUFFIX, TokenError, Tokens, decode_file, encode_file
from personare.core.files import atomic_path

PARQUET = "tokens.parquet"
SHARDS = "tokens-*.tar"
_NAMES = ("utterance", "speaker", "text")
_SHARD = "tokens-{:06d}.tar"
_SCHEMA = {
    "utterance": pl.String(),
    "speaker": pl.String(),
    "text": pl.String(),
    "codes": pl.List(pl.Int32()),
    "frames": pl.Int64(),
    "code_counts": pl.List(pl.Int32()),
    "codec": pl.String(),
    "rate_hz": pl.Int64(),
    "samples": pl.Int64(),
    "level_db": pl.Float64(),
    "vector": pl.List(pl.Float32()),
    "frame_rate_hz": pl.Float64(),
}


@dataclass(frozen=True, eq=False)
class TokenRow:
    """One coded utterance with its names; speaker and text may be empty."""

    utterance: str
    speaker: str
    text: str
    tokens: Tokens
    frame_rate_hz: float


def write_parquet(path: Path, rows: Iterable[TokenRow]) -> int:
    """Write one table; gives the number of utterances."""
    table = pl.DataFrame([_plain(row) for row in rows], schema=_SCHEMA, orient="row")
    if not len(table):
        raise TokenError(f"{path}: no coded utterances to write")
    with atomic_path(path) as part:
        table.write_parquet(part, compression="zstd")
    return len(table)


def _plain(row: TokenRow) -> dict[str, Any]:
    tokens = row.tokens
    return {
        "utterance": row.utterance,
        "speaker": row.speaker,
        "text": row.text,
        "codes": tokens.codes.reshape(-1).tolist(),
        "frames": len(tokens.codes),
        "code_counts": list(tokens.code_counts),
        "codec": tokens.fingerprint,
        "rate_hz": tokens.rate_hz,
        "samples": tokens.samples,
        "level_db": None if math.isnan(tokens.level_db) else tokens.level_db,
        "vector": None if tokens.vector is None else tokens.vector.tolist(),
        "frame_rate_hz": row.frame_rate_hz,
    }


def read_parquet(path: Path) -> Iterator[TokenRow]:
    """Read a table row by row."""
    if not path.is_file():
        raise TokenError(f"{path}: no such file")
    try:
        table = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise TokenError(f"{path}: not a Parquet table ({str(error).splitlines()[0]})") from None
    missing = [name for name in _SCHEMA if name not in table.columns]
    if missing:
        raise TokenError(f"{path}: has no column '{missing[0]}'; not a table of tokens")
    for number, row in enumerate(table.iter_rows(named=True)):
        try:
            yield _row(row)
        except (TypeError, ValueError, TokenError) as error:
            raise TokenError(f"{path}: row {number} ('{row['utterance']}') holds no tokens ({error})") from None


def _row(row: dict[str, Any]) -> TokenRow:
    counts = tuple(row["code_counts"])
    if len(row["codes"]) != row["frames"] * len(counts):
        raise TokenError(f"{len(row['codes'])} codes do not make {row['frames']} frames")
    codes = np.array(row["codes"], np.int32).reshape(row["frames"], len(counts))
    level_db = math.nan if row["level_db"] is None else float(row["level_db"])
    vector = None if row["vector"] is None else np.array(row["vector"], np.float32)
    tokens = Tokens(codes, counts, str(row["codec"]), int(row["rate_hz"]), int(row["samples"]), level_db, vector)
    utterance, speaker, text = (str(row[name] or "") for name in _NAMES)
    return TokenRow(utterance, speaker, text, tokens, float(row["frame_rate_hz"]))


def open_corpus(path: Path) -> Iterator[TokenRow]:
    """Read a token corpus row by row: a folder with a table or shards, or a table itself."""
    if path.is_dir():
        return read_parquet(path / PARQUET) if (path / PARQUET).is_file() else read_shards(path)
    return read_parquet(path)


def write_shards(folder: Path, rows: Iterable[TokenRow], *, per_shard: int = 1000) -> int:
    """Write tar shards; gives the number of utterances."""
    if per_shard < 1:
        raise TokenError(f"a shard holds at least 1 utterance, not {per_shard}")
    waiting: list[TokenRow] = []
    shards = count = 0
    for row in rows:
        waiting.append(row)
        count += 1
        if len(waiting) == per_shard:
            _write_shard(folder / _SHARD.format(shards), waiting, first=count - len(waiting))
            waiting, shards = [], shards + 1
    if waiting:
        _write_shard(folder / _SHARD.format(shards), waiting, first=count - len(waiting))
    if not count:
        raise TokenError(f"{folder}: no coded utterances to write")
    return count


def _write_shard(path: Path, rows: list[TokenRow], *, first: int) -> None:
    with atomic_path(path) as part, tarfile.open(part, "w", format=tarfile.USTAR_FORMAT) as tar:
        for number, row in enumerate(rows, start=first):
            names = {"utterance": row.utterance, "speaker": row.speaker, "text": row.text}
            said = json.dumps({**names, "frame_rate_hz": row.frame_rate_hz}, ensure_ascii=False).encode()
            for suffix, content in ((SUFFIX, encode_file(row.tokens)), (".json", said)):
                entry = tarfile.TarInfo(f"{number:09d}{suffix}")
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))


def read_shards(folder: Path) -> Iterator[TokenRow]:
    """Read every shard of a folder, in order."""
    shards = sorted(folder.glob(SHARDS))
    if not shards:
        raise TokenError(f"{folder}: has neither {PARQUET} nor shards (tokens-000000.tar, ...); no token corpus")
    for path in shards:
        try:
            with tarfile.open(path) as tar:
                contents = {entry.name: _content(tar, entry) for entry in tar if entry.isfile()}
        except (OSError, tarfile.TarError) as error:
            raise TokenError(f"{path}: not a readable tar file ({str(error).splitlines()[0]})") from None
        for name in sorted(name for name in contents if name.endswith(SUFFIX)):
            names = contents.get(name.removesuffix(SUFFIX) + ".json")
            if names is None:
                raise TokenError(f"{path}: '{name}' has no .json beside it")
            tokens = decode_file(contents[name], where=f"{path}: {name}")
            try:
                said = json.loads(names)
                utterance, speaker, text = (str(said[field]) for field in _NAMES)
                row = TokenRow(utterance, speaker, text, tokens, float(said["frame_rate_hz"]))
            except (ValueError, KeyError, TypeError) as error:
                raise TokenError(f"{path}: the .json beside '{name}' names no utterance ({error})") from None
            yield row


def _content(tar: tarfile.TarFile, entry: tarfile.TarInfo) -> bytes:
    stream = tar.extractfile(entry)
    return b"" if stream is None else stream.read()
