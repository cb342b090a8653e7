"""The library's functions for speech as tokens: one recording or a corpus coded, tokens read, and decoded again.

``codec`` is a name of ``personare codec info``, ``NAME:PATH`` with the file or folder of its weights, or
``module:Class``. ``levels`` says how many levels are kept: the first alone (C0) holds what is said, all of them hold
the voice too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from personare.api.speech import read_audio, read_corpus
from personare.codecs.tokens import Tokens
from personare.codecs.tokens import read_tokens as read_file
from personare.codecs.tokens import write_tokens as write_file
from personare.core.audio import Audio
from personare.core.errors import ConfigError
from personare.core.seeding import Rng, as_rng
from personare.core.tables import Corpus

if TYPE_CHECKING:
    from personare.api.speech import AudioLike, CorpusLike
    from personare.codecs.token_corpus import TokenRow
    from personare.engine import Result
    from personare.pipeline.jobs.code_corpus import CodingSummary


def encode(audio: AudioLike, *, codec: str = "usc", levels: int = 1, **parameters: Any) -> Tokens:
    """Code one recording; ``parameters`` are the codec's fields, and ``levels`` is how many levels are kept."""
    from personare.codecs.codec import codec_named

    return codec_named(codec, **parameters).encode(read_audio(audio)).kept(levels)


def decode(
    tokens: Tokens | str | Path, *, codec: str = "usc", levels: int | None = None, rng: Rng = 0, **parameters: Any
) -> Audio:
    """Make sound from tokens or a token file, by the codec that made them; ``rng`` draws the noise in it."""
    from personare.codecs.codec import codec_named

    found = tokens if isinstance(tokens, Tokens) else read_file(Path(tokens))
    kept = found if levels is None else found.kept(levels)
    return codec_named(codec, **parameters).decode(kept, rng=as_rng(rng))


def read_tokens(path: str | Path) -> Tokens:
    """Read a token file; one that is cut short or changed is refused."""
    return read_file(Path(path))


def write_tokens(path: str | Path, tokens: Tokens) -> Path:
    """Write a token file (.pntk); give the path."""
    from personare.codecs.tokens import SUFFIX

    place = Path(path)
    if place.suffix != SUFFIX:
        raise ConfigError(f"{place}: a token file ends in {SUFFIX}")
    write_file(place, tokens)
    return place


def read_token_corpus(path: str | Path) -> Iterator[TokenRow]:
    """Read a token corpus utterance by utterance: a folder of ``encode_corpus``, or its table."""
    from personare.codecs.token_corpus import open_corpus

    return open_corpus(Path(path))


def encode_corpus(
    corpus: CorpusLike,
    target: str | Path,
    *,
    codec: str = "usc",
    levels: int = 1,
    parameters: Mapping[str, Any] | None = None,
    container: Literal["parquet", "webdataset"] = "parquet",
    level: Literal["speaker", "utterance"] = "speaker",
    names: Literal["tokens", "keep"] = "tokens",
    key: str | Path | None = None,
    per_shard: int = 1000,
    jobs: int = 1,
    watch: Callable[[Result[Any, Any]], None] = lambda _: None,
) -> CodingSummary:
    """Code a whole corpus into a Parquet table or WebDataset shards; run again after an interruption to go on.

    Parameters
    ----------
    target : a new folder; what must stay (the key) goes to ``target-private`` beside it.
    names : ``tokens`` of the key tell nobody who it was; ``keep`` keeps ids (research only).
    key : a key file, made where there is none; level : one name per speaker, or a new one for each utterance.
    """
    from personare.codecs.codec import codec_named
    from personare.engine import engine_for
    from personare.pipeline.jobs import code_corpus

    return code_corpus.encode_corpus(
        corpus if isinstance(corpus, Corpus) else read_corpus(corpus),
        Path(target),
        codec_named(codec, **(parameters or {})),
        levels=levels,
        engine=engine_for(jobs),
        container=container,
        level=level,
        names=names,
        key_file=None if key is None else Path(key),
        per_shard=per_shard,
        watch=watch,
    )


def decode_corpus(
    source: str | Path,
    target: str | Path,
    *,
    codec: str = "usc",
    levels: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    file_format: Literal["flac", "wav"] = "flac",
    jobs: int = 1,
    watch: Callable[[Result[Any, Any]], None] = lambda _: None,
) -> CodingSummary:
    """Decode a token corpus into a new folder of audio with a manifest."""
    from personare.codecs.codec import codec_named
    from personare.engine import engine_for
    from personare.pipeline.jobs import code_corpus

    return code_corpus.decode_corpus(
        Path(source),
        Path(target),
        codec_named(codec, **(parameters or {})),
        levels=levels,
        engine=engine_for(jobs),
        file_format=file_format,
        watch=watch,
    )
