"""What can be measured: one file per family of metrics, one row in this table; a study asks for metrics by name.

A measure is a frozen dataclass whose fields are one question ("linkability at L = 3 among 20 people"). Its class says
which metrics it gives, what it needs, what can go wrong, and which questions a study asks of it; ``run`` answers one.
Plug-ins join by the entry point ``personare.measures``, by ``personare.register_metric``, or as ``module:Class`` in the
``metrics`` of a study.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, cast

from personare.core.catalog import Catalog
from personare.core.errors import ConfigError, UnknownNameError, did_you_mean
from personare.core.fingerprint import fingerprint
from personare.core.seeding import Key, rng_for
from personare.metrics import CARDS

if TYPE_CHECKING:
    import numpy as np

    from personare.pipeline.measured import Measured
    from personare.pipeline.resolve import ResolvedAnonymizer, ResolvedAttacker
    from personare.pipeline.speech import StudyCorpus
    from personare.pipeline.study import Study

Needs = Literal["attack", "training", "pairs", "listener"]

MEASURES = Catalog(
    "measure",
    {
        "detection": "personare.pipeline.measures.detection:Detection",
        "linkability": "personare.pipeline.measures.linkability:LinkabilityMeasure",
        "singling out": "personare.pipeline.measures.singling_out:SinglingOutMeasure",
        "ranks": "personare.pipeline.measures.ranks:Ranks",
        "similarity": "personare.pipeline.measures.similarity:Similarity",
        "source similarity": "personare.pipeline.measures.source_similarity:SourceSimilarity",
        "inference": "personare.pipeline.measures.inference:Inference",
        "utility": "personare.pipeline.measures.utility:Utility",
    },
    needs={
        "name": "name: ClassVar[str], the family's name",
        "metrics": "metrics: ClassVar[tuple[str, ...]], the names of what it gives",
        "needs": "needs: ClassVar[Needs]: attack, training, pairs or listener",
        "plan": "a class method plan(question), which lists its measurements",
        "run": "def run(self, inputs, /, *, rng) -> Measured",
    },
)


@dataclass(frozen=True, eq=False)
class Question:
    """What a study asks of one family: on which speech, how anonymized, against whom (None: no attacker is needed)."""

    study: Study
    corpus: StudyCorpus
    anonymizer: ResolvedAnonymizer
    metrics: tuple[str, ...]
    attacker: ResolvedAttacker | None = None


class Measure(Protocol):
    """A family of metrics; an instance is one question, made of plain values that can be sent to any process.

    Parameters
    ----------
    name : the family's name, in labels.
    metrics : every metric it can give; groups : short names for several of them.
    needs : ``attack`` (enrolment and trial vectors of an attacker who has learnt), ``training`` (trial vectors and
        what the attacker learns from), ``pairs`` (vectors before and after anonymization), ``listener`` (what a
        listener observed).
    requested : those of its metrics that are asked for.
    draws_for : names that its random draws are for, so that equal questions get equal draws in every command.
    cost : how the time of ``run`` grows with the number of people: the exponent.
    """

    name: ClassVar[str]
    metrics: ClassVar[tuple[str, ...]]
    groups: ClassVar[Mapping[str, tuple[str, ...]]]
    needs: ClassVar[Needs]
    cost: ClassVar[float]

    @property
    def requested(self) -> tuple[str, ...]:
        """The metrics asked for."""
        ...

    @property
    def label(self) -> str:
        """What a stage's label adds to the family's name, e.g. ``, L = 3``."""
        ...

    @property
    def draws_for(self) -> tuple[str, ...]:
        """What chance is drawn for; never a label."""
        ...

    @property
    def swapped(self) -> bool:
        """Whether the trial speech is enrolled and the enrolment speech tested (sets A and B, for Singling Out)."""
        ...

    @property
    def calibrates(self) -> bool:
        """Whether scores of other people are needed to set the scale."""
        ...

    @classmethod
    def metrics_in(cls, study: Study) -> tuple[str, ...]:
        """Give every metric it can give in a study."""
        ...

    @classmethod
    def plan(cls, question: Question) -> Iterator[Measure]:
        """List every measurement that a study asks for; none where the attack cannot be measured so."""
        ...

    @classmethod
    def problems(cls, study: Study, metrics: tuple[str, ...], attackers: list[ResolvedAttacker]) -> Iterator[str]:
        """Name what is wrong with asking for these metrics, whatever the speech."""
        ...

    @classmethod
    def corpus_problems(cls, study: Study, metrics: tuple[str, ...], corpus: StudyCorpus) -> Iterator[str]:
        """Name what this speech is too small or too bare for."""
        ...

    @classmethod
    def corpus_notes(cls, study: Study, metrics: tuple[str, ...], corpus: StudyCorpus) -> Iterator[str]:
        """Say what a reader should know about these metrics on this speech."""
        ...

    def run(self, inputs: Any, /, *, rng: np.random.Generator) -> Measured:
        """Answer the question."""
        ...


class MeasureDefaults:
    """What most measures have in common: no groups, no swap, no calibration, no problems of their own."""

    metrics: ClassVar[tuple[str, ...]]
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    cost: ClassVar[float] = 1.0

    @property
    def label(self) -> str:
        """Nothing to add."""
        return ""

    @property
    def draws_for(self) -> tuple[str, ...]:
        """Nothing besides the family."""
        return ()

    @property
    def swapped(self) -> bool:
        """No."""
        return False

    @property
    def calibrates(self) -> bool:
        """No."""
        return False

    @classmethod
    def metrics_in(cls, study: Study) -> tuple[str, ...]:
        """The same in every study."""
        del study
        return cls.metrics

    @classmethod
    def problems(cls, study: Study, metrics: tuple[str, ...], attackers: list[ResolvedAttacker]) -> Iterator[str]:
        """None."""
        del study, metrics, attackers
        yield from ()

    @classmethod
    def corpus_problems(cls, study: Study, metrics: tuple[str, ...], corpus: StudyCorpus) -> Iterator[str]:
        """None."""
        del study, metrics, corpus
        yield from ()

    @classmethod
    def corpus_notes(cls, study: Study, metrics: tuple[str, ...], corpus: StudyCorpus) -> Iterator[str]:
        """None."""
        del study, metrics, corpus
        yield from ()


def measure_classes(metrics: tuple[str, ...] = ()) -> list[type[Measure]]:
    """Give every family: the table, plug-ins, and those that a study names as ``module:Class``."""
    own = dict.fromkeys(name for name in metrics if ":" in name)
    classes = dict.fromkeys(MEASURES.load(name) for name in (*MEASURES.names(), *own))
    return [cast("type[Measure]", cls) for cls in classes]


def requested_metrics(study: Study) -> list[str]:
    """List every metric of a study: those named, and all that a listener gives where none of its metrics is named."""
    requested = dict.fromkeys(expand_metrics(study.metrics, observed=observed_metrics(study)))
    named = set(requested)
    for gives in listener_metrics(study):
        if not named & set(gives):
            requested |= dict.fromkeys(gives)
    return list(requested)


def listener_metrics(study: Study) -> list[tuple[str, ...]]:
    """Give what each listener of a study gives; unknown listeners, which are named by another check, give nothing."""
    from personare.pipeline.measures.utility import gives_of

    return [gives_of(choice) for choice in study.listener_choices.values()]


def observed_metrics(study: Study) -> tuple[str, ...]:
    """Give what all listeners of a study give, those of one's own too."""
    return tuple(dict.fromkeys(metric for gives in listener_metrics(study) for metric in gives))


