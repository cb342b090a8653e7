"""Is there enough speech? Utterances for the asked L, people for the asked N, training speech for those who learn."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from personare.attackers.trained import refuse_teachers
from personare.core.errors import PersonareError
from personare.listeners import ctc_settings
from personare.listeners.words import TEXT
from personare.metrics.privacy.population import FEWEST_ENROLLED
from personare.pipeline.resolve import Assault, Hiding
from personare.pipeline.roles import CALIBRATION, ENROLMENT, TRAIN, TRIAL, one_sided
from personare.pipeline.speech import Speech
from personare.pipeline.study import Study
from personare.pipeline.study_listener import StudyListener, study_listeners
from personare.pipeline.wishes import FAMILIES, expanded
from personare.pseudospeakers import pseudospeaker

LEAST_LEARNT_FROM = 2


def speech_problems(study: Study, speech: Speech, ways: list[Hiding], foes: list[Assault]) -> Iterator[str]:
    """Name everything that cannot be measured on this speech."""
    yield from (problem.line for problem in speech.problems)
    enrolled, tested = (set(speech.of(role)["speaker"]) for role in (ENROLMENT, TRIAL))
    if len(enrolled & tested) < 2:
        yield f"{len(enrolled & tested)} speakers are enrolled and tested; an attack needs at least 2 of them"
        return
    yield from _one_sided(study, speech)
    if not study.possible_only:
        yield from (*_lengths(study, speech), *_people(study, speech))
    elif not any((_counts(speech, TRIAL) >= length).sum() >= 2 for length in study.conversations):
        yield from _lengths(study, speech)
    if "similarity" in _asked(study) and _counts(speech, TRIAL).max() < 2:
        yield "metrics: deid and g_vd compare two trial utterances of a speaker; nobody has two; give more utterances"
    yield from _training(speech, ways, foes)
    yield from _teaching(study, speech)
    yield from _overlaps(speech)
    if "inference" in _asked(study):
        yield from _attributes(study, speech)
    for foe in foes:
        try:
            refuse_teachers(foe.choice.embedder, enrolled | tested)
        except PersonareError as error:
            yield f"attacker '{foe.label}': {error}"


def _one_sided(study: Study, speech: Speech) -> Iterator[str]:
    if study.corpora[speech.label].keeps_one_sided:
        return
    only_enrolled, only_tested = one_sided(speech.frame)
    for names, words in ((only_enrolled, "enrolled but never tested"), (only_tested, "tested but never enrolled")):
        if names:
            some = "1 speaker is" if len(names) == 1 else f"{len(names)} speakers are"
            yield f"{some} {words} (first: '{names[0]}'); give both sides speech, or keep them with one_sided: keep"


def _counts(speech: Speech, role: str) -> NDArray[np.int64]:
    """Count the utterances of every speaker in a role."""
    return speech.of(role)["speaker"].value_counts()["count"].to_numpy().astype(np.int64)


def _asked(study: Study) -> set[str]:
    """Name the families of the metrics that exist; the others are named by another check."""
    names: set[str] = set()
    for metric in study.metrics:
        with contextlib.suppress(PersonareError):
            names |= set(expanded((metric,)))
    return {family for family, metrics in FAMILIES.items() if names & set(metrics)}


def _lengths(study: Study, speech: Speech) -> Iterator[str]:
    """Every asked L needs two people with so many trial utterances; Singling Out needs twice as many, at one L."""
    asked = _asked(study)
    trial = _counts(speech, TRIAL)
    for length in study.conversations:
        if asked & {"detection", "link"} and (trial >= length).sum() < 2:
            most = f"the most trial utterances of a speaker are {trial.max()}"
            yield f"conversations: L = {length} is impossible, {most}; ask for less or give more utterances"
    if "single" in asked:
        role = ENROLMENT if speech.swapped else TRIAL
        crowd, least = _counts(speech, role), min(study.conversations)
        if (crowd >= 2 * least).sum() < 2:
            need = f"Singling Out at L = {least} needs {2 * least} {role} utterances of at least 2 speakers"
            yield f"conversations: {need}; the most are {crowd.max()}"


def _people(study: Study, speech: Speech) -> Iterator[str]:
    """Every asked N needs so many people: enrolled for linkability, in the crowd for Singling Out."""
    asked, most = _asked(study), max(study.people, default=0)
    enrolled = speech.of(ENROLMENT)["speaker"].n_unique()
    if "link" in asked and most > enrolled:
        yield f"people: N = {most} is impossible for linkability, {enrolled} speakers are enrolled"
    if "single" in asked and study.people:
        role = ENROLMENT if speech.swapped else TRIAL
        crowd = int((_counts(speech, role) >= 2 * min(study.conversations)).sum())
        if most > crowd:
            need = f"{crowd} speakers have two conversations of L = {min(study.conversations)}"
            yield f"people: N = {most} is impossible for Singling Out, {need}"
    smaller = [n for n in study.populations if n <= enrolled]
    if smaller:
        yield f"populations: {smaller[0]} is no more than the {enrolled} enrolled speakers; measure it with people"
    if study.populations and "population_linkability" in expanded(study.metrics) and enrolled < FEWEST_ENROLLED:
        yield f"populations: a forecast needs at least {FEWEST_ENROLLED} enrolled speakers, there are {enrolled}"


def _training(speech: Speech, ways: list[Hiding], foes: list[Assault]) -> Iterator[str]:
    """Whoever learns needs speech of other people."""
    learners = speech.of(TRAIN)["speaker"].n_unique()
    give = "name a part with parts: {train: ...}, or set speakers aside with train: NUMBER"
    if learners < LEAST_LEARNT_FROM:
        for foe in foes:
            if foe.learns:
                what = f"attacker '{foe.label}' ({foe.knowledge.value}, {foe.scorer}) learns from training speech"
                yield f"{what}, and there are {learners} train speakers; {give}"
        for way in ways:
            if way.kind == "vectors":
                yield f"anonymizer '{way.label}' learns voices from training speech, and there is none; {give}"
        return
    yield from _pools(speech, ways)


def _teaching(study: Study, speech: Speech) -> Iterator[str]:
    """A recognizer that the study trains needs speech with text, of enough people to hold some out."""
    learners = speech.of(TRAIN)["speaker"].n_unique()
    for listener in _made(study):
        if not listener.trained_by_study:
            continue
        where = f"listener '{listener.label}' is trained on the train part"
        if "text" not in speech.frame.columns:
            yield f"{where}, and nobody wrote down what was said there"
        with contextlib.suppress(PersonareError):  # settings that cannot be read are named by another check
            need = ctc_settings.chosen(listener.choice.config).held_out.speakers + LEAST_LEARNT_FROM
            if learners < need:
                yield f"{where}: {need} speakers are needed (held-out ones included), there are {learners}"


def _made(study: Study) -> Iterator[StudyListener]:
    """Give the listeners that can be made; the others are named by another check."""
    for listener in study_listeners(study):
        with contextlib.suppress(PersonareError):
            listener.made()
            yield listener


def _pools(speech: Speech, ways: list[Hiding]) -> Iterator[str]:
    """A generator needs so many voices of each gender."""
    people = speech.of(TRAIN).unique("speaker")
    genders = people["gender"] if "gender" in people.columns else people["speaker"].replace_strict({}, default="")
    fewest = int(genders.value_counts()["count"].min() or 0)  # type: ignore[arg-type]
    for way in ways:
        if way.kind != "vectors":
            continue
        need = getattr(pseudospeaker(way.recipe.method, **way.recipe.parameters), "fewest", 0) or 0
        if need > fewest:
            yield f"anonymizer '{way.label}' needs {need} train speakers of each gender, there are {fewest}"


def _attributes(study: Study, speech: Speech) -> Iterator[str]:
    """What is guessed must be noted for the attacked, and have two values among those who are learnt from."""
    for name in study.attributes:
        try:
            known = speech.attribute(name)
        except PersonareError as error:
            yield f"attributes: {error}"
            continue
        taught = {known.get(who) for who in speech.of(TRAIN)["speaker"]} - {None, ""}
        attacked = {who for who in speech.of(TRIAL)["speaker"] if known.get(who)}
        if len(taught) < 2:
            yield f"attributes: {name} needs two values among the train speakers, there are {len(taught)}"
        if len(attacked) < 2:
            yield f"attributes: {name} is noted for {len(attacked)} of the tested speakers; at least 2 are needed"


def _overlaps(speech: Speech) -> Iterator[str]:
    """Nobody who is attacked may be learnt from."""
    attacked = set(speech.of(ENROLMENT)["speaker"]) | set(speech.of(TRIAL)["speaker"])
    for role, words in ((TRAIN, "train"), (CALIBRATION[0], "calibration")):
        both = sorted(attacked & set(speech.of(role)["speaker"]))
        if both:
            yield f"{len(both)} attacked speakers are also in the {words} part (first: '{both[0]}'); leave them out"


def speech_notes(study: Study, speech: Speech) -> Iterator[str]:
    """Say who is left out of what, and what numbers will rest on."""
    yield from speech.notes
    if study.possible_only:
        yield from (f"left out: {line}" for line in (*_lengths(study, speech), *_people(study, speech)))
    trial = _counts(speech, TRIAL)
    for length in study.conversations:
        short = int((trial < length).sum())
        if short and (trial >= length).sum() >= 2:
            yield f"L = {length}: {short} of {len(trial)} speakers have fewer trial utterances and are left out of it"
    if "single" in _asked(study):
        role = ENROLMENT if speech.swapped else TRIAL
        crowd = _counts(speech, role)
        for length in study.conversations:
            if (crowd >= 2 * length).sum() < 2 and length > min(study.conversations):
                yield f"Singling Out is not measured at L = {length}: nobody has {2 * length} {role} utterances"
    words = any(TEXT in listener.made().columns for listener in _made(study))
    if words and "text" not in speech.frame.columns:
        yield "nobody wrote down what was said: words heard in the original are the reference"
