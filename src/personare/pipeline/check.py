"""Before hours of work: everything that is wrong with a study, one clear line each, found without doing any of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from personare.attackers.knowledge import Knowledge
from personare.core.errors import PersonareError, did_you_mean
from personare.core.weights import files_of
from personare.pipeline.check_speech import speech_notes, speech_problems
from personare.pipeline.hearing import ready
from personare.pipeline.recipe import rehearse
from personare.pipeline.resolve import Assault, Hiding, assaults, hiding_of
from personare.pipeline.speech import Speech, speech_of
from personare.pipeline.study import ORIGINAL, Study
from personare.pipeline.study_listener import study_listeners
from personare.pipeline.wishes import FAMILIES, GROUPS, NEED_LLRS, expanded, given_by, listeners_giving, wanted

BY_ATTACKERS = ("detection", "link", "single", "ranks", "inference", "similarity")


@dataclass(frozen=True)
class Checked:
    """What is impossible, and what a reader should know; nothing impossible means that the study can run."""

    problems: tuple[str, ...]
    notes: tuple[str, ...]


def check_study(study: Study, stages: Path, *, home: Path) -> Checked:
    """Look at everything a study names; ``stages`` is where invented voices would lie, ``home`` the study's folder."""
    ways, faults = _ways(study, home)
    foes, more = _foes(study, ways)
    faults += more
    faults += _metric_faults(study, foes)
    faults += _listener_faults(study, ways, home)
    faults += _bound_faults(study)
    notes: list[str] = []
    for label in study.corpora:
        speech, more = _speech(study, label, stages)
        faults += [f"corpora: {label}: {line}" for line in more]
        if speech is not None:
            faults += [f"corpora: {label}: {line}" for line in speech_problems(study, speech, ways, foes)]
            notes += [f"corpora: {label}: {line}" for line in speech_notes(study, speech)]
    return Checked(tuple(dict.fromkeys(faults)), tuple(dict.fromkeys(notes)))


def _tried(work: Callable[[], Any], where: str = "") -> tuple[Any, list[str]]:
    """Call, and give the result or the one line that says why not."""
    try:
        return work(), []
    except PersonareError as error:
        line = str(error)
        return None, [line if not where or line.startswith(where) else f"{where}: {line}"]


def _ways(study: Study, home: Path) -> tuple[list[Hiding], list[str]]:
    """Make every anonymizer, and let it hide a moment of noise: missing extras and files show now."""
    ways: list[Hiding] = []
    faults: list[str] = []
    for label, given in study.anonymizers.items():
        where = f"anonymizers: {label}"
        way, more = _tried(lambda label=label, given=given: hiding_of(label, given or {}, home), where)  # type: ignore[misc]
        faults += more
        if way is None:
            continue
        if way.kind == "sound":
            faults += _tried(lambda way=way: rehearse(way.recipe), where)[1]  # type: ignore[misc]
        ways.append(way)
    return ways, faults


def _foes(study: Study, ways: list[Hiding]) -> tuple[list[Assault], list[str]]:
    """Make every attacker, one by one, and see whether its ear is there."""
    foes: list[Assault] = []
    faults: list[str] = []
    for label, choice in study.attackers.items():
        one = Study(study.title, study.corpora, study.anonymizers, {label: choice})
        found, more = _tried(lambda one=one: assaults(one, ways))  # type: ignore[misc]
        faults += more
        foes += found or []
        faults += _tried(lambda choice=choice: ready(choice.embedder), f"attackers: {label}")[1]  # type: ignore[misc]
    if all(way.kind != "none" for way in ways):
        faults += [
            f"attackers: {foe.label}: attacks unprotected speech; add 'original: {{}}' to anonymizers"
            for foe in foes
            if foe.knowledge is Knowledge.ORIGINAL
        ]
    return foes, faults


