"""What stays useful: the findings of each listener over the utterances it observed, under the labels of a study."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from personare.core.errors import ConfigError, PersonareError, did_you_mean
from personare.core.findings import Finding
from personare.core.language_codes import language_title
from personare.core.observations import FROM_ORIGINAL, SummaryContext
from personare.core.protocols import Listener
from personare.core.seeding import Key
from personare.listeners import LISTENERS, listener_class
from personare.listeners.attributes import KINDS
from personare.listeners.pitch import PitchTracker
from personare.listeners.words import TEXT
from personare.pipeline.jobs.guess_attributes import labels_of
from personare.pipeline.jobs.spoken_languages import NOT_GIVEN, counts_text, stated_counts
from personare.pipeline.measured import Measured
from personare.pipeline.measures import MeasureDefaults, Needs, Question, observed_metrics
from personare.pipeline.roles import TRAIN, TRIAL
from personare.pipeline.stages.listen import ListenJob, read_observations
from personare.pipeline.stages.train import TrainJob
from personare.pipeline.store import Store
from personare.pipeline.study import ORIGINAL, ListenerChoice, Study
from personare.pipeline.study_listener import StudyListener, untrained_listeners
from personare.training.recognizer.settings import recognizer_settings

if TYPE_CHECKING:
    from personare.pipeline.graph import Graph
    from personare.pipeline.resolve import ResolvedAnonymizer
    from personare.pipeline.speech import StudyCorpus

FEWEST_TRAIN_SPEAKERS = 2
FOR_ANY_LANGUAGE = ("whisper-base", "whisper-small")


@dataclass(frozen=True)
class Utility(MeasureDefaults):
    """Everything that listeners give.

    ``by`` names a column, ``values`` its value for every utterance: findings for each value, too.
    """

    requested: tuple[str, ...]
    by: str = ""
    values: Mapping[str, str] = field(default_factory=dict)

    name: ClassVar[str] = "utility"
    metrics: ClassVar[tuple[str, ...]] = tuple(
        dict.fromkeys(metric for name in LISTENERS.builtin for metric in listener_class(name).gives)
    )
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {"pitch": PitchTracker.gives}
    needs: ClassVar[Needs] = "listener"

    @classmethod
    def metrics_in(cls, study: Study) -> tuple[str, ...]:
        """What the listeners of the table give, and those of one's own that the study names."""
        return tuple(dict.fromkeys((*cls.metrics, *observed_metrics(study))))

    @classmethod
    def plan(cls, question: Question) -> Iterator[Utility]:
        """One measurement for each listener."""
        by = question.study.by
        values = labels_of(question.corpus.of(TRIAL), by) if by else {}
        yield cls(question.metrics, by or "", values)

    def run(self, inputs: UtilityInputs, /, *, rng: np.random.Generator) -> Measured:
        """Summarize the rows: the anonymized side, and what the study asks for."""
        del rng
        context = SummaryContext(inputs.name, inputs.speakers, inputs.total, Key.from_seed(inputs.seed), inputs.noted)
        rows = read_observations(inputs.folder)
        summary = inputs.listener.summarize(rows, context)
        found = list(summary.findings)
        for value in sorted(set(self.values.values())):
            own = [row for row in rows if self.values.get(row.utterance) == value]
            part = replace(context, total=sum(group == value for group in self.values.values()))
            found += [
                replace(f, conditions={**f.conditions, self.by: value})
                for f in inputs.listener.summarize(own, part).findings
            ]
        kept = [f for f in found if f.conditions.get("speech", "anonymized") == "anonymized"]
        if inputs.original:  # compared with what the same listener observed in the same sound, it says nothing
            kept = [f for f in kept if f.conditions.get("reference") != FROM_ORIGINAL]
        findings = tuple(_labelled(f, inputs) for f in kept if f.metric.name in self.requested)
        return Measured(findings, (), summary.notes)


def _labelled(finding: Finding, inputs: UtilityInputs) -> Finding:
    """Call the listener by its label in the study."""
    conditions = {k: v for k, v in finding.conditions.items() if k not in ("speech", "by")}
    conditions["listener"] = inputs.label
    if "by" in finding.conditions:
        conditions["listener_trained_on"] = inputs.trained_on
    return replace(finding, conditions=conditions)


