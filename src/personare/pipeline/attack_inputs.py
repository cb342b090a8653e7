"""The files an attack is made of: vectors of enrolment, trial and training speech, and how each was anonymized.

They can be sent to any process; opened, they become a ``Split``, which refuses an attack that shares speakers with its
training, utterances between enrolment and trial, or pseudo-speakers between two keys; a study cannot get around it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from personare.attackers.attack import Attack, Attacker, attack, attack_in_folds
from personare.attackers.folds import all_draws
from personare.attackers.scoring import enrolled_for_cosine
from personare.attackers.split import Anonymization, EmbeddedSpeech, Split
from personare.attackers.trained import trained_on
from personare.core.embedding_files import read_embeddings
from personare.core.errors import MetricError
from personare.core.fingerprint import SystemIdentity
from personare.core.seeding import Key, rng_for
from personare.core.tables import Embeddings
from personare.core.vectors import speaker_means
from personare.engine import Engine, Serial
from personare.metrics.privacy.conversations import conversations
from personare.pipeline.gallery_parts import nontargets_by_engine

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEARNT_AT_ONCE = 16


@dataclass(frozen=True)
class VectorFile:
    """Vectors in a file, and how that speech was anonymized: (system, token of the draw), or None."""

    path: Path
    anonymization: tuple[SystemIdentity, str] | None = None

    def read(self) -> EmbeddedSpeech:
        """Read them; there is no file where nothing could be embedded."""
        if not self.path.is_file():
            raise MetricError("none of the speech could be embedded; see failures.tsv")
        return EmbeddedSpeech(
            read_embeddings(self.path), None if self.anonymization is None else Anonymization(*self.anonymization)
        )


@dataclass(frozen=True)
class AttackInputs:
    """One attack's speech and attacker, ready to be sent to any process.

    Parameters
    ----------
    enroll : one file per draw of the attacker's own pseudo-speakers; none where nothing is enrolled.
    training : what is learnt from, one file per draw; training_original : the same before it was anonymized (aligned
        attackers).
    spare : for attackers in folds, the enrolment speech as it is learnt from, one file per draw.
    calibration : enrolment and trial of other people, on which scores become log-likelihood ratios.
    seed : draws which utterances are heard together.
    """

    attacker: Attacker
    enroll: tuple[VectorFile, ...]
    trial: VectorFile
    training: tuple[VectorFile, ...] = ()
    training_original: VectorFile | None = None
    spare: tuple[VectorFile, ...] = ()
    calibration: tuple[tuple[VectorFile, ...], VectorFile] | None = None
    seed: int = 1

    def split(self) -> Split:
        """Give the attack's speech, checked for leaks."""
        return self._split(self.enroll, self.trial)

    def played(self) -> PlayedAttack:
        """Let the attacker learn."""
        return PlayedAttack(_learnt(replace(self, seed=0), self._state()), self.seed)

    def _state(self) -> tuple[int, ...]:
        """When its files were written: an attack that was learnt from others is not taken for this one."""
        files = [*self.enroll, self.trial, *self.training, *self.spare]
        files += [self.training_original] if self.training_original else []
        return tuple(file.path.stat().st_mtime_ns if file.path.is_file() else 0 for file in files)

    def _attack(self) -> Attack:
        if self.attacker.folds:
            return self._in_folds()
        other = self._split(*self.calibration) if self.calibration is not None else None
        return attack(self.attacker, self.split(), calibration=other)

    def _in_folds(self) -> Attack:
        other = None
        if self.calibration is not None:
            other = (mean_of_draws([file.read() for file in self.calibration[0]]), self.calibration[1].read())
        return attack_in_folds(
            self.attacker,
            mean_of_draws([file.read() for file in self.enroll]),
            self.trial.read(),
            [file.read() for file in self.spare],
            training=self._training(),
            embedder_trained_on=trained_on(self.attacker.embedder),
            calibration=other,
        )

    def _training(self) -> EmbeddedSpeech | None:
        return all_draws([file.read() for file in self.training]) if self.training else None

    def _split(self, enroll: tuple[VectorFile, ...], trial: VectorFile) -> Split:
        heard, level = trial.read(), self.attacker.knowledge
        training = self._training()
        original = self.training_original.read() if self.training_original else None
        trained = trained_on(self.attacker.embedder) if level.trial == "anonymized" else None
        first = mean_of_draws([file.read() for file in enroll]) if enroll else _nothing(heard, level.enroll)
        return Split(level, first, heard, training, original, embedder_trained_on=trained)