def expand_metrics(names: tuple[str, ...], *, observed: tuple[str, ...] = ()) -> list[str]:
    """Spell out groups and measures of one's own; an unknown metric is an error with a suggestion.

    ``observed`` are metrics of listeners of one's own, which no family knows by itself.

    >>> expand_metrics(("eer", "zebra"))
    ['eer', 'd_ece', 'log10_l']
    """
    groups: dict[str, tuple[str, ...]] = {}
    for measure in measure_classes(names):
        twice = sorted(groups.keys() & set(measure.metrics))
        if twice:
            raise ConfigError(f"metrics: '{twice[0]}' is there already; call that of '{measure.name}' something else")
        groups |= {metric: (metric,) for metric in measure.metrics} | dict(measure.groups)
    groups |= {name: cast("type[Measure]", MEASURES.load(name)).metrics for name in names if ":" in name}
    groups |= {metric: (metric,) for metric in observed}
    expanded: dict[str, None] = {}
    for name in names:
        if name not in groups:
            why = "is not measured by studies" if name in CARDS else "does not exist"
            raise UnknownNameError(f"metrics: '{name}' {why}; {did_you_mean(name, groups)}")
        expanded |= dict.fromkeys(groups[name])
    return list(expanded)


def metric_groups() -> dict[str, tuple[str, ...]]:
    """Give every short name for several metrics."""
    return {name: metrics for measure in measure_classes() for name, metrics in measure.groups.items()}


def measure_facts(measure: Measure) -> dict[str, Any]:
    """Give what a measure's result depends on as plain values; long tables as a digest, a plug-in by its source."""
    cls = type(measure)
    facts: dict[str, Any] = {"measure": f"{cls.__module__}:{cls.__qualname__}"}
    if not cls.__module__.startswith("personare."):
        facts["fingerprint"] = fingerprint(measure)
    for each in fields(measure):  # type: ignore[arg-type]
        value = getattr(measure, each.name)
        if isinstance(value, Mapping) or (isinstance(value, tuple) and len(value) > 50):
            rows = sorted(value.items()) if isinstance(value, Mapping) else value
            value = hashlib.sha256(json.dumps(rows, default=str).encode()).hexdigest()
        facts[each.name] = value
    return facts


def rng_of(measure: Measure, seed: int) -> np.random.Generator:
    """Make the generator of a measure: the same question draws the same in every command."""
    return rng_for(Key.from_seed(seed), "measure", measure.name, *measure.draws_for)
