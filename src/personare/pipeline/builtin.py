"""The studies behind evaluate, attack, infer and listen: a few lines each, run and reported like any other.

All of them take original speech and the same speech after anonymization, which is *given*: made before, by this tool or
another. What cannot be played on it is left out and noted where nobody asked for it, and refused where somebody did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from personare.attackers.knowledge import Knowledge, knowledge
from personare.attackers.trained import trained_on
from personare.core.errors import ConfigError, did_you_mean
from personare.core.tables import Corpus
from personare.corpora import read_corpus
from personare.engine import Engine
from personare.pipeline.folder import STAGES
from personare.pipeline.jobs.guess_attributes import with_guesses
from personare.pipeline.resolve import GIVEN, METHOD
from personare.pipeline.study import ORIGINAL, AttackerChoice, CorpusChoice, ListenerChoice, Study
from personare.pipeline.study_listener import StudyListener
from personare.pipeline.system import read_system

ATTACKERS = ("original", "ignorant", "lazy-informed", "informed")
UTTERANCES_PER_TRIAL = (1, 3)
METRICS = ("eer", "linkability")


@dataclass(frozen=True)
class GivenSpeechChoice:
    """Original speech and what it became.

    Parameters
    ----------
    original, anonymized : two corpora; key : what pairs their names, where it is not beside the anonymized one.
    method, parameters, level : how it was made, where the folder does not say.
    train : speech of other people to learn from; own_train : whether the original corpus has a part for that.
    name : what the corpus is called, by its file or folder without; notes : what a reader must know about it.
    """

    original: Path
    anonymized: Path
    key: Path | None = None
    method: str | None = None
    parameters: Mapping[str, Any] | None = None
    level: str = "speaker"
    train: Path | None = None
    own_train: bool = False
    name: str = ""
    notes: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """What the anonymizer is called in tables: by its method where known, else by its folder."""
        if self.method is not None:
            return self.method
        system = read_system(self.anonymized)
        place = self.anonymized.resolve()
        name = system.method if system is not None else place.name if place.is_dir() else place.stem
        return name if name != ORIGINAL else "given"

    @property
    def settings(self) -> dict[str, Any]:
        """The anonymizer, as a study says it."""
        given: dict[str, Any] = {GIVEN: str(self.anonymized.resolve())}
        if self.key is not None:
            given["key"] = str(self.key.resolve())
        if self.method is not None:
            given |= {METHOD: self.method, "level": self.level, **(self.parameters or {})}
        return given

    def corpus(self, split: str = "halves") -> dict[str, CorpusChoice]:
        """The corpus, as a study says it."""
        train = None if self.train is None else self.train.resolve()
        choice = CorpusChoice(path=self.original.resolve(), train_path=train, one_sided="drop")
        name = self.name or self.original.resolve().stem
        if split == "trial":
            choice = replace(choice, split="trial", one_sided="keep")
        return {name or "corpus": choice}

    def cannot(self, level: Knowledge, embedder: str) -> str:
        """Say why an attacker cannot be played on this speech; nothing where they can."""
        system = read_system(self.anonymized) if self.method is None else None
        trained = trained_on(embedder) is not None
        if level.enroll == "anonymized" or level.trained_on == "same system":
            if self.method is None and system is None:
                return "the method is unknown (no anonymization.json in the folder); name it with --method"
            if system is not None and system.recorded and system.version_note:
                return f"the folder was made by {system.version_note}; anonymize it again, or name it with --method"
        if trained and level.trial == "anonymized" and not level.needs_training:
            return "its embedder has learnt from anonymized speech, so that it is informed"
        if level.needs_training and self.train is None and not self.own_train and not trained:
            return "there is no speech of other people to learn from; name it with --train"
        return ""


def given_speech(
    original: Path | Corpus,
    anonymized: Path | Corpus,
    *,
    folder: Path,
    engine: Engine,
    train: Path | Corpus | None = None,
    key: Path | None = None,
    method: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    level: str = "speaker",
    guess: Sequence[str] = (),
) -> GivenSpeechChoice:
    """Name both corpora by path; those in memory, or with guessed columns, are listed in the run ``folder``.

    ``guess`` are attributes (gender, age_group) that are guessed by machine where nobody noted them.
    """
    source = original if isinstance(original, Corpus) else read_corpus(original).corpus
    name = "corpus" if isinstance(original, Corpus) else original.resolve().stem
    parts = set(source.frame["part"].drop_nulls()) if "part" in source.frame.columns else set()
    notes: list[str] = []
    if guess:
        guesses = with_guesses(source.frame, engine=engine, kinds=tuple(guess))
        original = Corpus(guesses.frame)
        notes = guesses.notes
        if guesses.failures:
            notes.append(f"For {len(guesses.failures)} speakers nothing could be guessed: no voice was found in them.")
    return GivenSpeechChoice(
        _listed(original, folder, "original"),
        _listed(anonymized, folder, "anonymized"),
        key,
        method,
        parameters,
        level,
        None if train is None else _listed(train, folder, "train"),
        "train" in parts,
        name,
        tuple(notes),
    )


def _listed(corpus: Path | Corpus, folder: Path, name: str) -> Path:
    if isinstance(corpus, Path):
        return corpus
    place = folder / STAGES / "corpora" / f"{name}.parquet"
    corpus.save(place)
    return place


def evaluation(
    speech: GivenSpeechChoice,
    *,
    attackers: Sequence[str | AttackerChoice] | Mapping[str, AttackerChoice] | None = None,
    only_possible: bool = False,
    embedder: str = "ecapa",
    utterances_per_trial: Sequence[int] = UTTERANCES_PER_TRIAL,
    metrics: Sequence[str] = METRICS,
    seed: int = 1,
    clips: int = 3,
) -> Study:
    """Who can still be recognised, by whom, how often?

    ``only_possible`` leaves out, and notes, attackers who cannot be played on this speech; so do the default attackers.
    """
    choices = _choices(ATTACKERS if attackers is None else attackers, embedder)
    notes = list(speech.notes)
    if only_possible or attackers is None:
        why = {label: speech.cannot(knowledge(one.knowledge), one.embedder) for label, one in choices.items()}
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
