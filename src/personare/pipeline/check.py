"""Before hours of work: everything that is wrong with a study, one clear line each, found without doing any of it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from personare.attackers.knowledge import Knowledge
from personare.core.errors import PersonareError, did_you_mean
from personare.core.weights import files_of
from personare.pipeline.check_speech import (
    not_heard_notes,
    not_played_notes,
    shared_speakers,
    speech_notes,
    speech_problems,
)
from personare.pipeline.given import read_study_corpus
from personare.pipeline.measures import (
    expand_metrics,
    measure_classes,
    metric_groups,
    observed_metrics,
    requested_metrics,
)
from personare.pipeline.measures.utility import fitting_listeners, listener_problems
from personare.pipeline.per_language import per_language
from personare.pipeline.resolve import (
    ResolvedAnonymizer,
    ResolvedAttacker,
    resolve_anonymizer,
    resolve_attacker,
)
from personare.pipeline.speech import StudyCorpus, study_corpus
from personare.pipeline.stages.embed import require_embedder
from personare.pipeline.study import Study
from personare.pipeline.system import rehearse


@dataclass(frozen=True)
class Checked:
    """What is impossible, and what a reader should know; nothing impossible means that the study can run."""

    problems: tuple[str, ...]
    notes: tuple[str, ...]


def check_study(study: Study, stages: Path, *, home: Path) -> Checked:
    """Look at everything a study names; ``stages`` is where invented voices would lie, ``home`` the study's folder."""
    split, unread = tried(lambda: per_language(study, stages=stages))  # what cannot be read is named below
    study = study if unread else split
    anonymizers, problems = _anonymizers(study, home)
    attackers, more = _attackers(study, anonymizers, home)
    problems += more
    problems += _metric_problems(study, attackers)
    problems += listener_problems(study, anonymizers, home)
    problems += _bound_problems(study)
    notes: list[str] = [
        *not_played_notes(anonymizers, attackers),
        *not_heard_notes(study, anonymizers, home),
    ]
    corpora: list[StudyCorpus] = []
    for label in study.corpora:
        where = f"corpora: {label}"
        corpus, more = _corpus(study, label, stages, anonymizers)
        problems += [f"{where}: {line}" for line in more]
        if corpus is not None:
            corpora.append(corpus)
            problems += [f"{where}: {line}" for line in speech_problems(study, corpus, anonymizers, attackers)]
            notes += [f"{where}: {line}" for line in speech_notes(study, corpus)]
    problems += shared_speakers(corpora)
    return Checked(tuple(dict.fromkeys(problems)), tuple(dict.fromkeys(notes)))


def tried(work: Callable[[], Any], where: str = "") -> tuple[Any, list[str]]:
    """Call, and give the result or the one line that says why not."""
    try:
        return work(), []
    except PersonareError as error:
        line = str(error)
        return None, [line if not where or line.startswith(where) else f"{where}: {line}"]


def _anonymizers(study: Study, home: Path) -> tuple[list[ResolvedAnonymizer], list[str]]:
    """Build every anonymizer, and let it anonymize a moment of noise: missing extras and files show now."""
    anonymizers: list[ResolvedAnonymizer] = []
    problems: list[str] = []
    for label, settings in study.anonymizers.items():
        where = f"anonymizers: {label}"
        one, more = tried(lambda label=label, given=settings: resolve_anonymizer(label, given or {}, home), where)  # type: ignore[misc]
        problems += more
        if one is None:
            continue
        if one.kind == "sound" and one.system is not None:
            problems += tried(lambda one=one: rehearse(one.system), where)[1]  # type: ignore[misc]
        anonymizers.append(one)
    return anonymizers, problems


