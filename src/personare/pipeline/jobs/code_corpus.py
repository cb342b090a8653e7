"""Code a whole corpus into tokens that can be given away, and decode it again: names tell nobody's identity.

The folder that is given away holds the tokens (a Parquet table, or WebDataset shards) and a card with the codec, the
levels and the rates. As with ``anonymize``, utterances and speakers are called by tokens of a key, the rows are in an
order that says nothing of the source, and only the text comes along; the key, the settings and the list of failures
are in ``<target>-private`` beside it. With the same key ``anonymize`` gives the same names.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from personare import __version__
from personare.codecs.codec import Codec
from personare.codecs.token_corpus import PARQUET, TokenRow, open_corpus, write_parquet, write_shards
from personare.codecs.tokens import SUFFIX, TokenError, bit_rate, read_tokens, write_tokens
from personare.core.audio import write
from personare.core.errors import OutputError
from personare.core.files import refuse_full, sweep, write_text
from personare.core.seeding import Key, load_or_make_key, refuse_bad_key, rng_for, token_for
from personare.core.tables import Corpus
from personare.core.utterances import Utterance
from personare.engine import Engine, Result
from personare.pipeline.jobs.anonymize_work import plain
from personare.pipeline.jobs.published import MANIFEST
from personare.pipeline.jobs.target import JOB, Names, make_both, private_folder
from personare.pipeline.system import Level, utterance_token

CARD = "tokens.json"
Container = Literal["parquet", "webdataset"]
_CODED = "coded"
_NOISE = Key.from_seed("personare codec decode")  # of the decoder's noise, which protects nobody


@dataclass(frozen=True)
class CodingSummary:
    """A coded or decoded corpus in numbers."""

    done: int
    speech_s: float
    failures: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class EncodeWork:
    """The work on one utterance, for any engine: read, code, keep some levels, write a token file."""

    codec: Codec
    levels: int
    key: Key
    level: Level
    names: Names
    folder: Path

    def names_of(self, item: Utterance) -> tuple[str, str]:
        """What the utterance and its speaker are called."""
        if self.names == "keep":
            return item.utterance, item.speaker
        owners = (item.speaker,) if self.level == "speaker" else (item.speaker, item.utterance)
        return utterance_token(self.key, item.speaker, item.utterance), token_for(
            self.key, "speaker", *owners, digits=12
        )

    def place_of(self, item: Utterance) -> Path:
        """Where its token file lies until all are there."""
        token = utterance_token(self.key, item.speaker, item.utterance)
        return self.folder / token[:2] / f"{token}{SUFFIX}"

    def __call__(self, item: Utterance) -> float:
        """Code it, unless an earlier run has; gives its seconds."""
        place = self.place_of(item)
        try:
            tokens = read_tokens(place)
        except TokenError:
            tokens = self.codec.encode(item.read()).kept(self.levels)
            write_tokens(place, tokens)
        return tokens.samples / tokens.rate_hz


def encode_corpus(
    corpus: Corpus,
    target: Path,
    codec: Codec,
    *,
    levels: int,
    engine: Engine,
    container: Container = "parquet",
    level: Level = "speaker",
    names: Names = "tokens",
    key_file: Path | None = None,
    per_shard: int = 1000,
    watch: Callable[[Result[Utterance, float]], None] = lambda _: None,
) -> CodingSummary:
    """Code ``corpus`` into ``target``; what an interrupted run finished is kept, and the end is bit-identical."""
    _check_levels(codec, levels)
    key = _prepare(target, codec, levels=levels, level=level, names=names, container=container, key_file=key_file)
    private = private_folder(target)
    sweep(target), sweep(private)  # what a killed run left half written
    work = EncodeWork(codec, levels, key, level, names, private / _CODED)
    items = sorted(corpus, key=lambda item: work.place_of(item).name)  # the order of work tells nothing of the source
    results = []
    for result in engine.map(work, items, ordered=True):
        results.append(result)
        watch(result)
    coded = [result.item for result in results if result.ok]
    failures = tuple(sorted((r.item.utterance, r.error or "failed") for r in results if not r.ok))
    lines = ["utterance\terror", *(f"{name}\t{error}" for name, error in failures)]
    write_text(private / "failures.tsv", "\n".join(lines) + "\n")
    if not coded:
        raise TokenError(f"{target}: none of {len(items)} utterances could be coded ({failures[0][1]})")
    rows = _rows(coded, work)
    if container == "parquet":
        write_parquet(target / PARQUET, rows)
    else:
        write_shards(target, rows, per_shard=per_shard)
    seconds = sum(result.value or 0.0 for result in results if result.ok)
    card = {
        "made_by": f"personare {__version__}",
        "codec": codec.fingerprint,
        "levels": levels,
        "code_counts": list(codec.code_counts[:levels]),
        "frame_rate_hz": codec.frame_rate_hz,
        "bits_per_second": bit_rate(codec.code_counts[:levels], codec.frame_rate_hz),
        "level": level,
        "names": names,
        "utterances": len(coded),
        "hours": round(seconds / 3600, 4),
    }
    write_text(target / CARD, json.dumps(card, indent=2, sort_keys=True) + "\n")
    shutil.rmtree(private / _CODED, ignore_errors=True)
    return CodingSummary(len(coded), seconds, failures)


def _check_levels(codec: Codec, levels: int) -> None:
    if not 1 <= levels <= len(codec.code_counts):
        raise TokenError(f"this codec has levels 1 to {len(codec.code_counts)}, not {levels}")


def _rows(items: list[Utterance], work: EncodeWork) -> Iterator[TokenRow]:
    for item in items:
        utterance, speaker = work.names_of(item)
        tokens = read_tokens(work.place_of(item))
        yield TokenRow(utterance, speaker, item.text or "", tokens, work.codec.frame_rate_hz)


def _prepare(target: Path, codec: Codec, *, key_file: Path | None, **settings: Any) -> Key:
    """Check the target, find or make the key, and write down the settings; an earlier run must have had the same."""
    private = private_folder(target)
    if key_file is not None and key_file.resolve().is_relative_to(target.resolve()):
        raise OutputError(f"{key_file}: the key must not lie in the folder that is given away; name another place")
    if target.exists() and not target.is_dir():
        raise OutputError(f"{target}: is a file; name a folder")
    job_file = private / JOB
    if target.is_dir() and any(target.iterdir()) and not job_file.is_file():
        raise OutputError(f"{target}: is not empty and was not made by personare codec encode; name a new folder")
    refuse_bad_key(key_file or private / "key")
    make_both(target, private)
    key, _ = load_or_make_key(key_file or private / "key")
    job = {"codec": codec.fingerprint, **settings, "key_check": token_for(key, "check")}
    begun = job_file.read_text(encoding="utf-8") if job_file.is_file() else None
    said = json.dumps(job, indent=2, sort_keys=True) + "\n"
    if begun is None:
        write_text(job_file, said)
    elif begun != said:
        raise OutputError(f"{target}: was begun with another codec, other settings or another key; name a new folder")
    return key


def utterances_in(source: Path) -> int:
    """How many utterances a token corpus has by its card; 0 where there is none."""
    try:
        return int(json.loads((source / CARD).read_text(encoding="utf-8"))["utterances"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0


@dataclass(frozen=True)
class DecodeWork:
    """The work on one coded utterance, for any engine: decode, write."""

    codec: Codec
    levels: int | None
    target: Path
    file_format: str

    def place_of(self, row: TokenRow) -> Path:
        """Where its sound goes."""
        return self.target / "audio" / f"{plain(row.utterance)}.{self.file_format}"

    def __call__(self, row: TokenRow) -> float:
        """Decode it; gives its seconds."""
        tokens = row.tokens if self.levels is None else row.tokens.kept(self.levels)
        write(self.place_of(row), [self.codec.decode(tokens, rng=rng_for(_NOISE, row.utterance))])
        return tokens.samples / tokens.rate_hz


def decode_corpus(
    source: Path,
    target: Path,
    codec: Codec,
    *,
    engine: Engine,
    levels: int | None = None,
    file_format: Literal["flac", "wav"] = "flac",
    watch: Callable[[Result[TokenRow, float]], None] = lambda _: None,
) -> CodingSummary:
    """Decode every utterance of a token corpus into a folder of audio with a manifest."""
    refuse_full(target)
    rows = list(open_corpus(source))
    work = DecodeWork(codec, levels, target, file_format)
    names = {plain(row.utterance) for row in rows}
    if len(names) < len(rows):
        raise TokenError(f"{source}: {len(rows) - len(names)} utterances have the name of another one")
    listed, failures, seconds = [], [], 0.0
    for result in engine.map(work, rows, ordered=True):
        watch(result)
        if result.value is None:
            failures.append((result.item.utterance, result.error or "failed"))
            continue
        seconds += result.value
        row = result.item
        known = {"utterance": row.utterance, "speaker": row.speaker or row.utterance, "text": row.text or None}
        listed.append({**known, "audio": str(work.place_of(row).resolve())})
    if not listed:
        raise TokenError(f"{source}: none of {len(rows)} utterances could be decoded ({failures[0][1]})")
    Corpus(pl.DataFrame(listed, schema_overrides={"text": pl.String})).save(target / MANIFEST)
    return CodingSummary(len(listed), seconds, tuple(failures))
