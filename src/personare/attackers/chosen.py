"""The strongest back-end that training speakers can choose: for every embedder by itself, then for all together.

Each part of a fusion (``fused``) gets the way of comparing that tells held-out training speakers apart best: plain
cosine, LDA with WCCN and cosine, or LDA with WCCN and PLDA, with or without AS-norm, for several dimensions and
shrinkages. The parts' scores of held-out speakers then teach a logistic regression how to add them up, so that the sum
is a log-likelihood ratio [brummer2006application]; a part alone is taken where it does as well as the sum. Speakers of
the trials play no part in any of it: ``TrainingVectors`` cannot hold them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from personare.attackers.asnorm import AsNorm
from personare.attackers.backend import Backend, BackendFits
from personare.attackers.choosing import FOLDS, area, deal_folds, held_out_trials
from personare.attackers.combining import Combination, combine
from personare.attackers.scoring import Scorer
from personare.attackers.split import TrainingVectors
from personare.core.errors import ConfigError
from personare.core.speakers import refuse_overlap
from personare.core.vectors import cosine, speaker_means, unit_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

DIMENSIONS = (0, 30, 60, 120)  # kept by LDA; 0: none
SHRINKAGES = (0.1, 0.4, 0.8)
WHOLE = 64  # vectors of more numbers are compared by PLDA after LDA only: without it is slow, and no better
COHORT = 100  # speakers whose scores AS-norm looks at
QUICK_ITERATIONS = 5  # of PLDA while settings are compared


@dataclass(frozen=True)
class Comparison:
    """One way to compare vectors of one embedder: a back-end (None: plain cosine), with or without AS-norm."""

    backend: Backend | None
    as_norm: bool = False

    def fit(self, training: TrainingVectors, *, fits: BackendFits | None = None) -> Scorer:
        """Learn it; ``fits`` of the same training know what other comparisons have learnt already."""
        fitted: Scorer = cosine if self.backend is None else self.backend.fit(training, fits=fits)
        if not self.as_norm:
            return fitted
        cohort = speaker_means(training.vectors, training.speaker)
        return AsNorm(cohort.vectors, training.names, COHORT, fitted)

    def __str__(self) -> str:
        if self.backend is None:
            how = "cosine"
        else:
            lda = f"LDA {self.backend.lda}, " if self.backend.lda else ""
            how = f"{lda}WCCN, {self.backend.scorer}, shrinkage {self.backend.shrinkage:g}"
        return f"{how}, AS-norm" if self.as_norm else how


@dataclass(frozen=True)
class PartChoice:
    """What training speakers chose for one embedder, how well it tells held-out ones apart, and what it weighs.

    ``area`` is the share of (own, other) pairs of scores in the right order: 1 is perfect, 0.5 guessing.
    """

    embedder: str
    comparison: str
    area: float
    weight: float


@dataclass(frozen=True, eq=False)
class FittedFusion:
    """A Scorer of raw vectors: each part by its own scorer, added up by what held-out speakers taught.

    Parameters
    ----------
    edges : where the parts begin and end in a vector; scorers : how each of them compares (None: not used).
    combination : how scores add up to a log-likelihood ratio.
    area : how well the whole tells held-out training speakers apart; choices : what was chosen for each part.
    """

    edges: tuple[tuple[int, int], ...]
    scorers: tuple[Scorer | None, ...]
    combination: Combination
    trained_on: frozenset[str]
    area: float
    choices: tuple[PartChoice, ...]

    def check(self, attacked: Iterable[str]) -> None:
        """Refuse speakers it has learnt from."""
        refuse_overlap(self.trained_on, attacked)

    def __call__(self, test: NDArray[np.float32], enroll: NDArray[np.float32]) -> NDArray[Any]:
        """Give log-likelihood ratios: every test [n, d] against every enrolled [m, d]."""
        used = [
            np.asarray(scorer(test[:, a:b], enroll[:, a:b]), np.float64)
            for (a, b), scorer in zip(self.edges, self.scorers, strict=True)
            if scorer is not None
        ]
        return self.combination(np.stack(used))


@dataclass(frozen=True)
class ChosenScorer:
    """The comparison that training speakers choose for every embedder of a fusion, and their calibrated sum."""

    learns: ClassVar[bool] = True
    paper: ClassVar[str] = "Brummer and du Preez, Application-independent evaluation of speaker detection, 2006"

    def fit(self, training: TrainingVectors | None, /) -> Scorer:
        """Choose and learn; too few speakers to choose by are an error."""
        if training is None:
            raise ConfigError("the scorer chosen learns from speech of other people, and there is none")
        parts = [_part(training, a, b) for a, b in _edges(training)]
        names = training.part_names or tuple(f"part {i + 1}" for i in range(len(parts)))
        if not deal_folds(training):
            need = f"the scorer chosen needs {2 * FOLDS} training speakers with two utterances or more"
            raise ConfigError(f"{need}; give it more, or use scorer: plda")
        rows = [choose_comparison(part) for part in parts]
        combination = combine([scores for _, scores in rows], held_out_trials(training))
        scorers = tuple(
            chosen.fit(part) if used else None
            for part, (chosen, _), used in zip(parts, rows, combination.used, strict=True)
        )
        choices = tuple(
            PartChoice(name, str(chosen), single, weight)
            for name, (chosen, _), single, weight in zip(
                names, rows, combination.areas, combination.weights, strict=True
            )
        )
        return FittedFusion(
            _edges(training), scorers, combination.of_used(), frozenset(training.names), combination.area, choices
        )


def comparisons(dimensions: int) -> list[Comparison]:
    """All that are tried for vectors of so many dimensions."""
    backends = [
        Backend(lda=lda, shrinkage=share, scorer=scorer, iterations=QUICK_ITERATIONS)
        for lda in DIMENSIONS
        for share in SHRINKAGES
        for scorer in ("plda", "cosine")
        if lda < dimensions and (lda or scorer == "cosine" or dimensions <= WHOLE)
    ]
    return [Comparison(None), *(Comparison(backend) for backend in backends)]


def choose_comparison(training: TrainingVectors) -> tuple[Comparison, list[Floats]]:
    """Choose for one embedder: the comparison, and its scores of each held-out fold (tests by enrolled)."""
    held_out = [HeldOut(*fold) for fold in deal_folds(training)]
    trials = held_out_trials(training)
    tried = [(one, [fold.scores(one) for fold in held_out]) for one in comparisons(training.vectors.shape[1])]
    best = max(tried, key=lambda row: _area_of(row[1], trials))
    normed = replace(best[0], as_norm=True)
    with_norm = (normed, [fold.scores(normed) for fold in held_out])
    chosen, scores = max((best, with_norm), key=lambda row: _area_of(row[1], trials))
    return chosen, scores


class HeldOut:
    """One fold of speakers, attacked by what the others teach; all comparisons share what is learnt alike."""

    def __init__(
        self, learnt: TrainingVectors, judging: TrainingVectors, known: NDArray[np.intp], unknown: NDArray[np.intp]
    ) -> None:
        self._learnt, self._fits = learnt, BackendFits(learnt)
        self._enroll = speaker_means(judging.vectors[known], judging.speaker[known]).vectors
        self._test = judging.vectors[unknown]

    def scores(self, comparison: Comparison) -> Floats:
        """Give the scores [tests, enrolled] of one way to compare."""
        return np.asarray(comparison.fit(self._learnt, fits=self._fits)(self._test, self._enroll), np.float64)


def _area_of(scores: Sequence[Floats], targets: Sequence[NDArray[np.bool_]]) -> float:
    return float(np.mean([area(s[t], s[~t]) for s, t in zip(scores, targets, strict=True)]))


def _edges(training: TrainingVectors) -> tuple[tuple[int, int], ...]:
    widths = training.widths or (training.vectors.shape[1],)
    if sum(widths) != training.vectors.shape[1]:
        raise ConfigError(f"parts of {sum(widths)} numbers do not fit vectors of {training.vectors.shape[1]}")
    ends = np.cumsum(widths).tolist()
    return tuple(zip([0, *ends[:-1]], ends, strict=True))


def _part(training: TrainingVectors, first: int, last: int) -> TrainingVectors:
    return replace(
        training, vectors=unit_rows(training.vectors[:, first:last], dtype=np.float32), widths=(), part_names=()
    )
