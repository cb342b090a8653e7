"""How much a learning attacker trusts few training speakers: settings of the back-end, chosen by those speakers alone.

The training speakers are dealt into folds. Each fold is attacked in turn by a back-end that has learnt from the others
(first half of every speaker's utterances enrolled, second half tested), and the settings that tell held-out speakers
apart best over all folds are taken. Speakers of the trials play no part: ``TrainingVectors`` cannot hold them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from personare.attackers.backend import Backend, BackendFits
from personare.core.vectors import speaker_means

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.attackers.split import TrainingVectors

    Fold = tuple[TrainingVectors, TrainingVectors, NDArray[np.intp], NDArray[np.intp]]

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
    if len(_judges(training)) < FEWEST:
        return start
    return max(table(training, candidates(start), folds=folds), key=lambda row: row[1])[0]


def deal_folds(training: TrainingVectors, *, folds: int = FOLDS) -> list[Fold]:
    """Deal the speakers: (what the others teach, those who are held out, rows enrolled, rows tested) of each fold.

    Nothing where some fold would have fewer than two speakers.
    """
    judges = _judges(training)
    if len(judges) < 2 * folds:
        return []
    everyone = np.arange(len(training.names))
    dealt = []
    for start in range(folds):
        group = judges[start::folds]
        judging = training.of(group)
        dealt.append((training.of(np.setdiff1d(everyone, group)), judging, *_halves(judging)))
    return dealt


def held_out_trials(training: TrainingVectors, *, folds: int = FOLDS) -> list[NDArray[np.bool_]]:
    """Give for each fold which of its trials, [tests, enrolled], are of one speaker."""
    return [
        judging.speaker[unknown][:, None] == np.arange(len(judging.names))
        for _, judging, _, unknown in deal_folds(training, folds=folds)
    ]


def table(training: TrainingVectors, tried: Sequence[Backend], *, folds: int = FOLDS) -> list[tuple[Backend, float]]:
    """Give for every setting how often a held-out speaker's own voice beats a stranger's, mean over the folds."""
    groups = [_judges(training)[i::folds] for i in range(folds)]
    everyone = np.arange(len(training.names))
    parts = [(training.of(np.setdiff1d(everyone, group)), training.of(group)) for group in groups]
    shared = [BackendFits(learnt) for learnt, _ in parts]
    return [
        (backend, float(np.mean([_apart(backend, *part, fits) for part, fits in zip(parts, shared, strict=True)])))
        for backend in tried
    ]


def _judges(training: TrainingVectors) -> NDArray[np.int64]:
    """Speakers with two utterances or more: the others can be learnt from, but not enrolled and tested."""
    named = np.arange(len(training.ids)) if training.utterance is None else training.utterance
    pairs = np.unique(np.stack([training.speaker, named]), axis=1)
    return np.flatnonzero(np.bincount(pairs[0], minlength=len(training.names)) > 1)


def _apart(backend: Backend, learnt: TrainingVectors, judging: TrainingVectors, fits: BackendFits) -> float:
    """Attack the held-out speakers; the share of (own, stranger) pairs of scores in the right order."""
    known, unknown = _halves(judging)
    who = judging.speaker
    enroll = speaker_means(judging.vectors[known], who[known]).vectors
    scores = np.asarray(backend.fit(learnt, fits=fits)(judging.vectors[unknown], enroll))
    target = who[unknown][:, None] == np.arange(len(judging.names))
    return area(scores[target], scores[~target])


def _halves(judging: TrainingVectors) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows that are enrolled and rows that are tested: half of every speaker's utterances, with all their draws."""
    order = np.argsort(judging.speaker, kind="stable")
    named = order if judging.utterance is None else judging.utterance[order]
    first_seen = np.unique(named, return_index=True, return_inverse=True)
    ranks = np.argsort(np.argsort(first_seen[1]))[first_seen[2].reshape(-1)]  # utterances in the order of their rows
    owner = judging.speaker[order]
    starts = np.full(len(judging.names), len(order))
    np.minimum.at(starts, owner, ranks)
    counts = np.zeros(len(judging.names), np.int64)
    np.maximum.at(counts, owner, ranks + 1)
    first = ranks - starts[owner] < ((counts - starts) // 2)[owner]
    return order[first], order[~first]


def area(targets: NDArray[np.floating], nontargets: NDArray[np.floating]) -> float:
    """Area under the ROC: ties count half."""
    below, upto = (np.searchsorted(np.sort(nontargets), targets, side=side).sum() for side in ("left", "right"))
    return float((below + upto) / 2 / (len(targets) * len(nontargets)))
