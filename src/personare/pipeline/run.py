"""Running a study: speech, stages wave by wave, the run folder; what is done already is never done again."""

from __future__ import annotations

import datetime
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from personare.core.command import typed
from personare.core.errors import ConfigError, CorpusError, OutputError, StudyError
from personare.core.files import kept_private, sweep, write_text
from personare.core.weights import files_of
from personare.engine import Engine, Result, engine_for
from personare.pipeline.check import check_study
from personare.pipeline.folder import STAGES, RunFolder, write_folder
from personare.pipeline.given import read_study_corpus
from personare.pipeline.graph import Graph
from personare.pipeline.jobs.voices import make_voices
from personare.pipeline.per_language import per_language
from personare.pipeline.read import study_text
from personare.pipeline.resolve import resolve_anonymizers
from personare.pipeline.speech import FileDigests, StudyCorpus, with_digests
from personare.pipeline.store import Failures, Store
from personare.pipeline.study import Study
from personare.pipeline.waves import Job, Watcher, run_wave

LOG, STUDY, HASHES, HOME = "log.txt", "study.yaml", "hashes.json", "home.txt"


@dataclass(frozen=True, eq=False)
class Ran:
    """What a run ended with, and how many stages it had to do."""

    outcome: RunFolder
    executed: int
    stages: int


def open_folder(folder: Path, *, resume: bool) -> Store:
    """Check the run folder: a used one must be gone on with on purpose, a strange one is refused."""
    stages = folder / STAGES
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder}: is a file; name a folder")
    if folder.is_dir() and any(folder.iterdir()):
        if not stages.is_dir():
            raise OutputError(f"{folder}: is not empty and is no run folder; name a new one with --out")
        if not resume:
            raise OutputError(f"{folder}: holds a run already; go on with --resume, or name a new one with --out")
    return Store(stages)


def read_corpora(study: Study, home: Path, store: Store) -> dict[str, StudyCorpus]:
    """Read every corpus."""
    corpora = {}
    anonymizers = resolve_anonymizers(study, home)
    for label in study.corpora:
        try:
            corpora[label] = read_study_corpus(label, study, anonymizers, stages=store.folder)
        except (CorpusError, ConfigError) as error:
            raise type(error)(f"corpora: {label}: {error}") from None
    return corpora


def checked_run(
    study: Study,
    folder: Path,
    *,
    jobs: int = 1,
    engine: Engine | None = None,
    watch: Watcher | None = None,
    resume: bool = True,
    home: Path | None = None,
    written: str | None = None,
) -> Ran:
    """Check a study, then run it; every problem is named before any work is done."""
    home = home or Path.cwd()
    open_folder(folder, resume=resume)
    checked = check_study(study, folder / STAGES, home=home)
    if checked.problems:
        raise StudyError(checked.problems)
    return run_study(
        study,
        folder,
        engine=engine or engine_for(jobs),
        written=study_text(study) if written is None else written,
        home=home,
        resume=resume,
        watch=watch,
    )


def run_study(
    study: Study,
    folder: Path,
    *,
    engine: Engine,
    written: str,
    home: Path,
    resume: bool = False,
    watch: Watcher | None = None,
) -> Ran:
    """Run a study into ``folder``.

    Parameters
    ----------
    written : the study file's own text, kept in the folder as it is; home : the folder its paths are taken from.
    """
    store = open_folder(folder, resume=resume)
    with kept_private(folder):
        return _run(study, folder, store, engine=engine, written=written, home=home, watch=watch)


def _run(
    study: Study, folder: Path, store: Store, *, engine: Engine, written: str, home: Path, watch: Watcher | None
) -> Ran:
    store.folder.mkdir(parents=True, exist_ok=True)
    sweep(folder)  # what a killed run left half written
    write_text(folder / STUDY, written)
    write_text(store.folder / HOME, f"{home.resolve()}\n")  # what is made of the run later finds its speech again
    log = Log(folder / LOG, watch)
    if command := typed():
        log.say(f"command: {command}")
    study = per_language(study, stages=store.folder)
    corpora = {}
    digests = FileDigests(store.folder / HASHES)
    for label, one in read_corpora(study, home, store).items():
        log.say(f"speech {label}: {one.frame['speaker'].n_unique()} speakers, {len(one.frame)} utterances")
        _voices(one, engine, log)
        corpora[label] = with_digests(one, digests)
    graph = Graph(study, corpora, home, digests)
    graph.stages  # noqa: B018 - every file that a stage depends on is hashed now
    digests.save()
    waves = [(name, jobs) for name, jobs in graph.waves.items() if jobs]
    try:
        executed = sum(run_wave(name, jobs, store, engine=engine, watch=log) for name, jobs in waves)
        outcome = write_folder(graph, store, folder)
    finally:
        sweep(folder)  # and what workers that were stopped left
    log.say(f"findings: {len(outcome.findings)}, failures: {len(outcome.failures)}, stages done now: {executed}")
    return Ran(outcome, executed, len(graph.stages))


def _voices(speech: StudyCorpus, engine: Engine, log: Log) -> None:
    """Invent the voices that are not there yet."""
    if speech.wanted is None or speech.folder is None:
        return
    for model in speech.wanted.models:
        files_of(model)
    log.began("voices", [], len(speech.frame))
    made = make_voices(speech.folder, speech.wanted, engine=engine, watch=log.spoke)
    log.say(f"voices: {made.done} utterances, {made.kept} of them there already, {made.failed} failed")


class Log:
    """Keeps time-stamped lines in the run folder, and passes everything on to whoever shows progress."""

    def __init__(self, path: Path, watch: Watcher | None) -> None:
        self._path, self._watch = path, watch

    def say(self, line: str) -> None:
        """Add a line."""
        now = datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="seconds")
        with self._path.open("a", encoding="utf-8") as stream:
            stream.write(f"{now} {line}\n")

    def began(self, wave: str, jobs: Sequence[Job], items: int) -> None:
        """A wave begins."""
        self.say(f"wave {wave}: {len(jobs)} stages, {items} items")
        if self._watch is not None:
            self._watch.began(wave, jobs, items)

    def did(self, job: Job | None, result: Result[Any, Any]) -> None:
        """One item is done."""
        if not result.ok:
            self.say(f"failed: {getattr(result.item, 'utterance', result.item)}: {result.error}"[:500])
        if self._watch is not None:
            self._watch.did(job, result)

    def spoke(self, result: Result[Any, Any]) -> None:
        """One voice is made."""
        self.did(None, result)

    def ended(self, job: Job, failures: Failures, seconds: float) -> None:
        """A stage is complete."""
        self.say(f"done {job.stage.label} ({job.stage.kind}-{job.stage.key[:12]}): {len(failures)} failed")
        if self._watch is not None:
            self._watch.ended(job, failures, seconds)


def forget_stages(folder: Path) -> None:
    """Remove the stages of a run folder; everything else stays readable."""
    shutil.rmtree(folder / STAGES, ignore_errors=True)