def _attackers(
    study: Study, anonymizers: list[ResolvedAnonymizer], home: Path
) -> tuple[list[ResolvedAttacker], list[str]]:
    """Build every attacker, one by one, and see whether its embedder is there and everything it must know is known."""
    attackers: list[ResolvedAttacker] = []
    problems: list[str] = []
    embedders: set[str] = set()
    unknown = {one.label: why for one in anonymizers if (why := one.unlike_owner())}
    for label, choice in study.attackers.items():
        one, more = tried(lambda label=label, choice=choice: resolve_attacker(label, choice, anonymizers, home))  # type: ignore[misc]
        problems += more
        if choice.embedder not in embedders:
            embedders.add(choice.embedder)
            problems += tried(lambda name=choice.embedder: require_embedder(name), f"attackers: {label}")[1]  # type: ignore[misc]
        if one is None:
            continue
        attackers.append(one)
        level = one.attacker.knowledge
        if unknown and (level.enroll == "anonymized" or (level.needs_training and one.similar is None)):
            first, why = next(iter(unknown.items()))
            problems.append(f"attackers: {label}: must anonymize as '{first}' was; {why}")
    problems += list(_without_inverse(anonymizers, attackers))
    if all(one.kind != "none" for one in anonymizers):
        problems += [
            f"attackers: {one.label}: attacks unprotected speech; add 'original: {{}}' to anonymizers"
            for one in attackers
            if one.attacker.knowledge is Knowledge.ORIGINAL
        ]
    return attackers, problems


def _without_inverse(anonymizers: list[ResolvedAnonymizer], attackers: list[ResolvedAttacker]) -> Iterator[str]:
    """An attacker who undoes needs a method that can be undone; where only some can, the others are noted."""
    changing = [one for one in anonymizers if one.kind != "none"]
    for who in attackers:
        why = [who.not_played(one) for one in changing]
        if changing and all(why):
            yield f"attackers: {who.label}: has nothing to undo: {why[0]}; leave the attacker out"


def _metric_problems(study: Study, attackers: list[ResolvedAttacker]) -> Iterator[str]:
    """Unknown metrics, metrics without their listener or attacker, and what each family says itself."""
    known: list[str] = []
    own: list[str] = []
    wrong: list[str] = []
    observed = observed_metrics(study)
    for name in study.metrics:
        metrics, problems = tried(lambda name=name: expand_metrics((name,), observed=observed))  # type: ignore[misc]
        wrong += problems
        known += metrics or []
        own += [name] if ":" in name and not problems else []
    yield from wrong or tried(lambda: expand_metrics(study.metrics, observed=observed))[1]
    for measure in measure_classes(tuple(own)):
        asked = tuple(metric for metric in dict.fromkeys(known) if metric in measure.metrics_in(study))
        if measure.needs == "listener":
            for metric in asked:
                if metric not in observed:
                    fitting = ", ".join(fitting_listeners(metric))
                    yield f"metrics: {metric} needs a listener; add one of them to listeners: {fitting}"
        elif asked and not study.attackers:
            yield from (f"metrics: {metric} needs an attacker; add one to attackers" for metric in asked)
        if asked:
            yield from measure.problems(study, asked, attackers)


def _bound_problems(study: Study) -> Iterator[str]:
    """Bounds on what is not measured would never be kept."""
    asked, problems = tried(lambda: requested_metrics(study))
    if problems:
        return
    groups = metric_groups()
    for number, bound in enumerate(study.bounds, start=1):
        where = f"bounds: number {number}"
        if bound.metric in groups:
            yield f"{where}: '{bound.metric}' is a group; name one of {', '.join(groups[bound.metric])}"
        elif bound.metric not in asked:
            yield f"{where}: {bound.metric} is not measured by this study; {did_you_mean(bound.metric, asked)}"
        known: dict[str, list[Any]] = {
            "corpus": list(study.corpora),
            "anonymizer": list(study.anonymizers),
            "attacker": list(study.attackers),
            "listener": list(study.listener_choices),
            "L": list(study.utterances_per_trial),
        }
        for name, values in known.items():
            value = getattr(bound, name)
            if value is not None and value not in values:
                yield f"{where}: no {name} '{value}' in this study; {did_you_mean(str(value), map(str, values))}"


def _corpus(
    study: Study, label: str, stages: Path, anonymizers: list[ResolvedAnonymizer]
) -> tuple[StudyCorpus | None, list[str]]:
    kept = {one.label: study.anonymizers[one.label] for one in anonymizers}
    if not kept:
        corpus, problems = tried(lambda: study_corpus(label, study, stages=stages))
    else:
        known = replace(study, anonymizers=kept)
        corpus, problems = tried(lambda: read_study_corpus(label, known, anonymizers, stages=stages))
    if corpus is not None and corpus.wanted is not None:
        for model in corpus.wanted.models:
            problems += tried(functools.partial(files_of, model))[1]
    return corpus, problems
