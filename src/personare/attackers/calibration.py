"""From scores to evidence: a straight line fitted on a disjoint set of trials turns scores into log-likelihood ratios.

llr = a s + b, with a and b that minimise Cllr at even odds (logistic regression)              [brummer2006application]
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import ConfigError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.attackers.scoring import TrialScores

_PULL = 1e-6  # towards a = 0 on scaled scores, so that perfectly separated scores have a finite slope


@dataclass(frozen=True)
class Calibration:
    """The line: LLRs (natural logarithm) are ``slope`` * score + ``offset``."""

    slope: float
    offset: float

    def __call__(self, scores: NDArray[Any]) -> NDArray[np.float64]:
        """Give LLRs."""
        llrs: NDArray[np.float64] = self.slope * np.asarray(scores, np.float64) + self.offset
        return llrs


def fit_calibration(targets: NDArray[Any], nontargets: NDArray[Any]) -> Calibration:
    """Fit on scores of trials that are not among those to be judged; both classes weigh the same."""
    from scipy import optimize

    t, n = np.asarray(targets, np.float64), np.asarray(nontargets, np.float64)
    if not len(t) or not len(n):
        raise ConfigError(f"calibration needs target and nontarget scores, not {len(t)} and {len(n)}")
    everything = np.concatenate([t, n])
    if not np.isfinite(everything).all():
        raise ConfigError("calibration needs finite scores")
    centre, scale = everything.mean(), everything.std() or 1.0
    t, n = (t - centre) / scale, (n - centre) / scale

    def cost(line: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        a, b = line
        on_t, on_n = a * t + b, a * n + b
        value = np.logaddexp(0, -on_t).mean() + np.logaddexp(0, on_n).mean() + _PULL * a * a
        pull_t, pull_n = _sigmoid(-on_t), _sigmoid(on_n)
        slope = -(pull_t * t).mean() + (pull_n * n).mean() + 2 * _PULL * a
        return float(value), np.array([slope, -pull_t.mean() + pull_n.mean()])

    a, b = optimize.minimize(cost, np.array([1.0, 0.0]), jac=True, method="BFGS").x
    return Calibration(float(a / scale), float(b - a * centre / scale))


def calibrate_in_folds(trials: TrialScores, *, folds: int = 5) -> NDArray[np.float64] | None:
    """Turn the scores of trials into LLRs, each by a line fitted on trials of other people; None of too few people.

    People are dealt into folds, sorted by name; a trial's line has seen nobody of either speaker's fold. For scores
    that claim to be LLRs already (PLDA: its model is never quite right) where nobody was set aside to calibrate on.
    """
    names, codes = np.unique(np.concatenate([trials.tested, trials.enrolled]), return_inverse=True)
    fold = codes % folds
    one, two = fold[: len(trials)], fold[len(trials) :]
    llrs = np.empty(len(trials))
    for f, g in itertools.combinations_with_replacement(range(min(folds, len(names))), 2):
        mine = ((one == f) & (two == g)) | ((one == g) & (two == f))
        others = ~np.isin(one, (f, g)) & ~np.isin(two, (f, g))
        targets, nontargets = trials.score[others & trials.target], trials.score[others & ~trials.target]
        if not mine.any():
            continue
        if not len(targets) or not len(nontargets):
            return None
        llrs[mine] = fit_calibration(targets, nontargets)(trials.score[mine])
    return llrs


def _sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy import special

    result: NDArray[np.float64] = special.expit(x)
    return result
