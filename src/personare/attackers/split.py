"""Fair play: who may be learnt from and who is attacked, checked so that a dishonest attack cannot be built.

An attacker who has trained on the very speakers of the trials, who enrols the very utterances they are tested on, or
whose enrolment shares its pseudo-speakers with the trials, gives numbers that mean nothing. Back-ends are fitted from
``Lessons``, Lessons come out of a ``Split`` only, and a Split that mixes speakers cannot be made.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from personare.attackers.knowledge import Knowledge
from personare.core.errors import LeakError
from personare.core.fingerprint import SystemIdentity
from personare.core.tables import Embeddings

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SEAL = object()


@dataclass(frozen=True)
class Disguise:
    """How speech was anonymized: by which system, and which drawing of pseudo-speakers (a public token of its key).

    Systems are the same when their fingerprints are, however they are called.

    ``draw`` is a token of the key, never the key: equal tokens mean equal pseudo-speakers. ``more`` are the tokens of
    further drawings, where every utterance was disguised several times and heard as the mean.
    """

    system: SystemIdentity
    draw: str
    more: tuple[str, ...] = ()

    def shares(self, other: Disguise | None) -> bool:
        """Whether both have pseudo-speakers in common."""
        if other is None or self.system != other.system:
            return False
        return not {self.draw, *self.more}.isdisjoint({other.draw, *other.more})


@dataclass(frozen=True, eq=False)
class Heard:
    """Vectors of speech, and how that speech was disguised (None: not at all)."""

    embeddings: Embeddings
    disguise: Disguise | None = None

    @property
    def speakers(self) -> frozenset[str]:
        """Everyone who speaks."""
        return frozenset(self.embeddings.speakers)


@dataclass(frozen=True, eq=False)
class Lessons:
    """Vectors [n, d] an attacker may learn from, with speakers as numbers; made by ``Split.lessons`` only."""

    vectors: NDArray[np.float32]
    speaker: NDArray[np.int64]
    names: tuple[str, ...]
    ids: tuple[str, ...]
    seal: object = field(repr=False, default=None)

    def __post_init__(self) -> None:
        if self.seal is not _SEAL:
            raise LeakError("lessons are taken from a Split, which proves that no trial speaker is among them")

    def of(self, speakers: NDArray[np.int64]) -> Lessons:
        """Give the lessons of some of the speakers, renumbered, e.g. to hold the others out."""
        rows = np.isin(self.speaker, speakers)
        kept, codes = np.unique(self.speaker[rows], return_inverse=True)
        ids = tuple(np.array(self.ids, dtype=str)[rows].tolist())
        return Lessons(self.vectors[rows], codes.reshape(-1), tuple(self.names[k] for k in kept), ids, self.seal)


@dataclass(frozen=True, eq=False)
class Split:
    """One attack's speech: enrolment, trial, and what the attacker has learnt from (None: nothing new).

    ``original`` is the training speech before it was anonymized, for attackers who learn what the disguise does.
    ``ear`` is the system whose anonymized speech the embedder itself has learnt from (None: original speech only).

    Checked when made: no trial or enrolled speaker in training, no utterance both enrolled and tested, enrolment and
    trial drawn with different pseudo-speakers, and every part as original or anonymized as the knowledge says.
    """

    knowledge: Knowledge
    enroll: Heard
    test: Heard
    training: Heard | None = None
    original: Heard | None = None
    ear: SystemIdentity | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        _check_speakers(self)
        _check_utterances(self)
        _check_disguises(self)
        _check_ear(self)
        _check_training(self)

    def lessons(self) -> Lessons:
        """Give the vectors to learn from."""
        return self._lessons(self.training, "training")

    def original_lessons(self) -> Lessons:
        """Give the vectors of the training speech before it was anonymized."""
        return self._lessons(self.original, "original training")

    def _lessons(self, heard: Heard | None, what: str) -> Lessons:
        if heard is None:
            raise LeakError(f"the {self.knowledge.value} attack has no {what} speech; give it some to learn from")
        given = heard.embeddings
        names, codes = np.unique(np.array(given.speakers, dtype=str), return_inverse=True)
        return Lessons(given.vectors, codes.reshape(-1), tuple(names.tolist()), given.ids, _SEAL)


def refuse_known(learnt_from: Iterable[str], attacked: Iterable[str]) -> None:
    """Refuse an attack on speakers its model has learnt from; fitted models call this before they score."""
    both = sorted({*learnt_from} & {*attacked})
    if both:
        raise LeakError(
            f"{len(both)} trial speakers are also in the attacker's training (first: '{both[0]}'); train on others"
        )


def _check_speakers(split: Split) -> None:
    for heard in (split.training, split.original):
        if heard is not None:
            refuse_known(heard.speakers, split.enroll.speakers | split.test.speakers)


def _check_utterances(split: Split) -> None:
    both = sorted({*split.enroll.embeddings.ids} & {*split.test.embeddings.ids})
    if both:
        rule = "an attacker must not be tested on what they enrolled"
        raise LeakError(f"{len(both)} utterances are both enrolled and tested (first: '{both[0]}'); {rule}")


def _check_disguises(split: Split) -> None:
    for name, heard, wanted in (
        ("enrolment", split.enroll, split.knowledge.enroll),
        ("trial", split.test, split.knowledge.trial),
    ):
        found = "original" if heard.disguise is None else "anonymized"
        if found != wanted:
            raise LeakError(f"the {split.knowledge.value} attack needs {wanted} {name} speech, this is {found}")
    enroll, test = split.enroll.disguise, split.test.disguise
    if enroll is None or test is None:
        return
    if enroll.system != test.system:
        rule = "is anonymized by the same system, of the same version and with the same models, as the trials"
        raise LeakError(f"enrolment speech {rule} ('{test.system}'), this one is not ('{enroll.system}')")
    if enroll.shares(test):
        raise LeakError("enrolment and trial speech share their pseudo-speakers; anonymize them with different keys")


def _check_ear(split: Split) -> None:
    """An ear that learnt from anonymized speech is knowledge too: the attack must be called by what it knows."""
    level, trial = split.knowledge, split.test.disguise
    if split.ear is None:
        return
    if not level.needs_training:
        found = f"this one has learnt from speech hidden by '{split.ear}'"
        raise LeakError(f"the {level.value} attack needs an ear taught by original speech, {found}: it is informed")
    if trial is not None:
        _check_system(level, split.ear, trial.system)


def _check_system(level: Knowledge, learnt: SystemIdentity, attacked: SystemIdentity) -> None:
    same = learnt == attacked
    if same != (level.trained_on == "same system"):
        wanted = "another system than" if same else "the same system as"
        versions = " of another version or with other models" if not same and learnt.name == attacked.name else ""
        raise LeakError(
            f"the {level.value} attack learns from {wanted} the trials' ('{attacked}'), not '{learnt}'{versions}"
        )


def _check_training(split: Split) -> None:
    level, training = split.knowledge, split.training
    if split.original is not None and split.original.disguise is not None:
        raise LeakError("the training speech given as original is anonymized; give it as training")
    if training is None:
        if level.needs_training and split.ear is None:
            raise LeakError(f"the {level.value} attack must learn from anonymized speech; give it training speech")
        return
    trial = split.test.disguise
    if level.trained_on == "original" and training.disguise is not None:
        raise LeakError(f"the {level.value} attack learns from original speech only, this training is anonymized")
    if level.needs_training and training.disguise is None:
        raise LeakError(f"the {level.value} attack learns from anonymized speech, this training is original")
    if training.disguise is None or trial is None:
        return
    _check_system(level, training.disguise.system, trial.system)
    if training.disguise.shares(trial):
        raise LeakError("training and trial speech share their pseudo-speakers; anonymize them with different keys")
