"""What an attacker sees: the vectors their knowledge gives them, checked for leaks, after they have learnt.

``attackers.split`` refuses an attack that shares speakers with its training, utterances between enrolment and trial, or
pseudo-voices between the two keys; a study cannot get around it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.attackers.alignment import Alignment
from personare.attackers.attacker import Attacker
from personare.attackers.backend import FittedBackend
from personare.attackers.knowledge import Knowledge
from personare.attackers.scoring import Scorer, cosine, unit_rows
from personare.attackers.split import Disguise, Heard, Split
from personare.attackers.trained import refuse_teachers, taught_by
from personare.core.embedding_files import read_embeddings
from personare.core.errors import ConfigError
from personare.core.tables import Embeddings

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Side:
    """Vectors in a file, and how that speech was disguised, or None."""

    path: Path
    disguise: Disguise | None = None

    def heard(self) -> Heard:
        """Read them."""
        return Heard(read_embeddings(self.path), self.disguise)


@dataclass(frozen=True)
class View:
    """One attack's speech and settings, ready to be sent to any process.

    ``training`` is what is learnt from, ``training_original`` the same before it was hidden (aligned attackers),
    ``calibration`` enrolment and trial of other people, on which scores become log-likelihood ratios.
    """

    knowledge: str
    embedder: str
    scorer: str
    enroll: tuple[Side, ...]
    trial: Side
    training: Side | None = None
    training_original: Side | None = None
    calibration: tuple[tuple[Side, ...], Side] | None = None
    as_norm: int = 0
    alignment: str = "pairs"

    def seen(self) -> Seen:
        """Learn what there is to learn, and give the vectors to compare."""
        split = self.split()
        refuse_teachers(self.embedder, split.enroll.speakers | split.test.speakers)
        attacker = Attacker(
            self.knowledge,
            embedder=self.embedder,
            compare="plda" if self.scorer == "plda" else "cosine",
            as_norm=self.as_norm,
            alignment="pairs" if self.alignment == "pairs" else "no pairs",
        )
        scorer = attacker.scorer(split)
        calibration = None
        if self.calibration is not None:
            other = self._split(*self.calibration)
            calibration = (_turned(scorer, other.enroll, enroll=True), _turned(scorer, other.test, enroll=False))
        return Seen(
            _turned(scorer, split.enroll, enroll=True), _turned(scorer, split.test, enroll=False), scorer, calibration
        )

    def split(self) -> Split:
        """Give the attack's speech, checked for leaks."""
        return self._split(self.enroll, self.trial)

    def _split(self, enroll: tuple[Side, ...], trial: Side) -> Split:
        both = [together([side.heard() for side in enroll]), trial.heard()]
        for name, side in zip(("enrolment", "trial"), both, strict=True):
            if not side.embeddings.ids:
                raise ConfigError(f"no {name} speech could be heard; see failures.tsv")
        training = self.training.heard() if self.training else None
        original = self.training_original.heard() if self.training_original else None
        level = Knowledge(self.knowledge)
        ear = taught_by(self.embedder) if level.trial == "anonymized" else None
        return Split(level, both[0], both[1], training, original, ear=ear)


def together(draws: list[Heard]) -> Heard:
    """Give the mean of every utterance over several disguises, each scaled to length 1; one stays as it is."""
    if len(draws) == 1 or draws[0].disguise is None:
        return draws[0]
    rows: dict[str, list[NDArray[np.float32]]] = {}
    owner: dict[str, str] = {}
    for part in (draw.embeddings for draw in draws):
        owner |= dict(zip(part.ids, part.speakers, strict=True))
        for utterance, vector in zip(part.ids, unit_rows(part.vectors), strict=True):
            rows.setdefault(utterance, []).append(vector)
    means = np.stack([np.mean(rows[name], axis=0) for name in sorted(rows)]).astype(np.float32)
    names = tuple(sorted(rows))
    more = tuple(draw.disguise.draw for draw in draws[1:] if draw.disguise is not None)
    disguise = Disguise(draws[0].disguise.system, draws[0].disguise.draw, more)
    return Heard(Embeddings(names, tuple(owner[name] for name in names), means), disguise)


@dataclass(frozen=True, eq=False)
class Seen:
    """Vectors as the attacker compares them: by cosine where ``by_cosine``, else by ``scorer``."""

    enroll: Embeddings
    trial: Embeddings
    scorer: Scorer
    calibration: tuple[Embeddings, Embeddings] | None = None

    @property
    def by_cosine(self) -> bool:
        """Whether the vectors can be compared by cosine alone, as Singling Out needs."""
        return _is_cosine(self.scorer)

    def scores(self, tests: NDArray[Any], people: NDArray[Any]) -> NDArray[np.float64]:
        """Compare every test [n, d] with every enrolled vector [m, d]."""
        compare = cosine if self.by_cosine else self.scorer
        return np.asarray(compare(tests.astype(np.float32), people.astype(np.float32)), dtype=np.float64)


def _is_cosine(scorer: Any) -> bool:
    return (
        scorer is cosine or isinstance(scorer, Alignment) or (isinstance(scorer, FittedBackend) and scorer.plda is None)
    )


def _turned(scorer: Any, side: Heard, *, enroll: bool) -> Embeddings:
    """Bring vectors into the space in which cosine compares them; others stay as they are."""
    given = side.embeddings
    if isinstance(scorer, Alignment):
        vectors: Any = scorer.original(given.vectors) if enroll else scorer.disguised(given.vectors) @ scorer.turn
    elif isinstance(scorer, FittedBackend) and scorer.plda is None:
        vectors = scorer.turned(given.vectors)
    else:
        return given
    return Embeddings(given.ids, given.speakers, np.asarray(vectors, dtype=np.float32))


def shared_speakers(one: Embeddings, two: Embeddings) -> tuple[Embeddings, Embeddings]:
    """Keep the speakers both sides have: some metrics need everybody on both."""
    both = set(one.speakers) & set(two.speakers)
    return of_speakers(one, both), of_speakers(two, both)


def of_speakers(vectors: Embeddings, speakers: set[str]) -> Embeddings:
    """Keep the vectors of some speakers."""
    rows = [i for i, who in enumerate(vectors.speakers) if who in speakers]
    ids, owners = (tuple(column[i] for i in rows) for column in (vectors.ids, vectors.speakers))
    return Embeddings(ids, owners, vectors.vectors[rows])