@lru_cache(maxsize=LEARNT_AT_ONCE)
def _learnt(inputs: AttackInputs, _state: tuple[int, ...]) -> Attack:
    """Let an attacker learn once for all that is measured on the attack in this process."""
    return inputs._attack()


@dataclass(frozen=True, eq=False)
class PlayedAttack:
    """An attack and the tests it is measured on: which utterances go together is drawn once for all attackers.

    ``engine`` counts in large galleries; this process if None.
    """

    attack: Attack
    seed: int
    engine: Engine | None = None

    def tests(self, length: int) -> Embeddings:
        """Give the trial speech as tests of ``length`` utterances."""
        return tests_of(self.attack.trial, length, rng=rng_for(Key.from_seed(self.seed), "tests", str(length)))

    def calibration_tests(self, length: int) -> Embeddings:
        """The same of the people who set the scale."""
        assert self.attack.calibration is not None
        rng = rng_for(Key.from_seed(self.seed), "calibration tests", str(length))
        return tests_of(self.attack.calibration[1], length, rng=rng)

    @cached_property
    def gallery(self) -> Embeddings:
        """The enrolled speakers."""
        return self.attack.gallery

    @cached_property
    def linked_gallery(self) -> Embeddings:
        """The enrolled speakers as linkability compares with them; by cosine, vectors may have any length."""
        return enrolled_for_cosine(self.attack.enroll) if self.attack.by_cosine else self.gallery

    def nontargets_above(self, tests: Embeddings) -> NDArray[np.int64]:
        """Count for each test the enrolled nontargets whose cosine is at least that of its own speaker [t]."""
        return nontargets_by_engine(tests, self.linked_gallery, engine=self.engine or Serial())


def tests_of(trial: Embeddings, length: int, *, rng: np.random.Generator) -> Embeddings:
    """Give every utterance (L = 1), or the means of disjoint random groups of ``length`` utterances of one speaker."""
    ordered = trial.sorted()
    if length == 1:
        return ordered
    made = conversations(ordered.vectors, np.array(ordered.speakers), length=length, rng=rng)
    names = tuple(str(name) for name in made.speakers.tolist())
    return Embeddings(tuple(f"{who} test {i}" for i, who in enumerate(names)), names, made.vectors)


def mean_of_draws(draws: list[EmbeddedSpeech]) -> EmbeddedSpeech:
    """Give the mean of every utterance over several draws, each scaled to length 1; one draw stays as it is."""
    if len(draws) == 1 or draws[0].anonymization is None:
        return draws[0]
    parts = [draw.embeddings for draw in draws]
    owner = {name: who for part in parts for name, who in zip(part.ids, part.speakers, strict=True)}
    means = speaker_means(np.concatenate([part.vectors for part in parts]), [name for p in parts for name in p.ids])
    names = tuple(means.speakers.tolist())
    more = tuple(draw.anonymization.draw for draw in draws[1:] if draw.anonymization is not None)
    anonymization = Anonymization(draws[0].anonymization.system, draws[0].anonymization.draw, more)
    return EmbeddedSpeech(Embeddings(names, tuple(owner[name] for name in names), means.vectors), anonymization)


def _nothing(trial: EmbeddedSpeech, kind: str) -> EmbeddedSpeech:
    """Enrol nobody, as original or anonymized as the attacker's knowledge says."""
    empty = Embeddings((), (), np.zeros((0, trial.embeddings.vectors.shape[1]), np.float32))
    return EmbeddedSpeech(
        empty,
        Anonymization(trial.anonymization.system, "nothing") if kind == "anonymized" and trial.anonymization else None,
    )
