"""Undoing the anonymization: the rotation that best maps anonymized vectors back onto original ones, learnt.

Procrustes (pairs known):      R = argmin ||X R - Y||, R orthogonal: R = U V' of the SVD X'Y = U S V'
Wasserstein-Procrustes (not):  R, P = argmin ||X R - P Y||, P a matching; both by turns         [grave2019unsupervised]

X are anonymized and Y original vectors of training speakers; the rotation is then applied to the trials, which are
compared with original enrolment [champion2021evaluating].
Deviations: vectors are scaled to length 1, centred and brought onto the principal axes of each side first. One embedder
gives both sides, so that doing nothing is a good first guess: R may be drawn towards it, by as much as people who were
held out prefer. The second form starts from doing nothing, and from principal axes and Frank-Wolfe on the relaxed
matching where they leave clearly less between held-out vectors.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.attackers.split import Split, TrainingVectors
from personare.core.errors import ConfigError
from personare.core.speakers import refuse_overlap
from personare.core.vectors import cosine, unit_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_RELAXED = 200  # vectors matched by Frank-Wolfe
_RELAXED_STEPS = 60
L2_WEIGHTS = (0.0, 0.5, 2.0, 8.0)  # in units of what one direction weighs among the pairs
UNPAIRED_L2 = 2.0
CLEAR_SHARE = (
    0.7  # a start away from doing nothing must leave less than this share: any rotation can fit the cloud's outline
)
FOLDS = 4


@dataclass(frozen=True, eq=False)
class Space:
    """A side's mean [d] and its principal axes [d, k]."""

    mean: Floats
    axes: Floats

    def __call__(self, vectors: NDArray[Any]) -> Floats:
        """Bring raw vectors [n, d] into the space: [n, k]."""
        coordinates: Floats = (unit_rows(vectors) - self.mean) @ self.axes
        return coordinates


@dataclass(frozen=True, eq=False)
class Alignment:
    """A Scorer that rotations anonymized test vectors to original enrolled ones and gives their cosine."""

    anonymized: Space
    original: Space
    rotation: Floats
    trained_on: frozenset[str]

    def check(self, attacked: Iterable[str]) -> None:
        """Refuse speakers it has learnt from."""
        refuse_overlap(self.trained_on, attacked)

    def __call__(self, test: NDArray[np.float32], enroll: NDArray[np.float32]) -> NDArray[Any]:
        """Compare every anonymized test [n, d] with every original enrolled vector [m, d]."""
        x, y = self.anonymized(test) @ self.rotation, self.original(enroll)
        return cosine(x, y)


def align_pairs(split: Split, *, dimensions: int = 0) -> Alignment:
    """Learn the rotation from utterances known before and after the anonymization; pairs share their id."""
    anonymized, original = split.training_vectors(), split.original_training_vectors()
    position = {name: i for i, name in enumerate(original.ids)}
    pairs = [(i, position[name]) for i, name in enumerate(anonymized.ids) if name in position]
    if len(pairs) < 2:
        raise ConfigError(
            f"alignment needs utterances known before and after the anonymization; {len(pairs)} share an id"
        )
    spaces = _spaces(anonymized, original, dimensions)
    rows, columns = np.array(pairs).T
    x, y = spaces[0](anonymized.vectors[rows]), spaces[1](original.vectors[columns])
    identity = _identity(*spaces)
    l2 = _best_l2(x, y, identity, anonymized.speaker[rows])
    rotation = procrustes(x, y, identity=identity, l2=l2)
    return Alignment(*spaces, rotation, frozenset({*anonymized.names, *original.names}))


def align_unpaired(
    split: Split, *, rng: np.random.Generator, dimensions: int = 0, most: int = 600, rounds: int = 50
) -> Alignment:
    """Learn the rotation when nobody knows which utterance became which; ``most`` vectors of each side are used."""
    anonymized, original = split.training_vectors(), split.original_training_vectors()
    spaces = _spaces(anonymized, original, dimensions)
    n = min(most, len(anonymized.ids), len(original.ids))
    x, y = (
        space(training.vectors[rng.choice(len(training.ids), n, replace=False)])
        for space, training in zip(spaces, (anonymized, original), strict=True)
    )
    rotation = wasserstein_procrustes(x, y, rng=rng, rounds=rounds, identity=_identity(*spaces))
    return Alignment(*spaces, rotation, frozenset({*anonymized.names, *original.names}))


def procrustes(x: NDArray[Any], y: NDArray[Any], *, identity: Floats | None = None, l2: float = 0.0) -> Floats:
    """Find the orthogonal R [d, d] that minimises ||x R - y|| for paired rows [n, d], pulled towards ``identity``.

    >>> procrustes(np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[0.0, 1.0], [-2.0, 0.0]])).round(6).tolist()
    [[0.0, 1.0], [-1.0, 0.0]]
    """
    product = x.T @ y
    if identity is not None and l2:
        product = product + l2 * np.square(x).sum() / x.shape[1] * identity
    u, _, v = np.linalg.svd(product)
    rotation: Floats = u @ v
    return rotation


