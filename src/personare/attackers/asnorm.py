"""AS-norm: a score counts for how far it stands out from what other speakers score against the same two voices.

s' = 1/2 ((s - mu_e) / sd_e + (s - mu_t) / sd_t), with mu and sd over the ``top`` speakers of a cohort that score
highest against the enrolled voice e and the test voice t                                   [matejka2017analysis]
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.attackers.scoring import FittedOnSpeakers, Scorer
from personare.core.errors import ConfigError
from personare.core.speakers import refuse_overlap
from personare.core.vectors import cosine

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEAST_SPREAD = 1e-6


@dataclass(frozen=True, eq=False)
class AsNorm:
    """A Scorer on top of another one.

    Parameters
    ----------
    cohort : one vector per speaker of the cohort [c, d].
    names : who the cohort's speakers are; they must not be speakers of the trials.
    top : how many of the cohort's highest scores are used.
    """

    cohort: NDArray[np.float32]
    names: tuple[str, ...]
    top: int = 200
    scorer: Scorer = cosine

    def __post_init__(self) -> None:
        if self.cohort.ndim != 2 or len(self.cohort) < 2:
            raise ConfigError(f"a cohort needs at least 2 vectors [c, d], not {list(self.cohort.shape)}")
        if len(self.names) != len(self.cohort):
            raise ConfigError(f"{len(self.names)} names do not fit a cohort of {len(self.cohort)} vectors")
        if self.top < 2:
            raise ConfigError(f"top must be at least 2, not {self.top}")

    def check(self, attacked: Iterable[str]) -> None:
        """Refuse speakers that the scorer below has learnt from, or that are in the cohort."""
        refuse_overlap(self.names, attacked)
        if isinstance(self.scorer, FittedOnSpeakers):
            self.scorer.check(attacked)

    def __call__(self, test: NDArray[np.float32], enroll: NDArray[np.float32]) -> NDArray[Any]:
        """Score every pair: [n, m]."""
        raw = np.asarray(self.scorer(test, enroll), np.float64)
        t_mean, t_spread = self._cohort_statistics(np.asarray(self.scorer(test, self.cohort)))
        e_mean, e_spread = self._cohort_statistics(np.asarray(self.scorer(self.cohort, enroll)).T)
        normed: NDArray[Any] = 0.5 * ((raw - e_mean) / e_spread + (raw - t_mean[:, None]) / t_spread[:, None])
        return normed

    def _cohort_statistics(self, scores: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and spread of the highest scores of every row."""
        top = min(self.top, scores.shape[1])
        best = np.partition(scores.astype(np.float64), scores.shape[1] - top, axis=1)[:, -top:]
        return best.mean(1), np.maximum(best.std(1), _LEAST_SPREAD)