@dataclass(frozen=True)
class UtilityInputs:
    """What one listener observed, and what is known of the utterances; plain values, for any process.

    Parameters
    ----------
    folder : the stage "listen" with the rows.
    label, trained_on : the listener's name in the study, and whose speech it has learnt from.
    name, speakers, noted, total : see ``SummaryContext``.
    original : whether nothing was anonymized.
    """

    folder: Path
    listener: Listener
    label: str
    trained_on: str
    name: str
    speakers: Mapping[str, str]
    noted: Mapping[str, Mapping[str, str]]
    total: int
    seed: int
    original: bool = False


def observations_of(job: ListenJob, store: Store, seed: int) -> UtilityInputs:
    """Gather what a listener observed."""
    listener = job.listener.made(store)
    return UtilityInputs(
        store.place(job.stage),
        listener,
        job.listener.label,
        job.listener.choice.trained_on,
        job.listener.name,
        speakers_of(job.frame),
        noted_of(job.frame, listener.columns),
        len(job.frame),
        seed,
        job.hidden is None,
    )


def speakers_of(frame: pl.DataFrame) -> dict[str, str]:
    """Who speaks, by utterance."""
    return dict(frame.select("utterance", "speaker").iter_rows())


def noted_of(frame: pl.DataFrame, columns: Iterable[str]) -> dict[str, dict[str, str]]:
    """What was noted, by column and utterance; empty cells and columns that are not there are left out."""
    return {column: _noted(frame.select("utterance", column).rows()) for column in columns if column in frame.columns}


def _noted(rows: Sequence[tuple[Any, ...]]) -> dict[str, str]:
    return {str(utterance): str(value) for utterance, value in rows if value}


def gives_of(choice: ListenerChoice) -> tuple[str, ...]:
    """List the metrics a listener can give; one that cannot be loaded gives none, and another check says so."""
    try:
        return StudyListener("", choice).declared.gives
    except ConfigError:
        return ()


def fitting_listeners(metric: str) -> list[str]:
    """Name the listeners of the table that can give a metric."""
    return [name for name in LISTENERS.builtin if metric in listener_class(name).gives]


def study_listeners(graph: Graph, corpus: StudyCorpus) -> Iterator[StudyListener]:
    """Give every listener of a study, those that are trained on this corpus with their training."""
    anonymizers = {one.label: one for one in graph.anonymizers}
    for listener in untrained_listeners(graph.study, graph.folder):
        if not listener.trained_by_study:
            yield listener
            continue
        choice, anonymized = listener.choice, None
        speech = corpus if choice.learns_from is None else graph.corpora[choice.learns_from]
        if choice.trained_on != ORIGINAL:
            anonymized = graph.anonymized(speech, TRAIN, anonymizers[choice.trained_on], "training")
        settings = replace(recognizer_settings(choice.config), seed=graph.study.seed)
        label = f"train {speech.label} {listener.label} on {choice.trained_on}"
        yield replace(listener, training=TrainJob(label, speech.of(TRAIN), settings, anonymized))


def listener_problems(study: Study, anonymizers: list[ResolvedAnonymizer], home: Path) -> Iterator[str]:
    """Unknown listeners, missing extras and models, recognizers that cannot be trained, metrics that nobody gives."""
    from personare.pipeline.check import tried

    labels = [ORIGINAL, *(one.label for one in anonymizers if one.kind == "sound")]
    learnt_from = [label for label, choice in study.corpora.items() if not choice.is_attacked]
    gives: dict[str, tuple[str, ...]] = {}
    for listener in untrained_listeners(study, home):
        where, choice = f"listeners: {listener.label}", listener.choice
        trained, problems = tried(lambda one=listener: one.trained_by_study, where)  # type: ignore[misc]
        if trained:
            from personare.pipeline.jobs.train_recognizer import check_extras

            problems += tried(check_extras, where)[1]
            problems += tried(lambda choice=choice: recognizer_settings(choice.config), where)[1]  # type: ignore[misc]
            if choice.learns_from is not None and choice.learns_from not in learnt_from:
                hint = did_you_mean(choice.learns_from, learnt_from)
                problems.append(f"{where}: learns_from names a corpus with split: train; {hint}")
            if choice.trained_on not in labels:
                problems.append(f"{where}: trained_on '{choice.trained_on}'; {did_you_mean(choice.trained_on, labels)}")
        elif not problems:
            problems += tried(lambda one=listener: one.made().check(), where)[1]  # type: ignore[misc]
        yield from problems
        if problems:
            continue
        gives[listener.label] = listener.made().metrics
        why = [one.not_compared(listener.made()) for one in anonymizers if one.kind == "sound"]
        if why and all(why):
            yield f"{where}: has nothing to compare: {why[0]}; leave the listener out"
    yield from _setting_problems(study, gives)


