"""Speech in and out: read a recording or a corpus, anonymize either of them, turn speech into speaker vectors.

Paths may be text, sounds may be arrays; ``jobs`` is how many processes work at once, ``watch`` is told of every item.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from personare.api.results import AnonymizedCorpus
from personare.core.audio import Audio, read_mono, write
from personare.core.errors import AudioError
from personare.core.seeding import Key, load_key, rng_for
from personare.core.tables import Corpus, Embeddings

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from personare.engine import Result

    AudioLike = str | Path | Audio | tuple[ArrayLike, int]
    CorpusLike = str | Path | Corpus

Tick = Callable[[Any], None]


class CorpusWarning(UserWarning):
    """Entries of a corpus that cannot be used, one line for each kind of problem."""


def read_audio(source: AudioLike) -> Audio:
    """Read a recording as one channel: a path, an array of any float or integer type with its rate, or an Audio.

    >>> read_audio(([0.0, 0.5], 16_000)).duration_s
    0.000125
    """
    if isinstance(source, Audio):
        return source
    if isinstance(source, str | Path):
        return read_mono(Path(source))
    if not (isinstance(source, tuple) and len(source) == 2):
        raise AudioError(f"a recording is a path, an Audio, or (samples, rate_hz), not {type(source).__name__}")
    samples, rate_hz = source
    array = _full_scale(np.asarray(samples))
    if array.ndim == 2:  # [frames, channels], or [channels, frames] where that is the shorter way
        array = array.mean(axis=1 if array.shape[1] <= array.shape[0] else 0)
    if not np.isfinite(array).all():
        raise AudioError("samples hold NaN or infinite values")
    return Audio(np.ascontiguousarray(array, dtype=np.float32), int(rate_hz))


def _full_scale(array: NDArray[Any]) -> NDArray[Any]:
    """Give samples of full scale 1.0; integers as in files: the middle code is silence, the lowest one is -1."""
    if array.dtype.kind == "f":
        return array
    if array.dtype.kind not in "iu" or array.dtype.itemsize > 4:
        raise AudioError(f"samples of {array.dtype} have no full scale; give floats, or integers of 8 to 32 bits")
    codes = np.iinfo(array.dtype)
    half = (codes.max - codes.min + 1) // 2
    return (array.astype(np.float64) - (codes.min + half)) / half


def write_audio(path: str | Path, audio: AudioLike) -> Path:
    """Write a recording without any tags, as wav, flac or ogg by the name's ending; give the path."""
    place = Path(path)
    write(place, read_audio(audio), encoding="vorbis" if place.suffix.lower() == ".ogg" else "pcm16")
    return place


def anonymize(
    audio: AudioLike,
    *,
    method: str = "mcadams",
    key: str | Path | Key | None = None,
    speaker: str = "speaker",
    **parameters: Any,
) -> Audio:
    """Hide the voice of one recording.

    Parameters
    ----------
    method : a name of ``personare methods``, or ``module:Class``; ``parameters`` are its fields.
    key : a passphrase, a key file (a Path) or a Key; the same key and ``speaker`` give the same new voice. None draws a
        new voice every time.
    """
    from personare.anonymizers import anonymizer

    return anonymizer(method, **parameters)(read_audio(audio), rng=rng_for(_key(key), "voice", speaker))


def _key(key: str | Path | Key | None) -> Key:
    if key is None:
        return Key.new()
    if isinstance(key, Key):
        return key
    return load_key(key) if isinstance(key, Path) else Key.from_seed(key)


def read_corpus(path: str | Path, *, layout: str | None = None) -> Corpus:
    """Read a corpus in any known layout; entries that cannot be used are warned about, one line per kind of problem."""
    from personare.corpora import read_corpus as read

    reading = read(Path(path), layout=layout)
    for problem in reading.problems:
        warnings.warn(problem.line, CorpusWarning, stacklevel=2)
    return reading.corpus


def anonymize_corpus(
    corpus: CorpusLike,
    target: str | Path,
    *,
    method: str = "mcadams",
    parameters: Mapping[str, Any] | None = None,
    level: Literal["speaker", "utterance"] = "speaker",
    key: str | Path | None = None,
    names: Literal["tokens", "keep"] = "tokens",
    file_format: Literal["flac", "wav"] = "flac",
    jobs: int = 1,
    shard: str | None = None,
    watch: Callable[[Result[Any, Any]], None] = lambda _: None,
) -> AnonymizedCorpus:
    """Hide the voices of a whole corpus; run again after an interruption, and it ends with the same bits.

    Parameters
    ----------
    target : a new folder; what must stay (the key) goes to ``target-private`` beside it.
    key : a key file, made where there is none; level : one new voice per speaker, or per utterance.
    shard : ``I/N`` does the I-th of N parts only.
    """
    from personare.engine import engine_for, shard_of
    from personare.pipeline.jobs.anonymize import anonymize as run
    from personare.pipeline.jobs.anonymize import private_folder
    from personare.pipeline.system import System

    system = System(method, dict(parameters or {}), level)
    place = Path(target)
    summary = run(
        corpus if isinstance(corpus, Corpus) else read_corpus(corpus),
        place,
        system,
        engine=engine_for(jobs),
        key_file=None if key is None else Path(key),
        file_format=file_format,
        names=names,
        keep=(lambda items: shard_of(shard, items, name=lambda i: i.utterance)) if shard else (lambda items: items),
        watch=watch,
    )
    return AnonymizedCorpus(
        place,
        private_folder(place),
        method,
        summary.done,
        summary.kept,
        summary.failed,
        summary.speech_s,
        summary.wall_s,
        summary.failures,
        summary.unexplained,
    )


def embed(
    corpus: CorpusLike | AnonymizedCorpus,
    *,
    embedder: str = "ecapa",
    part: str | None = None,
    jobs: int = 1,
    watch: Tick = lambda _: None,
) -> tuple[Embeddings, tuple[tuple[str, str], ...]]:
    """Turn every utterance into a speaker vector: the vectors, and (utterance, reason) for those that failed."""
    from personare.core.utterances import utterances_in
    from personare.engine import engine_for
    from personare.pipeline.stages.embed import embed_all, require_embedder

    require_embedder(embedder)
    frame = _corpus(corpus).of_part(part).frame
    return embed_all(list(utterances_in(frame)), embedder, engine=engine_for(jobs), watch=watch)


def _corpus(corpus: CorpusLike | AnonymizedCorpus) -> Corpus:
    if isinstance(corpus, AnonymizedCorpus):
        return corpus.corpus
    return corpus if isinstance(corpus, Corpus) else read_corpus(corpus)
