"""The library's functions: paths, arrays and corpora in, results out; the command line calls these too.

Everything here is importable as ``personare.NAME``. Paths may be text; ``jobs`` is how many processes work at once;
``watch`` is told what happens, for progress.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from personare.core.audio import Audio, read_mono, write
from personare.core.errors import ConfigError, StudyError
from personare.core.seeding import Key, load_key, rng_for
from personare.core.tables import Corpus, Embeddings
from personare.results import Results, plain_table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from personare.engine import Engine, Result
    from personare.pipeline.builtin import GivenSpeechChoice
    from personare.pipeline.study import AttackerChoice, Study
    from personare.pipeline.waves import Watcher

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
    samples, rate_hz = source
    array = np.asarray(samples)
    if np.issubdtype(array.dtype, np.integer):
        array = array / float(np.iinfo(array.dtype).max)
    if array.ndim == 2:  # [frames, channels], or [channels, frames] where that is the shorter way
        array = array.mean(axis=1 if array.shape[1] <= array.shape[0] else 0)
    return Audio(np.ascontiguousarray(array, dtype=np.float32), int(rate_hz))


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


@dataclass(frozen=True, eq=False)
class AnonymizedCorpus:
    """A folder of anonymized speech: what was done, and where everything lies.

    Parameters
    ----------
    folder : may be given away; private : must stay (key, settings, failures, which name source files).
    done, kept, failed : utterances that are there, those of them that an earlier run had made, and those that failed.
    speech_s, wall_s : seconds of speech anonymized now, and the time it took.
    unexplained : audio in the folder that no utterance of the corpus explains.
    """

    folder: Path
    private: Path
    method: str
    done: int
    kept: int
    failed: int
    speech_s: float
    wall_s: float
    failures: tuple[tuple[str, str], ...] = field(repr=False)
    unexplained: int = 0

    @property
    def corpus(self) -> Corpus:
        """The anonymized speech."""
        return read_corpus(self.folder)

    def to_dict(self) -> dict[str, Any]:
        """Give plain values."""
        return {**self.__dict__, "folder": str(self.folder), "private": str(self.private)}

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Lay out one row for a table."""
        factor = f"{self.wall_s / self.speech_s:.4f}" if self.speech_s else "-"
        cells = [str(self.done), str(self.kept), str(self.failed), f"{self.speech_s / 3600:.3f}", factor]
        return ["done", "kept from before", "failed", "hours", "real-time factor"], [cells]

    def __str__(self) -> str:
        return f"{self.method} -> {self.folder}\n{plain_table(*self.rows())}"


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
    from personare.pipeline.recipe import Recipe

    recipe = Recipe(method, dict(parameters or {}), level)
    place = Path(target)
    summary = run(
        corpus if isinstance(corpus, Corpus) else read_corpus(corpus),
        place,
        recipe,
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


def evaluate(
    original: CorpusLike,
    anonymized: CorpusLike | AnonymizedCorpus,
    *,
    attackers: Sequence[str | AttackerChoice] | Mapping[str, AttackerChoice] | None = None,
    only_possible: bool = False,
    train: CorpusLike | None = None,
    method: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    level: Literal["speaker", "utterance"] = "speaker",
    key: str | Path | None = None,
    embedder: str = "ecapa",
    utterances_per_trial: Sequence[int] = (1, 3),
    metrics: Sequence[str] = ("eer", "linkability"),
    guess_gender: bool = False,
    seed: int = 1,
    jobs: int = 1,
    out: str | Path | None = None,
    watch: Watcher | None = None,
) -> Results:
    """Let attackers listen to anonymized speech and count how often they recognise somebody.

    Parameters
    ----------
    original, anonymized : the same speech before and after; a folder that another tool made will do.
    attackers : levels of knowledge (original, ignorant, lazy-informed, semi-informed, informed, aligned), or attackers
        in full. Without: those of the first three, and informed, that can be played on this speech.
    only_possible : leave out, and note, attackers who cannot be played; the default attackers always are left out so.
    train : speech of other people, for attackers who learn.
    method, parameters, level : how the speech was anonymized, where the folder does not say.
    key : the key file that pairs both, where it does not lie beside the anonymized folder.
    utterances_per_trial : how many utterances the attacker hears at once, L.
    out : the run folder; a temporary one, which lives as long as the result, without.
    """
    from personare.pipeline import builtin

    folder, keeps = _run_folder(out)
    speech = _speech(
        original,
        anonymized,
        folder,
        train=train,
        key=key,
        method=method,
        parameters=parameters,
        level=level,
        guess=("gender",) if guess_gender else (),
        jobs=jobs,
    )
    study = builtin.evaluation(
        speech,
        attackers=attackers,
        only_possible=only_possible,
        embedder=embedder,
        utterances_per_trial=utterances_per_trial,
        metrics=metrics,
        seed=seed,
    )
    return _ran(study, folder, keeps, jobs=jobs, watch=watch)


def infer(
    original: CorpusLike,
    anonymized: CorpusLike | AnonymizedCorpus,
    *,
    train: CorpusLike,
    attributes: Sequence[str] = ("gender",),
    method: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    level: Literal["speaker", "utterance"] = "speaker",
    key: str | Path | None = None,
    embedder: str = "ecapa",
    seed: int = 1,
    jobs: int = 1,
    out: str | Path | None = None,
    watch: Watcher | None = None,
) -> Results:
    """Let an attacker who learns from other people guess attributes of speakers from anonymized speech."""
    from personare.pipeline import builtin

    folder, keeps = _run_folder(out)
    how: dict[str, Any] = {"key": key, "method": method, "parameters": parameters, "level": level}
    speech = _speech(original, anonymized, folder, train=train, jobs=jobs, **how)
    study = builtin.inference(speech, attributes=attributes, embedder=embedder, seed=seed)
    return _ran(study, folder, keeps, jobs=jobs, watch=watch)


def run_study(
    study: str | Path | Study,
    out: str | Path | None = None,
    *,
    corpus: str | Path | None = None,
    speakers: int | None = None,
    utterances: int | None = None,
    resume: bool = False,
    engine: Engine | None = None,
    jobs: int = 1,
    watch: Watcher | None = None,
) -> Results:
    """Run a study file (or a Study) into a run folder; every problem is named before any work is done."""
    from personare.pipeline.read import file_problems
    from personare.pipeline.study import Study, read_study, study_text, with_corpus

    home, written = Path.cwd(), ""
    if isinstance(study, Study):
        chosen = study
    else:
        path = Path(study)
        problems = file_problems(path)
        if problems:
            raise StudyError(problems)
        chosen, home, written = read_study(path), path.resolve().parent, path.read_text(encoding="utf-8")
    if corpus is not None:
        chosen = with_corpus(chosen, Path(corpus), speakers=speakers, utterances=utterances)
    elif speakers or utterances:
        raise ConfigError("speakers and utterances choose from another corpus; a study says its own numbers itself")
    folder, keeps = _run_folder(out)
    return _ran(
        chosen,
        folder,
        keeps,
        jobs=jobs,
        engine=engine,
        watch=watch,
        resume=resume or keeps is not None,
        home=home,
        written=written or study_text(chosen),
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


def _run_folder(out: str | Path | None) -> tuple[Path, tempfile.TemporaryDirectory[str] | None]:
    """Give the run folder, and what keeps a temporary one alive."""
    if out is not None:
        return Path(out), None
    keeps = tempfile.TemporaryDirectory(prefix="personare-run-")
    return Path(keeps.name) / "run", keeps


def _speech(
    original: CorpusLike,
    anonymized: CorpusLike | AnonymizedCorpus,
    folder: Path,
    *,
    train: CorpusLike | None,
    key: str | Path | None,
    method: str | None,
    parameters: Mapping[str, Any] | None,
    level: str,
    guess: Sequence[str] = (),
    jobs: int = 1,
) -> GivenSpeechChoice:
    """Name both corpora by path; those in memory, or with guessed columns, are listed in the run folder."""
    from personare.pipeline.builtin import GivenSpeechChoice
    from personare.pipeline.jobs.guess_attributes import with_guesses

    if isinstance(anonymized, AnonymizedCorpus):
        anonymized = anonymized.folder
    source = _corpus(original)
    parts = set(source.frame["part"].drop_nulls()) if "part" in source.frame.columns else set()
    if guess:
        from personare.engine import engine_for

        guesses = with_guesses(source.frame, engine=engine_for(jobs), kinds=tuple(guess))
        original = source = Corpus(guesses.frame)
    return GivenSpeechChoice(
        _listed(original, folder, "original"),
        _listed(anonymized, folder, "anonymized"),
        None if key is None else Path(key),
        method,
        parameters,
        level,
        None if train is None else _listed(train, folder, "train"),
        own_train="train" in parts,
    )


def _listed(corpus: CorpusLike, folder: Path, name: str) -> Path:
    if isinstance(corpus, str | Path):
        return Path(corpus)
    place = folder.with_name(f"{folder.name}-corpora") / f"{name}.parquet"
    corpus.save(place)
    return place


def _ran(
    study: Study,
    folder: Path,
    keeps: tempfile.TemporaryDirectory[str] | None,
    *,
    jobs: int,
    watch: Watcher | None,
    engine: Engine | None = None,
    resume: bool = True,
    home: Path | None = None,
    written: str | None = None,
) -> Results:
    """Check, run, and give the results."""
    from personare.engine import engine_for
    from personare.pipeline.check import check_study
    from personare.pipeline.folder import STAGES
    from personare.pipeline.run import open_folder
    from personare.pipeline.run import run_study as run
    from personare.pipeline.study import study_text

    home = home or Path.cwd()
    open_folder(folder, resume=resume)
    checked = check_study(study, folder / STAGES, home=home)
    if checked.problems:
        raise StudyError(checked.problems)
    ran = run(
        study,
        folder,
        engine=engine or engine_for(jobs),
        written=study_text(study) if written is None else written,
        home=home,
        resume=resume,
        watch=watch,
    )
    found = ran.outcome
    notes = (*((study.notes,) if study.notes else ()), *found.notes)
    return Results(found.findings, folder, found.verdicts, found.failures, notes, keeps)


def register_anonymizer(name: str, cls: type) -> None:
    """Make an anonymizer of one's own known by a name, as if it were built in."""
    from personare.anonymizers import ANONYMIZERS

    ANONYMIZERS.register(name, cls)


def register_embedder(name: str, cls: type) -> None:
    """Make an embedder of one's own known by a name."""
    from personare.attackers import EMBEDDERS

    EMBEDDERS.register(name, cls)


def register_scorer(name: str, cls: type) -> None:
    """Make a scorer of one's own known by a name."""
    from personare.attackers import SCORERS

    SCORERS.register(name, cls)


def register_listener(name: str, cls: type) -> None:
    """Make a listener of one's own known by a name."""
    from personare.listeners import LISTENERS

    LISTENERS.register(name, cls)


def register_metric(name: str, cls: type) -> None:
    """Make a measure of one's own known by a name; studies then know the metrics it gives."""
    from personare.pipeline.measures import MEASURES

    MEASURES.register(name, cls)
