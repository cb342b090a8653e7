"""Speech in and out: read a recording or a corpus, anonymize either of them, turn speech into speaker vectors.

Paths may be text, sounds may be arrays; ``jobs`` is how many processes work at once, ``watch`` is told of every item.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from personare.api.results import AnonymizedCorpus
from personare.core.audio import Audio, read_mono, write
from personare.core.errors import AudioError, ConfigError
from personare.core.language_codes import checked_language
from personare.core.seeding import Key, load_key, rng_for
from personare.core.tables import Corpus, Embeddings

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from personare.core.corpus_parts import CorpusParts
    from personare.core.ledger import Excluded
    from personare.core.progress import WorkProgress
    from personare.corpora.problems import Problem
    from personare.engine import Engine, Result
    from personare.pseudospeakers.pool import SpeakerPool

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
    """Write a recording without any tags, as wav, flac, ogg, opus or mp3 by the name's ending; give the path."""
    place = Path(path)
    write(place, read_audio(audio))
    return place


@dataclass(frozen=True)
class ResolvedMethod:
    """A method as it is used: by its name, by a strength, or the usual one; ``note`` says how to get a better one."""

    method: str
    parameters: dict[str, Any]
    note: str = ""


def resolve_method(
    method: str | None, strength: str | None, parameters: Mapping[str, Any], *, language: str | None = None
) -> ResolvedMethod:
    """Choose the method: the one named, or a strength's, or the best usual one whose models are there.

    The ``language`` (a code, or ``auto``) is a parameter of methods that transcribe; others work in any language and
    ignore it.
    """
    from personare.pipeline.system import System

    code = None if language is None else checked_language(language, where="language")
    chosen = _resolved(method, strength, parameters)
    if code is None or not System(chosen.method).transcribes:
        return chosen
    return replace(chosen, parameters={**chosen.parameters, "language": code})


def _advice(method: str) -> str:
    """What a method says to whoever chooses it by its name."""
    from personare.anonymizers import ANONYMIZERS

    return str(getattr(ANONYMIZERS.load(method), "ADVICE", ""))


def _resolved(method: str | None, strength: str | None, parameters: Mapping[str, Any]) -> ResolvedMethod:
    from personare.anonymizers.presets import preset, usual

    if method is not None and strength is not None:
        raise ConfigError(f"method '{method}' and strength '{strength}' both say how to hide the voice; leave one out")
    if method is not None:
        return ResolvedMethod(method, dict(parameters), _advice(method))
    if parameters and strength is None:
        raise ConfigError(f"'{next(iter(parameters))}' is a parameter of a method; name the method, e.g. mcadams")
    chosen, note = usual() if strength is None else (preset(strength), "")
    return ResolvedMethod(chosen.method, {**chosen.parameters, **parameters}, note)


def anonymize(
    audio: AudioLike,
    *,
    method: str | None = None,
    strength: str | None = None,
    key: str | Path | Key | None = None,
    speaker: str = "speaker",
    language: str | None = None,
    **parameters: Any,
) -> Audio:
    """Hide the voice of one recording; with ``cascade`` the result has another length.

    Parameters
    ----------
    method : a name of ``personare methods``, or ``module:Class``; ``parameters`` are its fields. None takes the best
        usual one whose models are there, and warns when a better one could be fetched.
    strength : ``fast``, ``balanced`` or ``strong`` instead of a method.
    key : a passphrase, a key file (a Path) or a Key; the same key and ``speaker`` give the same new voice. None draws a
        new voice every time.
    language : of the speech, for methods that transcribe it, e.g. ``de``; None or ``auto`` identifies it, stretch by
        stretch. Speech in a language that the method does not speak is refused.
    """
    from personare.anonymizers import anonymizer

    chosen = resolve_method(method, strength, parameters, language=language)
    if chosen.note:
        warnings.warn(chosen.note, stacklevel=2)
    made = anonymizer(chosen.method, **chosen.parameters)
    return made(read_audio(audio), rng=rng_for(_key(key), "voice", speaker))


def _key(key: str | Path | Key | None) -> Key:
    if key is None:
        return Key.new()
    if isinstance(key, Key):
        return key
    return load_key(key) if isinstance(key, Path) else Key.from_seed(key)


def read_corpus(
    path: str | Path, *, layout: str | None = None, speaker_from: str | None = None, follow_links: bool = False
) -> Corpus:
    """Read a corpus in any known layout; entries that cannot be used are warned about, one line per kind of problem.

    ``speaker_from`` reads any folder of recordings: ``file``, ``folder``, ``last-folder`` or ``channel`` is the
    speaker, or a part of the name, by a pattern such as ``{speaker}_{rest}``. ``follow_links`` reads links out of it.
    """
    from personare.corpora import read_corpus as read

    how: Any = {"layout": layout, "speaker_from": speaker_from, "follow_links": follow_links, "person_channels": True}
    reading = read(Path(path), **how)
    for problem in reading.problems:
        warnings.warn(problem.line, CorpusWarning, stacklevel=2)
    return reading.corpus


