"""Proof: let attackers listen to anonymized speech, guess what voices tell, run whole studies; results come back.

Everything runs through ``personare.pipeline`` as a study, also what takes a few words here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from personare.api.results import AnonymizedCorpus, Findings, Results, TemporaryFolder
from personare.core.errors import ConfigError, StudyError
from personare.core.tables import Corpus

if TYPE_CHECKING:
    from personare.engine import Engine
    from personare.pipeline.run import Ran
    from personare.pipeline.study import AttackerChoice, Study
    from personare.pipeline.waves import Watcher

    CorpusLike = str | Path | Corpus


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
    embedder: str | None = None,
    quick: bool = False,
    utterances_per_trial: Sequence[int] = (1, 3),
    metrics: Sequence[str] = ("eer", "linkability"),
    guess_gender: bool = False,
    speaker_from: str | None = None,
    language: str | None = None,
    seed: int = 1,
    jobs: int = 1,
    engine: Engine | None = None,
    out: str | Path | None = None,
    watch: Watcher | None = None,
) -> Results:
    """Let attackers listen to anonymized speech and count how often they recognise somebody.

    Parameters
    ----------
    original, anonymized : the same speech before and after; a folder that another tool made will do.
    attackers : levels of knowledge (original, ignorant, lazy-informed, semi-informed, informed, aligned, inverting), or
        attackers in full. Without: the strongest of the first three, and informed, that can be played on this speech.
    only_possible : leave out, and note, attackers who cannot be played; the default attackers always are left out so.
    train : speech of other people, for attackers who learn.
    method, parameters, level : how the speech was anonymized, where the folder does not say.
    key : the key file that pairs both, where it does not lie beside the anonymized folder.
    embedder : what turns speech into vectors, e.g. ``ecapa`` or a fusion, ``ecapa+energy``. Without, and without
        ``attackers``: those of the strongest set (docs/explain/attackers.md) whose models are there.
    quick : play plain attackers with one embedder where none are named: quicker, and easier to pass.
    utterances_per_trial : how many utterances the attacker hears at once, L.
    speaker_from : who speaks, in originals without order (see ``read_corpus``); noted where ``anonymize`` read them so.
    language : of all original speech, e.g. ``de``, or ``auto`` to identify it; without, the corpus' own column.
        Several languages are attacked one by one.
    engine : where the work is done, e.g. ``engine_named("ray", 8)``; without, ``jobs`` processes here.
    out : the run folder; a temporary one, which lives as long as the result, without.
    """
    from personare.engine import engine_for
    from personare.pipeline import builtin
    from personare.pipeline.given_choice import given_speech
    from personare.pipeline.run import checked_run

    folder, keeps = _run_folder(out)
    speech = given_speech(
        _located(original),
        _located(anonymized),
        folder=folder,
        engine=engine or engine_for(jobs),
        train=None if train is None else _located(train),
        key=None if key is None else Path(key),
        method=method,
        parameters=parameters,
        level=level,
        guess=("gender",) if guess_gender else (),
        speaker_from=speaker_from,
        language=language,
    )
    study = builtin.evaluation(
        speech,
        attackers=attackers,
        only_possible=only_possible,
        embedder=embedder,
        quick=quick,
        utterances_per_trial=utterances_per_trial,
        metrics=metrics,
        seed=seed,
    )
    return _results(checked_run(study, folder, jobs=jobs, engine=engine, watch=watch), keeps)


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
    speaker_from: str | None = None,
    language: str | None = None,
    seed: int = 1,
    jobs: int = 1,
    out: str | Path | None = None,
    watch: Watcher | None = None,
) -> Results:
    """Let an attacker who learns from other people guess attributes of speakers from anonymized speech."""
    from personare.engine import engine_for
    from personare.pipeline import builtin
    from personare.pipeline.given_choice import given_speech
    from personare.pipeline.run import checked_run

    folder, keeps = _run_folder(out)
    speech = given_speech(
        _located(original),
        _located(anonymized),
        folder=folder,
        engine=engine_for(jobs),
        train=_located(train),
        key=None if key is None else Path(key),
        method=method,
        parameters=parameters,
        level=level,
        speaker_from=speaker_from,
        language=language,
    )
    study = builtin.inference(speech, attributes=attributes, embedder=embedder, seed=seed)
    return _results(checked_run(study, folder, jobs=jobs, watch=watch), keeps)


def listen(
    original: CorpusLike,
    anonymized: CorpusLike | AnonymizedCorpus,
    *,
    listeners: Sequence[str] | None = None,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    by: str | None = None,
    guess: Sequence[str] = (),
    key: str | Path | None = None,
    method: str | None = None,
    speaker_from: str | None = None,
    language: str | None = None,
    seed: int = 1,
    jobs: int = 1,
    engine: Engine | None = None,
    out: str | Path | None = None,
    watch: Watcher | None = None,
) -> Results:
    """Let machine listeners observe what is left of words, F0 and quality.

    Parameters
    ----------
    listeners : names of ``personare.listeners``, e.g. ``ctc:FOLDER``, or ``module:Class``. Without: a recognizer
        (``moonshine`` for English, else a Whisper that methods do not use), pitch, pesq, stoi, estoi and dnsmos.
    parameters : of a listener, by its name.
    by : a column of the corpus: findings for each of its values, too.
    guess : attributes (gender, age_group) that are guessed where nobody noted them, and marked as predicted.
    method : how it was anonymized, where the folder does not say, or names a class of your own.
    language : of all original speech, e.g. ``de``, or ``auto`` to identify it; without, the corpus' own column.
        Recognizers use it; several languages give a row each.
    """
    from personare.engine import engine_for
    from personare.pipeline import builtin
    from personare.pipeline.given_choice import given_speech
    from personare.pipeline.run import checked_run

    folder, keeps = _run_folder(out)
    speech = given_speech(
        _located(original),
        _located(anonymized),
        folder=folder,
        engine=engine or engine_for(jobs),
        key=None if key is None else Path(key),
        method=method,
        guess=guess,
        speaker_from=speaker_from,
        language=language,
    )
    names = builtin.usual_listeners(speech.languages) if listeners is None else listeners
    study = builtin.listening(speech, listeners=builtin.listener_choices(names, parameters or {}), by=by, seed=seed)
    return _results(checked_run(study, folder, jobs=jobs, engine=engine, watch=watch), keeps)


def run_study(
    study: str | Path | Study,
    out: str | Path | None = None,
    *,
    corpus: str | Path | None = None,
    speakers: int | None = None,
    utterances: int | None = None,
    pool: str | Path | None = None,
    train: str | Path | None = None,
    resume: bool = False,
    engine: Engine | None = None,
    jobs: int = 1,
    watch: Watcher | None = None,
) -> Results:
    """Run a study file (or a Study) into a run folder; every problem is named before any work is done."""
    from personare.pipeline.read import file_problems
    from personare.pipeline.run import checked_run
    from personare.pipeline.study import Study, read_study, with_corpus, with_pool, with_training

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
    if train is not None:
        chosen = with_training(chosen, Path(train))
    if pool is not None:
        chosen = with_pool(chosen, Path(pool))
    folder, keeps = _run_folder(out)
    ran = checked_run(
        chosen, folder, jobs=jobs, engine=engine, watch=watch, resume=resume, home=home, written=written or None
    )
    return _results(ran, keeps)


def _located(corpus: CorpusLike | AnonymizedCorpus) -> Path | Corpus:
    if isinstance(corpus, AnonymizedCorpus):
        return corpus.folder
    return corpus if isinstance(corpus, Corpus) else Path(corpus)


def measured(folder: str | Path, job: Any) -> Findings:
    """Give what one stage of a run has measured, while the run goes on; nothing for a stage that measures nothing.

    ``job`` is what a watcher is told of: ``watch.ended(job, failures, seconds)``.
    """
    from personare.pipeline.folder import STAGES
    from personare.pipeline.measured import load
    from personare.pipeline.store import Store

    place = Store(Path(folder) / STAGES).place(job.stage)
    if job.stage.kind != "measure" or not (place / "findings.json").is_file():
        return Findings(())
    return Findings(load(place).findings)


def _run_folder(out: str | Path | None) -> tuple[Path, TemporaryFolder | None]:
    """Give the run folder, and what keeps a temporary one alive."""
    if out is not None:
        return Path(out), None
    keeps = TemporaryFolder()
    return keeps.path / "run", keeps


def _results(ran: Ran, keeps: TemporaryFolder | None) -> Results:
    outcome = ran.outcome
    return Results(
        outcome.findings,
        outcome.folder,
        outcome.verdicts,
        outcome.failures,
        outcome.notes,
        ran.stages,
        ran.executed,
        keeps,
        outcome.ledger,
    )