def wasserstein_procrustes(
    x: Floats, y: Floats, *, rng: np.random.Generator, rounds: int = 50, identity: Floats | None = None
) -> Floats:
    """Find rotation and matching together for unpaired rows x, y [n, d]; ``identity`` does nothing.

    Half of the rows choose between the starts, by what each leaves between the others; doing nothing is given up only
    for a start that leaves clearly less.
    """
    if x.shape != y.shape or len(x) < 2:
        raise ConfigError(f"both sides need the same number of vectors, not {len(x)} and {len(y)}")
    identity = np.eye(x.shape[1]) if identity is None else identity
    half = (len(x) + 1) // 2
    starts = [(identity, UNPAIRED_L2), (_axis_start(x, y), 0.0), (_relaxed_start(x, y, rng), 0.0)]
    refined = [(_refined(x[:half], y[:half], rotation, rounds, identity, l2), l2) for rotation, l2 in starts]
    left = [_left_over(x[half:], y[half:], rotation) for rotation, _ in refined]
    best = int(np.argmin(left))
    rotation, l2 = refined[best if left[best] < CLEAR_SHARE * left[0] else 0]
    return _refined(x, y, rotation, rounds, identity, l2)


def _identity(anonymized: Space, original: Space) -> Floats:
    """Do nothing, in the coordinates of both sides: the rotation between their axes."""
    return procrustes(anonymized.axes, original.axes)


def _best_l2(x: Floats, y: Floats, identity: Floats, speaker: NDArray[np.int64]) -> float:
    """Choose the l2 that leaves least between pairs of held-out speakers."""
    fold = np.unique(speaker, return_inverse=True)[1].reshape(-1) % FOLDS
    used = [k for k in range(FOLDS) if (fold == k).any() and (fold != k).any()]

    def left(l2: float) -> float:
        rotations = [(k, procrustes(x[fold != k], y[fold != k], identity=identity, l2=l2)) for k in used]
        return float(sum(np.square(x[fold == k] @ rotation - y[fold == k]).sum() for k, rotation in rotations))

    return min(L2_WEIGHTS, key=left)


def _matched(x: Floats, y: Floats) -> NDArray[np.int64]:
    """For every row of x the row of y, all different, that make the sum of products largest."""
    from scipy import optimize

    chosen: NDArray[np.int64] = optimize.linear_sum_assignment(x @ y.T, maximize=True)[1]
    return chosen


def _refined(x: Floats, y: Floats, rotation: Floats, rounds: int, identity: Floats, l2: float) -> Floats:
    """Match and rotation by rotations until the matching stays."""
    before = None
    for _ in range(rounds):
        match = _matched(x @ rotation, y)
        if before is not None and np.array_equal(match, before):
            break
        rotation, before = procrustes(x, y[match], identity=identity, l2=l2), match
    return rotation


def _left_over(x: Floats, y: Floats, rotation: Floats) -> float:
    """What remains between the sides when every row has found its match."""
    return float(np.square(x @ rotation - y[_matched(x @ rotation, y)]).sum())


def _axis_start(x: Floats, y: Floats) -> Floats:
    """Lay principal axes onto each other, each with the sign that makes the skewness agree."""
    x_axes, y_axes = (np.linalg.svd(side, full_matrices=False)[2].T for side in (x, y))
    signs = np.sign(((x @ x_axes) ** 3).sum(0)) * np.sign(((y @ y_axes) ** 3).sum(0))
    rotation: Floats = (x_axes * np.where(signs == 0, 1, signs)) @ y_axes.T
    return rotation


def _relaxed_start(x: Floats, y: Floats, rng: np.random.Generator) -> Floats:
    """Match a sample by its inner products alone (blind to rotations), relaxed to soft matchings, by Frank-Wolfe."""
    from scipy import optimize

    n = min(_RELAXED, len(x))
    a, b = (side[np.sort(rng.choice(len(side), n, replace=False))] for side in (x, y))
    k_a, k_b = a @ a.T, b @ b.T
    soft = np.full((n, n), 1.0 / n)
    for step in range(_RELAXED_STEPS):
        rest = k_a @ soft - soft @ k_b
        rows, columns = optimize.linear_sum_assignment(k_a @ rest - rest @ k_b)
        share = 2.0 / (2.0 + step)
        soft *= 1 - share
        soft[rows, columns] += share
    return procrustes(a, soft @ b)


def _spaces(anonymized: TrainingVectors, original: TrainingVectors, dimensions: int) -> tuple[Space, Space]:
    if dimensions < 0:
        raise ConfigError(f"dimensions must be 0 (all) or the number kept, not {dimensions}")
    rows = [unit_rows(training.vectors) for training in (anonymized, original)]
    kept = min(dimensions or rows[0].shape[1], rows[0].shape[1], *(len(side) for side in rows))
    first, second = (
        Space(side.mean(0), np.linalg.svd(side - side.mean(0), full_matrices=False)[2][:kept].T) for side in rows
    )
    return first, second
