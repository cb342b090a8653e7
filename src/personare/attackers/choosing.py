"""How much a learning attacker trusts few teachers: settings of the back-end, chosen by the training speakers alone.

The training speakers are dealt into folds. Each fold is attacked in turn by a back-end fitted on the others
(first half of every speaker's utterances enrolled, second half tested), and the settings that tell held-out speakers
apart best over all folds are taken. Speakers of the trials play no part: ``TrainingVectors`` cannot hold them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from personare.attackers.backend import Backend
from personare.core.speakers import unit_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.attackers.split import TrainingVectors

SHRINKAGES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
DIMENSIONS = (0, 40, 80)
FOLDS = 4
FEWEST = 16  # with fewer speakers a fold says next to nothing, and the settings stay as they are


def candidates(start: Backend) -> list[Backend]:
    """All settings that are tried; how vectors are compared stays as in ``start``."""
    return [replace(start, lda=lda, shrinkage=share) for lda in DIMENSIONS for share in SHRINKAGES]


def choose_backend(training: TrainingVectors, *, start: Backend | None = None, folds: int = FOLDS) -> Backend:
    """Choose LDA's dimensions and the shrinkage; ``start`` is kept where there are too few speakers to choose by."""
    start = start or Backend()
    if len(_held_out(training)) < FEWEST:
        return start
    return max(table(training, candidates(start), folds=folds), key=lambda row: row[1])[0]


def table(training: TrainingVectors, tried: Sequence[Backend], *, folds: int = FOLDS) -> list[tuple[Backend, float]]:
    """Give for every setting how often a held-out speaker's own voice beats a stranger's, mean over the folds."""
    groups = [_held_out(training)[i::folds] for i in range(folds)]
    everyone = np.arange(len(training.names))
    parts = [(training.of(np.setdiff1d(everyone, group)), training.of(group)) for group in groups]
    return [
        (backend, float(np.mean([_apart(backend, fitted_on, held_out) for fitted_on, held_out in parts])))
        for backend in tried
    ]


def _held_out(training: TrainingVectors) -> NDArray[np.int64]:
    """Speakers with two utterances or more: the others can be trained on, but not enrolled and tested."""
    return np.flatnonzero(np.bincount(training.speaker) > 1)


def _apart(backend: Backend, fitted_on: TrainingVectors, held_out: TrainingVectors) -> float:
    """Attack the held-out speakers; the share of (own, stranger) pairs of scores in the right order."""
    counts = np.bincount(held_out.speaker)
    order = np.argsort(held_out.speaker, kind="stable")
    place = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    known = order[place < np.repeat(counts // 2, counts)]
    unknown = order[place >= np.repeat(counts // 2, counts)]
    rows, who = unit_rows(held_out.vectors), held_out.speaker
    enroll = np.stack([rows[known][who[known] == s].mean(0) for s in range(len(counts))])
    scores = np.asarray(backend.fit(fitted_on)(held_out.vectors[unknown], enroll))
    target = who[unknown][:, None] == np.arange(len(counts))
    return _area(scores[target], scores[~target])


def _area(targets: NDArray[np.floating], nontargets: NDArray[np.floating]) -> float:
    """Area under the ROC: ties count half."""
    below, upto = (np.searchsorted(np.sort(nontargets), targets, side=side).sum() for side in ("left", "right"))
    return float((below + upto) / 2 / (len(targets) * len(nontargets)))