def _setting_problems(study: Study, gives: dict[str, tuple[str, ...]]) -> Iterator[str]:
    """A listener may give a metric in general, and not as it is set here: a model of values has no recall."""
    for label, metrics in gives.items():
        for metric in gives_of(study.listener_choices[label]):
            if metric in study.metrics and not any(metric in others for others in gives.values()):
                yield f"listeners: {label}: gives {', '.join(metrics)} as it is set, not {metric}"


def listener_corpus_problems(study: Study, corpus: StudyCorpus) -> Iterator[str]:
    """A column to break down by must be there; a recognizer needs speech with text, of enough people, to be trained."""
    if study.by is not None and corpus.is_attacked and study.by not in corpus.frame.columns:
        hint = "; --guess fills gender and age_group by machine" if study.by in KINDS else ""
        yield f"the corpus has no column '{study.by}'; {did_you_mean(study.by, corpus.frame.columns)}{hint}"
    if corpus.is_attacked:
        yield from _foreign_problems(study, corpus)
    people = corpus.of(TRAIN)["speaker"].n_unique()
    for listener in _known(study):
        learns_from = listener.choice.learns_from
        if not listener.trained_by_study or learns_from not in ((None,) if corpus.is_attacked else (corpus.label,)):
            continue
        where = f"listener '{listener.label}' is trained on the train part"
        if TEXT not in corpus.frame.columns:
            yield f"{where}, and nobody wrote down what was said there"
        with contextlib.suppress(PersonareError):  # settings that cannot be read are named by another check
            need = recognizer_settings(listener.choice.config).held_out.speakers + FEWEST_TRAIN_SPEAKERS
            if people < need:
                yield f"{where}: {need} speakers are needed (held-out ones included), there are {people}"


def _foreign_problems(study: Study, corpus: StudyCorpus) -> Iterator[str]:
    """A listener that understands some languages only must not be given speech in another one."""
    counts = stated_counts(corpus.of(TRIAL))
    counts.pop(NOT_GIVEN, None)
    for listener in _known(study):
        known = listener.declared.languages
        foreign = {code: count for code, count in counts.items() if known and code not in known}
        if foreign:
            understood = ", ".join(language_title(code) for code in known[:3]) + (", ..." if len(known) > 3 else "")
            yield (
                f"listener '{listener.label}' recognizes {understood} only, and there are utterances in "
                f"{counts_text(foreign)}; use the listener {' or '.join(FOR_ANY_LANGUAGE)}"
            )


def listener_corpus_notes(study: Study, corpus: StudyCorpus) -> Iterator[str]:
    """Say what words are compared with."""
    words = any(TEXT in listener.made().columns for listener in _known(study))
    if words and TEXT not in corpus.frame.columns:
        yield "nobody wrote down what was said: words heard in the original are the reference"
    several = [one.label for one in _known(study) if len(one.declared.languages) > 1]
    if several and NOT_GIVEN in stated_counts(corpus.of(TRIAL)):
        yield (
            f"the language of some speech is not given: {', '.join(several)} takes it for English; state it with "
            "--language"
        )


def _known(study: Study) -> Iterator[StudyListener]:
    """Give the listeners that can be made; the others are named by another check."""
    for listener in untrained_listeners(study):
        with contextlib.suppress(PersonareError):
            listener.made()
            yield listener