def anonymize_corpus(
    corpus: CorpusLike,
    target: str | Path,
    *,
    method: str | None = None,
    strength: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    language: str | None = None,
    level: Literal["speaker", "utterance"] = "speaker",
    key: str | Path | None = None,
    names: Literal["tokens", "keep"] = "tokens",
    file_format: Literal["flac", "wav", "opus", "mp3"] = "flac",
    jobs: int = 1,
    shard: str | None = None,
    trim: bool = False,
    retime: bool = False,
    coarse_s: float | None = None,
    text: bool = True,
    engine: Engine | None = None,
    watch: Callable[[Result[Any, Any]], None] = lambda _: None,
    told: Callable[[WorkProgress], None] | None = None,
    excluded: Sequence[Excluded] = (),
) -> AnonymizedCorpus:
    """Hide the voices of a whole corpus; run again after an interruption, and it ends with the same bits.

    Parameters
    ----------
    method, strength : as for ``anonymize``; ``parameters`` are the method's.
    language : of all speech, e.g. ``de``; ``auto`` identifies it. None takes the corpus' column ``language``, and
        identifies recordings for which it says nothing.
    target : a new folder; what must stay (the key) goes to ``target-private`` beside it.
    key : a key file, made where there is none; level : one new voice per speaker, or per utterance.
    shard : ``I/N`` does the I-th of N parts only.
    trim, retime, coarse_s : cut silence at both ends, change pauses and rate by chance, round lengths up to seconds.
    text : whether transcripts come along.
    watch : is given the result of each recording; told : how far it is (``share``, ``left_s``), within long ones too.
    excluded : recordings that were found and are not in ``corpus``: counted in the ledger, named in the private folder.
    """
    from personare.anonymizers.signal.retiming import Timing
    from personare.corpora.problems import left_out
    from personare.engine import engine_for
    from personare.pipeline.jobs.anonymize import anonymize as run
    from personare.pipeline.jobs.anonymize import private_folder
    from personare.pipeline.jobs.target import Origin
    from personare.pipeline.system import System

    chosen = resolve_method(method, strength, parameters or {}, language=language)
    if chosen.note:
        warnings.warn(chosen.note, stacklevel=2)
    system = System(chosen.method, chosen.parameters, level)
    system.build()  # what is misspelt is said before anything is read
    place = Path(target)
    with _in_parts(corpus) as (parts, problems):
        summary = run(
            parts,
            place,
            system,
            engine=engine or engine_for(jobs),
            key_file=None if key is None else Path(key),
            file_format=file_format,
            names=names,
            shard=shard,
            timing=Timing(trim, retime, coarse_s),
            text=text,
            watch=watch,
            told=told,
            excluded=(*excluded, *left_out(problems)),
            origin=None if isinstance(corpus, Corpus) else Origin(Path(corpus)),
        )
    return AnonymizedCorpus(
        place,
        private_folder(place),
        chosen.method,
        summary.done,
        summary.kept,
        summary.failed,
        summary.speech_s,
        summary.wall_s,
        summary.failures,
        summary.ledger,
        summary.several_speakers,
        summary.unexplained,
        summary.speech,
        summary.least_certain,
    )


@contextlib.contextmanager
def _in_parts(corpus: CorpusLike) -> Iterator[tuple[CorpusParts, Sequence[Problem]]]:
    """Read a corpus for work that goes through it row by row; give its problems, and warn of them."""
    from personare.core.corpus_parts import in_parts
    from personare.corpora import read_in_parts

    if isinstance(corpus, Corpus):
        yield in_parts(corpus), ()
        return
    with read_in_parts(Path(corpus)) as reading:
        for problem in reading.problems:
            warnings.warn(problem.line, CorpusWarning, stacklevel=4)
        yield reading.corpus, reading.problems


def embed(
    corpus: CorpusLike | AnonymizedCorpus,
    *,
    embedder: str = "ecapa",
    part: str | None = None,
    jobs: int = 1,
    engine: Engine | None = None,
    watch: Tick = lambda _: None,
) -> tuple[Embeddings, tuple[tuple[str, str], ...]]:
    """Turn every utterance into a speaker vector: the vectors, and (utterance, reason) for those that failed."""
    from personare.core.utterances import utterances_in
    from personare.engine import engine_for
    from personare.pipeline.stages.embed import embed_all, require_embedder

    require_embedder(embedder)
    frame = _corpus(corpus).of_part(part).frame
    return embed_all(list(utterances_in(frame)), embedder, engine=engine or engine_for(jobs), watch=watch)


def joined_corpus(corpora: Sequence[Corpus], *, utterances: int | None = None) -> Corpus:
    """Join corpora, with at most ``utterances`` of each speaker; what is in several of them counts once."""
    frame = pl.concat([corpus.frame for corpus in corpora], how="diagonal_relaxed").unique("utterance")
    frame = frame.sort("speaker", "utterance")
    return Corpus(frame if utterances is None else frame.group_by("speaker", maintain_order=True).head(utterances))


def speaker_pool(
    corpus: Corpus, *, embedder: str = "ge2e", engine: Engine | None = None, watch: Tick = lambda _: None
) -> tuple[SpeakerPool, tuple[tuple[str, str], ...]]:
    """Average the vectors of every speaker: a pool with genders, and (utterance, reason) for those that failed."""
    from personare.pseudospeakers.pool import SpeakerPool

    vectors, failures = embed(corpus, embedder=embedder, engine=engine, watch=watch)
    if not vectors.speakers:
        raise AudioError("no recording could be embedded; the pool would be empty")
    frame = corpus.frame
    named = frame.drop_nulls("gender").select("speaker", "gender") if "gender" in frame.columns else frame.clear()
    genders = dict(named.iter_rows()) if len(named) else {}
    column = tuple(genders.get(speaker, "") for speaker in vectors.speakers) if genders else ()
    return SpeakerPool(vectors.vectors, column, vectors.speakers).speaker_means(), failures


def _corpus(corpus: CorpusLike | AnonymizedCorpus) -> Corpus:
    if isinstance(corpus, AnonymizedCorpus):
        return corpus.corpus
    return corpus if isinstance(corpus, Corpus) else read_corpus(corpus)
