"""Fair play: who may be learnt from and who is attacked, checked so that a dishonest attack cannot be built.

An attacker who has trained on the very speakers of the trials, who enrols the very utterances they are tested on, or
whose enrolment shares its pseudo-speakers with the trials, gives numbers that mean nothing. Back-ends are fitted from
``TrainingVectors``, which come out of a ``Split`` only, and a Split that mixes speakers cannot be made.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from personare.attackers.knowledge import Knowledge
from personare.core.errors import LeakError
from personare.core.fingerprint import SystemIdentity
from personare.core.speakers import refuse_overlap
from personare.core.tables import Embeddings

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SEAL = object()


@dataclass(frozen=True)
class Anonymization:
    """How speech was anonymized: by which system, and which drawing of pseudo-speakers (a public mark of its key).

    ``draw`` is a token of the key, never the key: equal tokens mean equal pseudo-speakers. ``more`` are the tokens of
    further drawings, where every utterance was disguised several times and heard as the mean.
    """

    system: SystemIdentity
    draw: str
    more: tuple[str, ...] = ()

    def shares(self, other: Anonymization | None) -> bool:
        """Whether both have pseudo-speakers in common."""
        if other is None or self.system != other.system:
            return False
        return not {self.draw, *self.more}.isdisjoint({other.draw, *other.more})


@dataclass(frozen=True, eq=False)
class EmbeddedSpeech:
    """Vectors of speech, and how that speech was disguised (None: not at all).

    ``utterances`` names the utterance of every vector, where one was anonymized several times; else ids do.
    """

    embeddings: Embeddings
    anonymization: Anonymization | None = None
    utterances: tuple[str, ...] = ()

    @property
    def speakers(self) -> frozenset[str]:
        """Everyone who speaks."""
        return frozenset(self.embeddings.speakers)


@dataclass(frozen=True, eq=False)
class TrainingVectors:
    """Vectors [n, d] an attacker may learn from, with speakers as numbers; made by ``Split`` only.

    ``utterance`` numbers the utterances, of which some may be there several times, anonymized anew. ``widths`` and
    ``part_names`` say of which embedders a fused vector is made; one by itself has none.
    """

    vectors: NDArray[np.float32]
    speaker: NDArray[np.int64]
    names: tuple[str, ...]
    ids: tuple[str, ...]
    seal: object = field(repr=False, default=None)
    utterance: NDArray[np.int64] | None = None
    widths: tuple[int, ...] = ()
    part_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.seal is not _SEAL:
            raise LeakError("training vectors are taken from a Split, which proves that no trial speaker is among them")

    def of(self, speakers: NDArray[np.int64]) -> TrainingVectors:
        """Give the vectors of some of the speakers, renumbered, e.g. to hold the others out."""
        rows = np.isin(self.speaker, speakers)
        kept, codes = np.unique(self.speaker[rows], return_inverse=True)
        ids = tuple(np.array(self.ids, dtype=str)[rows].tolist())
        names = tuple(self.names[k] for k in kept)
        utterance = None if self.utterance is None else self.utterance[rows]
        speaker = codes.reshape(-1)
        return replace(self, vectors=self.vectors[rows], speaker=speaker, names=names, ids=ids, utterance=utterance)


def together(one: TrainingVectors, two: TrainingVectors) -> TrainingVectors:
    """Join two versions of the same speech: each utterance is there twice, and counts as one."""
    names = tuple(sorted({*one.names, *two.names}))
    number = {name: i for i, name in enumerate(names)}
    ids = {name: i for i, name in enumerate(dict.fromkeys((*one.ids, *two.ids)))}
    return replace(
        one,
        vectors=np.concatenate([one.vectors, two.vectors]),
        speaker=np.array([number[side.names[k]] for side in (one, two) for k in side.speaker], np.int64),
        names=names,
        ids=(*one.ids, *(f"{name} original" for name in two.ids)),
        utterance=np.array([ids[name] for name in (*one.ids, *two.ids)], np.int64),
    )


@dataclass(frozen=True, eq=False)
class Split:
    """One attack's speech: enrolment, trial, and what the attacker has learnt from (None: nothing new).

    ``original`` is the training speech before it was anonymized, for attackers who learn what the anonymization does.
    ``embedder_trained_on`` is the system whose anonymized speech the embedder was trained on (None: original speech).

    Checked when made: no trial or enrolled speaker in training, no utterance both enrolled and tested, enrolment and
    trial drawn with different pseudo-speakers, and every part as original or anonymized as the knowledge says.
    """

    knowledge: Knowledge
    enroll: EmbeddedSpeech
    test: EmbeddedSpeech
    training: EmbeddedSpeech | None = None
    original: EmbeddedSpeech | None = None
    embedder_trained_on: SystemIdentity | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        _check_speakers(self)
        _check_utterances(self)
        _check_anonymization(self)
        _check_embedder(self)
        _check_training(self)

    def training_vectors(self) -> TrainingVectors:
        """Give the vectors to learn from."""
        return self._vectors(self.training, "training")

    def original_training_vectors(self) -> TrainingVectors:
        """Give the vectors of the training speech before it was anonymized."""
        return self._vectors(self.original, "original training")

    def _vectors(self, heard: EmbeddedSpeech | None, what: str) -> TrainingVectors:
        if heard is None:
            raise LeakError(f"the {self.knowledge.value} attack has no {what} speech; give it some to learn from")
        given = heard.embeddings
        names, codes = np.unique(np.array(given.speakers, dtype=str), return_inverse=True)
        utterance = None
        if heard.utterances:
            utterance = np.unique(np.array(heard.utterances, dtype=str), return_inverse=True)[1].reshape(-1)
        return TrainingVectors(given.vectors, codes.reshape(-1), tuple(names.tolist()), given.ids, _SEAL, utterance)


def _check_speakers(split: Split) -> None:
    for heard in (split.training, split.original):
        if heard is not None:
            refuse_overlap(heard.speakers, split.enroll.speakers | split.test.speakers)


def _check_utterances(split: Split) -> None:
    both = sorted({*split.enroll.embeddings.ids} & {*split.test.embeddings.ids})
    if both:
        rule = "an attacker must not be tested on what they enrolled"
        raise LeakError(f"{len(both)} utterances are both enrolled and tested (first: '{both[0]}'); {rule}")


def _check_anonymization(split: Split) -> None:
    for name, heard, wanted in (
        ("enrolment", split.enroll, split.knowledge.enroll),
        ("trial", split.test, split.knowledge.trial),
    ):
        found = "original" if heard.anonymization is None else "anonymized"
        if found != wanted:
            raise LeakError(f"the {split.knowledge.value} attack needs {wanted} {name} speech, this is {found}")
    enroll, test = split.enroll.anonymization, split.test.anonymization
    if enroll is None or test is None:
        return
    if enroll.system != test.system:
        rule = "is anonymized by the same system, of the same version and with the same models, as the trials"
        raise LeakError(f"enrolment speech {rule} ('{test.system}'), this one is not ('{enroll.system}')")
    if enroll.shares(test):
        raise LeakError("enrolment and trial speech share their pseudo-speakers; anonymize them with different keys")


def _check_embedder(split: Split) -> None:
    """An embedder trained on anonymized speech is knowledge too: the attack must be called by what it knows."""
    level, trial = split.knowledge, split.test.anonymization
    if split.embedder_trained_on is None:
        return
    if not level.needs_training:
        found = f"this one was trained on speech anonymized by '{split.embedder_trained_on}'"
        raise LeakError(
            f"the {level.value} attack needs an embedder trained on original speech, {found}: it is informed"
        )
    if trial is not None:
        _check_system(level, split.embedder_trained_on, trial.system)


def _check_system(level: Knowledge, trained_on: SystemIdentity, attacked: SystemIdentity) -> None:
    same = trained_on == attacked
    if same != (level.trained_on == "same system"):
        wanted = "another system than" if same else "the same system as"
        raise LeakError(f"the {level.value} attack learns from {wanted} the trials' ('{attacked}'), not '{trained_on}'")


def _check_training(split: Split) -> None:
    level, training = split.knowledge, split.training
    if split.original is not None and split.original.anonymization is not None:
        raise LeakError("the training speech given as original is anonymized; give it as training")
    if training is None:
        if level.needs_training and split.embedder_trained_on is None:
            raise LeakError(f"the {level.value} attack must learn from anonymized speech; give it training speech")
        return
    trial = split.test.anonymization
    if level.trained_on == "original" and training.anonymization is not None:
        raise LeakError(f"the {level.value} attack learns from original speech only, this training is anonymized")
    if level.needs_training and training.anonymization is None:
        raise LeakError(f"the {level.value} attack learns from anonymized speech, this training is original")
    if training.anonymization is None or trial is None:
        return
    _check_system(level, training.anonymization.system, trial.system)
    if training.anonymization.shares(trial):
        raise LeakError("training and trial speech share their pseudo-speakers; anonymize them with different keys")
