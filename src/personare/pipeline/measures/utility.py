"""What is left of words, F0 and sound: what listeners observed in anonymized speech, put together as findings."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from personare.core.errors import PersonareError, did_you_mean
from personare.core.findings import Finding
from personare.pipeline.listen import Pairs, listen
from personare.pipeline.listening import OWN, HeardPair, ListenWork
from personare.pipeline.measured import Measured
from personare.pipeline.measures import MeasureDefaults, Needs, Question
from personare.pipeline.roles import TRAIN
from personare.pipeline.stages.listen import Ear, ListenJob, Replay, read_heard
from personare.pipeline.stages.train import TrainJob
from personare.pipeline.store import Store
from personare.pipeline.study import ORIGINAL, ListenerChoice, Study
from personare.training.recognizer.settings import recognizer_settings

if TYPE_CHECKING:
    from personare.pipeline.graph import Graph
    from personare.pipeline.resolve import ResolvedAnonymizer
    from personare.pipeline.speech import StudyCorpus

PITCH = ("f0_spearman", "pitch_correlation", "voicing_error")
# listener -> what it gives
GIVES: dict[str, tuple[str, ...]] = {
    "moonshine": ("wer",),
    "whisper": ("wer",),
    "ctc": ("cer",),
    "pitch": PITCH,
    "pitch-swift": PITCH,
    "pesq": ("pesq",),
    "stoi": ("stoi",),
    "estoi": ("estoi",),
    "visqol": ("visqol",),
    "dnsmos": ("dnsmos", "dnsmos_speech", "dnsmos_background"),
    "affect": ("ccc", "uar"),  # values, or categories
}


@dataclass(frozen=True)
class Utility(MeasureDefaults):
    """Everything that a listener gives."""

    requested: tuple[str, ...]

    name: ClassVar[str] = "utility"
    metrics: ClassVar[tuple[str, ...]] = (
        *("wer", "cer", *PITCH, "pesq", "stoi", "estoi", "visqol"),
        *("dnsmos", "dnsmos_speech", "dnsmos_background", "ccc", "uar"),
    )
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {"pitch": PITCH}
    needs: ClassVar[Needs] = "listener"

    @classmethod
    def plan(cls, question: Question) -> Iterator[Utility]:
        """One measurement for each listener."""
        yield cls(question.metrics)

    def run(self, inputs: UtilityAsk, /, *, rng: np.random.Generator) -> Measured:
        """Put the numbers together."""
        del rng
        return measure_utility(replace(inputs, metrics=self.requested))


def gives_of(choice: ListenerChoice) -> tuple[str, ...]:
    """List what a listener gives."""
    return GIVES.get(kind_of(choice), ())


def kind_of(choice: ListenerChoice) -> str:
    """Name the kind of a listener: ``ctc:FOLDER`` is a ctc."""
    return choice.listener.partition(":")[0]


def fitting_listeners(metric: str) -> list[str]:
    """Name the listeners that give a metric."""
    return [name for name, gives in GIVES.items() if metric in gives]


def study_listeners(graph: Graph, corpus: StudyCorpus) -> Iterator[Ear]:
    """Give every listener of a study, those that are trained on this corpus with their training."""
    anonymizers = {one.label: one for one in graph.anonymizers}
    for label, choice in graph.study.listener_choices.items():
        if kind_of(choice) != "ctc" or ":" in choice.listener:
            yield Ear(label, choice)
            continue
        hidden = None
        if choice.trained_on != ORIGINAL:
            hidden = graph.anonymized(corpus, TRAIN, anonymizers[choice.trained_on], "training")
        settings = replace(recognizer_settings(choice.config), seed=graph.study.seed)
        told = f"train {corpus.label} {label} on {choice.trained_on}"
        yield Ear(label, choice, TrainJob(told, corpus.of(TRAIN), settings, hidden))


def listener_problems(study: Study, anonymizers: list[ResolvedAnonymizer]) -> Iterator[str]:
    """Unknown listeners, missing extras and models, recognizers that cannot be trained."""
    from personare.pipeline.check import tried

    labels = [ORIGINAL, *(one.label for one in anonymizers if one.kind == "sound")]
    for label, choice in study.listener_choices.items():
        where = f"listeners: {label}"
        if kind_of(choice) not in GIVES:
            yield f"listeners: no listener '{choice.listener}' for studies; {did_you_mean(choice.listener, GIVES)}"
        elif choice.listener == "ctc":
            from personare.pipeline.jobs.train_recognizer import check_extras

            yield from tried(check_extras, where)[1]
            yield from tried(lambda choice=choice: recognizer_settings(choice.config), where)[1]  # type: ignore[misc]
            if choice.trained_on not in labels:
                yield f"{where}: trained_on '{choice.trained_on}'; {did_you_mean(choice.trained_on, labels)}"
        else:
            ear = Ear(label, choice)
            problems = tried(lambda ear=ear: ear.work(Store(Path())).check(), where)[1]  # type: ignore[misc]
            yield from problems or _affect_problems(study, ear)


def _affect_problems(study: Study, ear: Ear) -> Iterator[str]:
    """A model of values has no recall, and one of categories no concordance."""
    if ear.affect is None:
        return
    gives, other = ("uar", "ccc") if ear.affect.categorical else ("ccc", "uar")
    if other in study.metrics:
        what = "categories" if gives == "uar" else "values"
        yield f"listeners: {ear.label}: {ear.affect.model.name} gives {what}, hence {gives} and not {other}"


def listener_corpus_problems(study: Study, corpus: StudyCorpus) -> Iterator[str]:
    """A recognizer that the study trains needs speech with text, of enough people to hold some out."""
    trained = {label: choice for label, choice in study.listener_choices.items() if choice.listener == "ctc"}
    people = corpus.of(TRAIN)["speaker"].n_unique()
    for label, choice in trained.items():
        where = f"listener '{label}' is trained on the train part"
        if "text" not in corpus.frame.columns:
            yield f"{where}, and nobody wrote down what was said there"
        with contextlib.suppress(PersonareError):  # settings that cannot be read are named by another check
            need = recognizer_settings(choice.config).held_out.speakers + 2
            if people < need:
                yield f"{where}: {need} speakers are needed (held-out ones included), there are {people}"


def listener_corpus_notes(study: Study, corpus: StudyCorpus) -> Iterator[str]:
    """Say what words are compared with."""
    words = [c for c in study.listener_choices.values() if {"wer", "cer"} & set(gives_of(c))]
    if words and "text" not in corpus.frame.columns:
        yield "nobody wrote down what was said: words heard in the original are the reference"


def observations_of(job: ListenJob, store: Store, seed: int) -> UtilityAsk:
    """Gather what a listener observed."""
    return UtilityAsk.of(job, store, metrics=(), seed=seed)


@dataclass(frozen=True)
class UtilityAsk:
    """What was heard, and who heard it.

    Parameters
    ----------
    folder : the stage "listen"; rows, missing : its utterances, and those that could not be hidden.
    label, trained_on : the ear's name in the study, and whose speech it has learnt from.
    labels : the column that notes the true category, for a model of feeling.
    """

    folder: Path
    rows: list[dict[str, Any]]
    missing: tuple[str, ...]
    work: ListenWork
    label: str
    trained_on: str
    metrics: tuple[str, ...]
    seed: int
    labels: str

    @classmethod
    def of(cls, job: ListenJob, store: Store, *, metrics: tuple[str, ...], seed: int) -> UtilityAsk:
        """Gather it from the stage."""
        places = job.places(store)
        named = dict.fromkeys(("utterance", "speaker", "audio", "text", job.ear.choice.labels))
        kept = [c for c in named if c in job.frame.columns]
        rows = [
            {**{c: row[c] for c in kept}, "anonymized": str(places[row["utterance"]])}
            for row in job.frame.iter_rows(named=True)
            if row["utterance"] in places
        ]
        missing = tuple(u for u in job.frame["utterance"].to_list() if u not in places)
        work, ear = job.ear.work(store), job.ear
        told = {"label": ear.label, "trained_on": ear.choice.trained_on, "labels": ear.choice.labels}
        return cls(store.place(job.stage), rows, missing, work, metrics=metrics, seed=seed, **told)


class Recalled(ListenWork):
    """Ears that have heard everything already: nothing need be installed or fetched."""

    def check(self) -> None:
        """Nothing is missing."""


def measure_utility(ask: UtilityAsk) -> Measured:
    """Put the numbers together, as ``personare listen`` does; of the hidden side only."""
    pairs = Pairs(pl.DataFrame(ask.rows, infer_schema_length=None), ask.missing)
    (called,) = ask.work.recognizers
    name = f"{OWN}{ask.label}" if called.startswith(OWN) else called  # where a recognizer lies must not matter
    heard = {u: _called(name, one) for u, one in read_heard(ask.folder).items()}
    work = Recalled(**{**ask.work.__dict__, "recognizers": (name,)})
    found = listen(pairs, work, engine=Replay(heard), seed=ask.seed, labels=ask.labels)
    kept = [f for f in found.findings if f.conditions.get("speech", "anonymized") == "anonymized"]
    return Measured(tuple(_labelled(f, ask) for f in kept if f.metric.name in ask.metrics), (), found.notes)


def _called(name: str, heard: HeardPair) -> HeardPair:
    """Call the one recognizer by this name."""
    return replace(heard, words=dict(zip([name], heard.words.values(), strict=False)))


def _labelled(finding: Finding, ask: UtilityAsk) -> Finding:
    """Call the ear by its label in the study."""
    conditions = {k: v for k, v in finding.conditions.items() if k not in ("speech", "by")}
    conditions["listener"] = ask.label
    if "by" in finding.conditions:
        conditions["listener_trained_on"] = ask.trained_on
    return replace(finding, conditions=conditions)