def _metric_faults(study: Study, foes: list[Assault]) -> Iterator[str]:
    """Unknown metrics, metrics without their listener or attacker."""
    known: list[str] = []
    for name in study.metrics:
        found, faults = _tried(lambda name=name: expanded((name,)))  # type: ignore[misc]
        yield from faults
        known += found or []
    given = {metric for choice in study.listener_choices.values() for metric in given_by(choice)}
    for metric in dict.fromkeys(known):
        if metric in FAMILIES["utility"] and metric not in given:
            fitting = ", ".join(listeners_giving(metric))
            yield f"metrics: {metric} needs a listener; add one of them to listeners: {fitting}"
        elif any(metric in FAMILIES[family] for family in BY_ATTACKERS) and not study.attackers:
            yield f"metrics: {metric} needs an attacker; add one to attackers"
    if "population_linkability" in known and not study.populations:
        yield "metrics: population_linkability needs populations, e.g. populations: [10000, 1000000]"
    for family in ("single", "ranks"):
        asked = set(known) & set(FAMILIES[family])
        if asked and foes and all(foe.scorer == "plda" or foe.choice.as_norm for foe in foes):
            yield f"metrics: {min(asked)} compares by cosine; every attacker here has another scorer"
    if "risk_over_control" in known and not any(foe.knowledge.needs_training for foe in foes):
        yield "metrics: inference needs an attacker who learns (informed, semi-informed or aligned)"
    yield from _llr_faults(study, foes, known)


def _llr_faults(study: Study, foes: list[Assault], known: list[str]) -> Iterator[str]:
    """Cllr judges log-likelihood ratios: PLDA gives them, everything else must be calibrated on other people."""
    asked = [metric for metric in known if metric in NEED_LLRS]
    raw = [foe.label for foe in foes if foe.scorer != "plda" or foe.choice.as_norm]
    for label, choice in study.corpora.items() if asked and raw else ():
        if not choice.calibration and not (choice.parts and choice.parts.calibration):
            need = f"{asked[0]} needs log-likelihood ratios, and attacker '{raw[0]}' gives plain scores"
            yield f"corpora: {label}: {need}; set speakers aside with calibration, or use scorer: plda"


def _listener_faults(study: Study, ways: list[Hiding], home: Path) -> Iterator[str]:
    """Unknown listeners, missing extras and models, recognizers that cannot be trained, metrics nobody gives."""
    labels = [ORIGINAL, *(way.label for way in ways if way.kind == "sound")]
    gives: dict[str, tuple[str, ...]] = {}
    for listener in study_listeners(study, home):
        where, choice = f"listeners: {listener.label}", listener.choice
        trained, faults = _tried(lambda one=listener: one.trained_by_study, where)  # type: ignore[misc]
        if trained:
            from personare.listeners import ctc_settings
            from personare.pipeline.jobs.train_recognizer import check_extras

            faults += _tried(check_extras, where)[1]
            faults += _tried(lambda choice=choice: ctc_settings.chosen(choice.config), where)[1]  # type: ignore[misc]
            if choice.trained_on not in labels:
                faults.append(f"{where}: trained_on '{choice.trained_on}'; {did_you_mean(choice.trained_on, labels)}")
        elif not faults:
            faults += _tried(lambda one=listener: one.made().check(), where)[1]  # type: ignore[misc]
        yield from faults
        if not faults:
            gives[listener.label] = listener.made().metrics
    yield from _setting_faults(study, gives)


def _setting_faults(study: Study, gives: dict[str, tuple[str, ...]]) -> Iterator[str]:
    """A listener may give a metric in general, and not as it is set here: a model of values has no recall."""
    for label, metrics in gives.items():
        for metric in given_by(study.listener_choices[label]):
            if metric in study.metrics and not any(metric in others for others in gives.values()):
                yield f"listeners: {label}: gives {', '.join(metrics)} as it is set, not {metric}"


def _bound_faults(study: Study) -> Iterator[str]:
    """Bounds on what is not measured would never be kept."""
    asked, faults = _tried(lambda: wanted(study))
    if faults:
        return
    for number, bound in enumerate(study.bounds, start=1):
        where = f"bounds: number {number}"
        if bound.metric in GROUPS:
            yield f"{where}: '{bound.metric}' is a group; name one of {', '.join(GROUPS[bound.metric])}"
        elif bound.metric not in asked:
            yield f"{where}: {bound.metric} is not measured by this study; {did_you_mean(bound.metric, asked)}"
        known: dict[str, list[Any]] = {
            "corpus": list(study.corpora),
            "anonymizer": list(study.anonymizers),
            "attacker": list(study.attackers),
            "listener": list(study.listener_choices),
            "L": list(study.conversations),
        }
        for name, values in known.items():
            value = getattr(bound, name)
            if value is not None and value not in values:
                yield f"{where}: no {name} '{value}' in this study; {did_you_mean(str(value), map(str, values))}"


def _speech(study: Study, label: str, stages: Path) -> tuple[Speech | None, list[str]]:
    speech, faults = _tried(lambda: speech_of(label, study, stages=stages))
    if speech is not None and speech.wanted is not None:
        faults += _tried(lambda: files_of("kokoro"))[1]
    return speech, faults
