"""What anonymization costs listeners who put voices together, and whether that depends on who listens and who speaks.

difference of an evaluator = value of the control trial - mean value of the anonymized trials
                                                                            [tomashenko2022voiceprivacy, sec. 4.2.3]
mean +- standard error s / sqrt(n) of a group of evaluators; two groups by t-test         [ibid., Figure 18]
effects of system, native language, gender of the speakers and their interactions: F, p,
partial eta^2 = SS_effect / (SS_effect + SS_residual)                                     [ibid., sec. 4.2.3]

Deviations: the paper says neither which sums of squares nor which t-test it took. Here an effect is what the model with
all effects explains more than the model without this one (type III, sum-to-zero coding), and t-tests are Student's,
with one variance for both groups, as the analysis of variance has it. Of several control trials the mean is taken.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import MetricCard

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


def _card(name: str, title: str, reading: str, better: Any) -> MetricCard:
    return MetricCard(
        name=name,
        title=title,
        better=better,
        bounds=(-math.inf, math.inf) if name.startswith("classification") else (-1.0, 1.0),
        chance=None,
        cite="tomashenko2022voiceprivacy, sec. 4.2.3",
        reading=reading,
        caution="one control trial of each evaluator: some of it is luck of the draw; compare only within one panel",
    )


PURITY_CARD = _card(
    "purity_difference",
    "Clustering purity lost (people)",
    "how much purer the clusters of original speech are than those with anonymized speech, for the same evaluator",
    "higher",
)
F1_CARD = _card(
    "clustering_f1_difference",
    "F1 of clustering lost (people)",
    "how much higher F1 is on original speech than with anonymized speech, for the same evaluator",
    "higher",
)
CHANGE_CARD = _card(
    "classification_change_difference",
    "Classification change, original less anonymized (people)",
    "how much more often evaluators changed their mind about original speech; below 0: more often about anonymized",
    "lower",
)


@dataclass(frozen=True)
class GroupMean:
    """The mean of a group, its standard error (NaN for one value), and how many there are."""

    mean: float
    error: float
    n: int


@dataclass(frozen=True)
class Effect:
    """What one factor or interaction explains: F with its degrees of freedom, p, and partial eta squared."""

    name: str
    f: float
    df: int
    residual_df: int
    p: float
    eta2: float


def differences(values: ArrayLike, *, control: ArrayLike, evaluators: ArrayLike) -> dict[Any, float]:
    """Give the difference of every evaluator who has both kinds of trials.

    >>> differences([1.0, 0.5, 0.7, 0.9], control=[True, False, False, True], evaluators=["p", "p", "p", "q"])
    {'p': 0.4}
    """
    v, c, who = np.asarray(values, dtype=np.float64), np.asarray(control, dtype=bool), np.asarray(evaluators)
    if v.ndim != 1 or not v.shape == c.shape == who.shape:
        raise MetricError(f"each value needs one kind of trial and one evaluator: {v.shape}, {c.shape}, {who.shape}")
    found = {}
    for one in dict.fromkeys(who.tolist()):
        mine = who == one
        if (mine & c).any() and (mine & ~c).any():
            found[one] = float(v[mine & c].mean() - v[mine & ~c].mean())
    return found


def group_mean(values: ArrayLike) -> GroupMean:
    """Average a group.

    >>> group_mean([1.0, 2.0, 3.0])
    GroupMean(mean=2.0, error=0.5773502691896258, n=3)
    """
    v = np.asarray(values, dtype=np.float64)
    if v.ndim != 1 or not len(v):
        raise MetricError("a group needs at least one value")
    error = float(v.std(ddof=1) / math.sqrt(len(v))) if len(v) > 1 else math.nan
    return GroupMean(float(v.mean()), error, len(v))


def t_test(first: ArrayLike, second: ArrayLike) -> float:
    """Give the two-sided p of Student's t-test; NaN where both groups together have fewer than three values.

    >>> round(t_test([1.0, 2.0, 3.0], [3.0, 4.0, 5.0]), 4)
    0.0705
    """
    from scipy.stats import t as student

    a, b = group_mean(first), group_mean(second)
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    left = a.n + b.n - 2
    if left < 1:
        return math.nan
    variance = float(((x - a.mean) ** 2).sum() + ((y - b.mean) ** 2).sum()) / left
    if variance == 0:
        return 1.0 if a.mean == b.mean else 0.0
    statistic = (a.mean - b.mean) / math.sqrt(variance * (1 / a.n + 1 / b.n))
    return float(2 * student.sf(abs(statistic), left))


def effects(values: ArrayLike, factors: Mapping[str, Sequence[Any]]) -> tuple[Effect, ...]:
    """Analyze the variance of values by factors and all their interactions; () where the groups do not allow it.

    Factors with a single level are left out. Every combination of levels must be there, and more values than these.
    """
    from scipy.stats import f as fisher

    v = np.asarray(values, dtype=np.float64)
    used = {name: np.asarray(given) for name, given in factors.items() if len(set(given)) > 1}
    if any(len(given) != len(v) for given in used.values()):
        raise MetricError("each value needs one level of every factor")
    coded = {name: _sum_to_zero(given) for name, given in used.items()}
    terms: dict[tuple[str, ...], Floats] = {(): np.ones((len(v), 1))}
    for size in range(1, len(used) + 1):
        for names in itertools.combinations(used, size):
            terms[names] = _products([coded[name] for name in names])
    whole = np.hstack(list(terms.values()))
    left = len(v) - whole.shape[1]
    if not used or left < 1 or np.linalg.matrix_rank(whole) < whole.shape[1]:
        return ()
    residual = _residual(whole, v)
    found = []
    for names, columns in terms.items():
        if names:
            rest = np.hstack([other for key, other in terms.items() if key != names])
            explained, df = max(0.0, _residual(rest, v) - residual), columns.shape[1]
            if explained + residual <= 0:
                continue
            f = math.inf if residual == 0 else explained / df / (residual / left)
            p = float(fisher.sf(f, df, left))
            found.append(Effect(" x ".join(names), f, df, left, p, explained / (explained + residual)))
    return tuple(found)


def _sum_to_zero(given: NDArray[Any]) -> Floats:
    """One column for each level but the last, which has -1 in all of them."""
    levels, at = np.unique(given, return_inverse=True)
    coding = np.vstack([np.eye(len(levels) - 1), -np.ones(len(levels) - 1)])
    columns: Floats = coding[at]
    return columns


def _products(parts: Sequence[Floats]) -> Floats:
    made = parts[0]
    for part in parts[1:]:
        made = (made[:, :, None] * part[:, None, :]).reshape(len(made), -1)
    return made


def _residual(columns: Floats, values: Floats) -> float:
    """Sum the squares that the columns do not explain; what rounding leaves of nothing is nothing."""
    weights = np.linalg.lstsq(columns, values, rcond=None)[0]
    squares = float(((values - columns @ weights) ** 2).sum())
    return 0.0 if squares < 1e-20 * max(1.0, float((values**2).sum())) else squares
