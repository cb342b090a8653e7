"""Learning from the attacked corpus itself, honestly: nobody is ever compared by a model that has heard them.

The attacked speakers are dealt into folds. For every two folds there is one model, learnt from the enrolment speech of
all other folds (anonymized by the attacker, each utterance anew) and from what other speech there is. It compares the
people of these two folds with each other. Two people of one fold are compared by every model that has heard neither
that fold nor one other, and the mean counts. Each model is made through a ``Split``, which refuses what would leak.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.attackers.scoring import Scorer, refuse_fitted
from personare.attackers.split import Anonymization, EmbeddedSpeech
from personare.core.errors import ConfigError
from personare.core.seeding import Key, rng_for
from personare.core.tables import Embeddings

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEWEST_SPEAKERS = 16  # of the attacked corpus, from which it is worth learning from itself
FOLDS = 4
_DEALT_BY = 31  # chooses who shares a fold with whom


@dataclass(frozen=True, eq=False)
class FoldedScorer:
    """Compares people by the models that have heard neither of them; ``fold_of`` says who is in which fold."""

    fold_of: Mapping[str, int]
    models: Mapping[tuple[int, int], Scorer]

    def __call__(self, test: NDArray[np.float32], enroll: NDArray[np.float32]) -> NDArray[Any]:
        """Refuse: without knowing who speaks nobody can tell which model may compare them."""
        del test, enroll
        raise ConfigError("an attack in folds compares people, not bare vectors; call attack.scores(tests)")

    def scores(self, test: Embeddings, enroll: Embeddings) -> NDArray[np.float64]:
        """Compare every test [n] with every enrolled [m]: [n, m]; people of no fold by the mean of all models."""
        matrix = np.zeros((len(test.ids), len(enroll.ids)))
        rows, columns = (np.array([self.fold_of.get(who, -1) for who in side.speakers]) for side in (test, enroll))
        for i, j in itertools.product(np.unique(rows).tolist(), np.unique(columns).tolist()):
            some, others = np.flatnonzero(rows == i), np.flatnonzero(columns == j)
            models = list(self._models(i, j))
            for model in models:
                refuse_fitted(model, {*(test.speakers[k] for k in some), *(enroll.speakers[k] for k in others)})
                block = np.asarray(model(test.vectors[some], enroll.vectors[others]), np.float64)
                matrix[np.ix_(some, others)] += block / len(models)
        return matrix

    def _models(self, one: int, two: int) -> Iterator[Scorer]:
        """Give the models that have heard neither of two folds."""
        for pair, model in self.models.items():
            if {one, two} - {-1} <= set(pair):
                yield model


def deal_speakers(speakers: Sequence[str], folds: int) -> dict[str, int]:
    """Deal speakers into folds of equal size, in an order that no name decides."""
    names = sorted(set(speakers))
    order = rng_for(Key.from_seed(_DEALT_BY), "folds").permutation(len(names))
    return {names[place]: turn % folds for turn, place in enumerate(order.tolist())}


def fold_pairs(folds: int) -> list[tuple[int, int]]:
    """Every two different folds."""
    return list(itertools.combinations(range(folds), 2))


def only(speech: EmbeddedSpeech, speakers: set[str]) -> EmbeddedSpeech:
    """Keep some speakers."""
    rows = [i for i, who in enumerate(speech.embeddings.speakers) if who in speakers]
    utterances = tuple(speech.utterances[i] for i in rows) if speech.utterances else ()
    return EmbeddedSpeech(speech.embeddings.rows(rows), speech.anonymization, utterances)


def all_draws(draws: Sequence[EmbeddedSpeech]) -> EmbeddedSpeech:
    """Put several draws of the same or of different utterances together, every vector by itself."""
    if len(draws) == 1:
        return draws[0]
    parts = [draw.embeddings for draw in draws]
    seen: dict[str, int] = {}
    ids, utterances = [], []
    for draw in draws:
        named = draw.utterances or draw.embeddings.ids
        for utterance in named:
            seen[utterance] = seen.get(utterance, 0) + 1
            ids.append(utterance if seen[utterance] == 1 else f"{utterance} draw {seen[utterance]}")
            utterances.append(utterance)
    speakers = tuple(who for part in parts for who in part.speakers)
    together = Embeddings(tuple(ids), speakers, np.concatenate([part.vectors for part in parts]))
    return EmbeddedSpeech(together, _together([draw.anonymization for draw in draws]), tuple(utterances))


def _together(draws: Sequence[Anonymization | None]) -> Anonymization | None:
    known = [draw for draw in draws if draw is not None]
    if not known:
        return None
    if len(known) < len(draws) or len({draw.system for draw in known}) > 1:
        raise ConfigError("draws of one speech must all be anonymized by one system")
    tokens = dict.fromkeys(token for draw in known for token in (draw.draw, *draw.more))
    first, *more = tokens
    return Anonymization(known[0].system, first, tuple(more))
