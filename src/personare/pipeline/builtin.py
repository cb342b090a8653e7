"""The studies behind evaluate, attack, infer, listen and demo: a few lines each, run and reported like any other.

All but the last take original speech and the same speech after anonymization, which is *given*: made before, by this
tool or another. What cannot be played on it is left out and noted where nobody asked for it, and refused where somebody
did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from personare.attackers.knowledge import knowledge
from personare.core.errors import ConfigError, did_you_mean
from personare.corpora import read_corpus
from personare.languages import LANGUAGES
from personare.pipeline.attack_sets import (
    LEVELS,
    PLAIN,
    AttackSet,
    comparison_set,
    plain_set,
    quick_set,
    strongest_set,
    word_set,
)
from personare.pipeline.given import read_study_corpus
from personare.pipeline.given_choice import GivenSpeechChoice
from personare.pipeline.measures.utility import FOR_ANY_LANGUAGE
from personare.pipeline.per_language import per_language
from personare.pipeline.resolve import resolve_anonymizers
from personare.pipeline.roles import TRIAL
from personare.pipeline.study import ORIGINAL, AttackerChoice, CorpusChoice, ListenerChoice, Study
from personare.pipeline.study_listener import StudyListener
from personare.pipeline.word_sources import has_recognizer, no_words, readers_to_train_on

ATTACKERS = tuple(level.value for level in LEVELS)
UTTERANCES_PER_TRIAL = (1, 3)
METRICS = ("eer", "linkability")


def evaluation(
    speech: GivenSpeechChoice,
    *,
    attackers: Sequence[str | AttackerChoice] | Mapping[str, AttackerChoice] | None = None,
    only_possible: bool = False,
    embedder: str | None = None,
    quick: bool = False,
    utterances_per_trial: Sequence[int] = UTTERANCES_PER_TRIAL,
    metrics: Sequence[str] = METRICS,
    seed: int = 1,
    clips: int = 3,
) -> Study:
    """Who can still be recognised, by whom, how often?

    Where nobody names attackers or an embedder, the strongest set is played, or with ``quick`` a plain one; and where
    the corpus has texts, somebody reads the words.
    ``only_possible`` leaves out, and notes, attackers who cannot be played on this speech; so do the default attackers.
    """
    notes = list(speech.notes)
    if attackers is None:
        usual = _usual(speech, embedder, quick=quick, seed=seed)
        choices = dict(usual.attackers)
        notes += usual.notes
    else:
        choices = _choices(attackers, embedder or PLAIN)
    if only_possible or attackers is None:
        why = {label: speech.cannot(one) for label, one in choices.items()}
        notes += [f"The {label} attacker was not played: {reason}." for label, reason in why.items() if reason]
        choices = {label: choice for label, choice in choices.items() if not why[label]}
    return Study(
        title="How well are these voices hidden?",
        corpora=speech.corpus(),
        anonymizers={ORIGINAL: {}, speech.label: speech.settings},
        attackers=choices,
        metrics=tuple(metrics),
        utterances_per_trial=tuple(utterances_per_trial),
        skip_impossible=True,
        seed=seed,
        clips=clips,
        notes=" ".join(notes),
    )


def _usual(speech: GivenSpeechChoice, embedder: str | None, *, quick: bool, seed: int) -> AttackSet:
    """Choose who attacks where nobody is named: by voice, and, where somebody wrote down what is said, by words."""
    if embedder is not None:
        return plain_set(embedder)
    study = Study("who is attacked", speech.corpus(), {speech.label: speech.settings}, seed=seed, skip_impossible=True)
    study = per_language(study, stages=Path())
    (anonymizer,) = resolve_anonymizers(study, Path.cwd())
    read = [read_study_corpus(label, study, [anonymizer], stages=Path()) for label in study.corpora]
    # of several languages the smallest decides: everybody is attacked in the same way
    corpus = min(read, key=lambda one: len(one.enrolled & one.tested))
    voice = quick_set()
    if not quick:
        voice = strongest_set(
            attacked=len(corpus.enrolled & corpus.tested),
            learnt_from=int((corpus.counts("train") >= 2).sum()),
            invertible=not anonymizer.not_invertible(),
        )
    words = word_set(why_not=no_words(corpus.frame), learnt_from=readers_to_train_on(corpus.frame))
    return AttackSet({**voice.attackers, **words.attackers}, (*voice.notes, *words.notes))


def comparison(
    original: Path,
    anonymizers: Mapping[str, Mapping[str, Any]],
    *,
    attacked: int,
    listeners: Sequence[str] = ("moonshine", "dnsmos"),
    seed: int = 1,
    notes: Sequence[str] = (),
) -> Study:
    """Which of these methods hides best, and what does each cost in words and quality?

    ``anonymizers`` are methods with their parameters, by label, as in a study file; ``attacked`` is how many people
    there are: an attacker who learns from the others of them takes part where they are enough. ``notes`` come first.
    """
    listening = listener_choices(listeners, {})
    frame = read_corpus(original).corpus.frame.with_columns(pl.lit(TRIAL).alias("role"))
    played = comparison_set(attacked=attacked)
    reading = word_set(why_not="" if has_recognizer(listening) else no_words(frame))
    return Study(
        title="Which method hides these voices, and at what price?",
        corpora={original.resolve().stem: CorpusChoice(path=original.resolve(), one_sided="drop")},
        anonymizers={ORIGINAL: {}, **anonymizers},
        attackers={**played.attackers, **reading.attackers},
        listeners=listening,
        metrics=METRICS,
        utterances_per_trial=UTTERANCES_PER_TRIAL,
        skip_impossible=True,
        seed=seed,
        notes=" ".join((*notes, *played.notes, *reading.notes)),
    )


def inference(speech: GivenSpeechChoice, *, attributes: Sequence[str], embedder: str = "ecapa", seed: int = 1) -> Study:
    """What do anonymized voices still tell about people?"""
    return Study(
        title="What do these voices still tell about people?",
        corpora=speech.corpus("trial"),
        anonymizers={speech.label: speech.settings},
        attackers=_choices(["informed"], embedder),
        metrics=("inference",),
        attributes=tuple(attributes),
        seed=seed,
        clips=0,
    )


def listening(
    speech: GivenSpeechChoice, *, listeners: Mapping[str, ListenerChoice], by: str | None = None, seed: int = 1
) -> Study:
    """What is left of words, F0 and quality?"""
    return Study(
        title="What is left of the speech?",
        corpora=speech.corpus("trial"),
        anonymizers={ORIGINAL: {}, speech.label: speech.settings},
        listeners=dict(listeners),
        metrics=(),
        by=by,
        skip_impossible=True,
        seed=seed,
        clips=0,
        notes=" ".join(speech.notes),
    )


def usual_listeners(languages: Sequence[str]) -> tuple[str, ...]:
    """Name the listeners for speech in these languages (none: not stated) where nobody names any."""
    return (recognizer_for(languages), "pitch", "pesq", "stoi", "estoi", "dnsmos")


def recognizer_for(languages: Sequence[str]) -> str:
    """Name the recognizer that listens to speech in these languages: one that methods do not use there."""
    if set(languages) <= {"en"}:
        return "moonshine"
    used = {LANGUAGES[code].recognizer for code in languages if code in LANGUAGES}
    return next((name for name in FOR_ANY_LANGUAGE if name not in used), FOR_ANY_LANGUAGE[-1])


def listener_choices(names: Sequence[str], parameters: Mapping[str, Mapping[str, Any]]) -> dict[str, ListenerChoice]:
    """Name listeners as a study does: by themselves; ``parameters`` of a listener nobody named are refused."""
    if not names:
        raise ConfigError("no listener is named; name one, e.g. moonshine")
    kinds = {name: name.partition(":")[0] for name in names}
    for name in parameters:
        if name not in kinds and name not in kinds.values():
            raise ConfigError(f"a parameter is set for '{name}', which does not listen; {did_you_mean(name, names)}")
    choices = {
        name: ListenerChoice(name, parameters=dict(parameters.get(name, parameters.get(kind, {}))))
        for name, kind in kinds.items()
    }
    for name, choice in choices.items():
        if StudyListener(name, choice).trained_by_study:
            argument = StudyListener(name, choice).declared.argument
            raise ConfigError(f"listener '{name}' needs a {argument} of your own; write {name}:{str(argument).upper()}")
    return choices


def _choices(
    attackers: Sequence[str | AttackerChoice] | Mapping[str, AttackerChoice], embedder: str
) -> dict[str, AttackerChoice]:
    if isinstance(attackers, Mapping):
        return dict(attackers)
    choices = [AttackerChoice(one, embedder=embedder) if isinstance(one, str) else one for one in attackers]
    labels = [knowledge(one.knowledge).value for one in choices]
    if len(set(labels)) < len(labels):
        raise ConfigError("two attackers have the same knowledge; give them labels of their own, as in a study")
    return dict(zip(labels, choices, strict=True))
