"""Voice similarity matrices: does a voice still resemble itself, and do voices still differ from each other?

S(i, j) = sigmoid( 1/(n_i n_j) sum over k, l of LLR(x_k of speaker i, x_l of speaker j) )   [noe2020similarity, eq. 1]
D_diag(M) = | mean of the diagonal - mean of the rest |                                                      [eq. 2]
DeID = 1 - D_diag(M_oa) / D_diag(M_oo),   G_VD = 10 log10( D_diag(M_aa) / D_diag(M_oo) )
                                       [equation numbers as repeated in tomashenko2022voiceprivacy, sec. 2.3.1]

o is original, a anonymized: M_oa compares original speech of speaker i with anonymized speech of speaker j. Pairs of
the same utterance are left out, in M_oa too. Scores become LLRs by oracle calibration with Laplace's rule, per matrix.
The challenge computes both numbers within each gender, from one list of trials each; so do studies. Over women and men
together (``deid_pooled``, ``g_vd_pooled``) they are other numbers: B1's G_VD on the challenge's x-vectors is -8.71 dB
for women and -7.09 dB for men, and -3.45 dB pooled.
Two variants:

"paper"    eq. 1 as printed: every pair, both ways; left-out pairs count in n_i n_j, as if their LLR were 0.
"vpc2020"  the challenge's script: each pair once (l after k in the list), the mean over the pairs used, and
           the upper half mirrored, although M_oa is not symmetric.

Deviations: a speaker with one utterance has no diagonal entry (NaN, where the script divides 0 by 0) and does not count
in the diagonal's mean. Utterances of one speaker that are scattered in the list are first brought together. Intervals
leave out speakers, and everything is calibrated anew without each of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import Estimate, MetricCard
from personare.core.vectors import unit_rows
from personare.metrics.intervals import LEVEL, from_left_out, leave_out_groups
from personare.metrics.privacy.calibration import laplace_llr_rows, laplace_llrs
from personare.metrics.privacy.levels import levels_of, pool_ties
from personare.metrics.privacy.redraws import CELLS_AT_ONCE
from personare.metrics.privacy.vectors import checked_vectors

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

Variant = Literal["paper", "vpc2020"]
CARD = MetricCard(
    name="deid",
    title="De-identification DeID",
    better="higher",
    bounds=(-math.inf, 1.0),
    chance=None,
    cite="noe2020similarity; tomashenko2022voiceprivacy, sec. 2.3.1",
    reading="1: anonymized speech resembles its speaker no more than others; 0: nothing was hidden",
    caution="an ignorant attacker's view; an informed one sees more. Few speakers make it too low: read the interval",
)
GAIN_CARD = MetricCard(
    name="g_vd",
    title="Gain of voice distinctiveness G_VD",
    better="higher",
    bounds=(-math.inf, math.inf),
    chance=None,
    cite="noe2020similarity; tomashenko2022voiceprivacy, sec. 2.3.1",
    reading="0 dB: anonymized voices differ from each other as much as before; below: they sound more alike",
    caution="distinct pseudo-voices help listeners and may help an attacker. Few speakers make it too high",
    unit="dB",
)


POOLED_CARD = replace(
    CARD,
    name="deid_pooled",
    title="De-identification DeID, genders pooled",
    caution="not the published DeID, which compares speakers of one gender: women and men are easy to tell apart",
)
POOLED_GAIN_CARD = replace(
    GAIN_CARD,
    name="g_vd_pooled",
    title="Gain of voice distinctiveness G_VD, genders pooled",
    caution="not the published G_VD, which compares speakers of one gender: women and men are easy to tell apart",
)


@dataclass(frozen=True, eq=False)
class SimilarityMatrix:
    """Similarity of each speaker (row) with each speaker (column), 0 to 1; NaN where no pair of utterances exists."""

    speakers: tuple[str, ...]
    values: Floats


@dataclass(frozen=True, eq=False)
class VoiceSimilarity:
    """The three matrices of one anonymization, same speakers in the same order, and what they were made from."""

    oo: SimilarityMatrix
    oa: SimilarityMatrix
    aa: SimilarityMatrix
    variant: Variant
    pairs: tuple[UtterancePairs, UtterancePairs, UtterancePairs]


@dataclass(frozen=True, eq=False)
class UtterancePairs:
    """The scores of utterance pairs, sorted once, to be calibrated with all speakers or without some.

    Parameters
    ----------
    speakers : in the order in which they appear [n].
    row, column : the speakers of each used pair, as numbers [p]; level : where its score lies among all [p].
    own, rest : pairs of one and of two speakers per level [levels].
    every : by how many pairs each sum is divided [n, n]; None: by the pairs used.
    mirrored : whether the upper half stands for the lower.
    """

    speakers: tuple[str, ...]
    row: NDArray[np.intp]
    column: NDArray[np.intp]
    level: NDArray[np.intp]
    own: Floats
    rest: Floats
    every: Floats | None
    mirrored: bool

    def matrix(self) -> Floats:
        """Calibrate the pairs, and average them per pair of speakers [n, n]."""
        n, row, column, level = len(self.speakers), self.row, self.column, self.level
        llrs = laplace_llrs(self.own, self.rest)
        pair = row * n + column
        sums, counts = np.bincount(pair, llrs[level], minlength=n * n), np.bincount(pair, minlength=n * n)
        divisor = counts if self.every is None else self.every.ravel()
        means = np.where(counts > 0, sums / np.maximum(divisor, 1), np.nan).reshape(n, n)
        if self.mirrored:
            means = np.where(np.tri(n, k=-1, dtype=bool), means.T, means)
        with np.errstate(over="ignore"):
            similar: Floats = 1 / (1 + np.exp(-means))
        return similar

    def dominance_without(self, groups: NDArray[np.intp]) -> Floats:
        """Compute D_diag without each group of speakers, everything calibrated anew [groups]; NaN: nothing to compare.

        ``groups`` numbers the group of each speaker [n]. A pair belongs to two people, and is lost without either.
        """
        from scipy.sparse import coo_array

        n, number = len(self.speakers), int(groups.max()) + 1
        known, cell = np.unique(self.row * n + self.column, return_inverse=True)
        first, second = groups[known // n], groups[known % n]
        own, used = known // n == known % n, np.bincount(cell)
        divisor = used if self.every is None else self.every.ravel()[known]
        pairs = coo_array((np.ones(len(cell)), (cell, self.level)), shape=(len(known), len(self.own))).tocsr()
        found = np.full(number, math.nan)
        step = max(1, CELLS_AT_ONCE // max(pairs.shape))
        for start in range(0, number, step):
            left = np.arange(start, min(start + step, number))
            gone = (first == left[:, None]) | (second == left[:, None])
            lost = [(gone & which).astype(np.float64) @ pairs for which in (own, ~own)]
            llrs = laplace_llr_rows(self.own - lost[0], self.rest - lost[1])
            with np.errstate(over="ignore", invalid="ignore"):
                similar = 1 / (1 + np.exp(-(pairs @ llrs.T).T / divisor))
                means = [
                    np.where(~gone & which, similar, 0.0).sum(axis=1) / (~gone & which).sum(axis=1)
                    for which in (own, ~own)
                ]
            found[left] = np.abs(means[0] - means[1])
        return found


def utterance_pairs(
    scores: ArrayLike,
    *,
    row_speakers: Sequence[str],
    column_speakers: Sequence[str],
    row_utterances: Sequence[str],
    column_utterances: Sequence[str],
    variant: Variant,
) -> UtterancePairs:
    """Sort the scores of utterance pairs, [rows, columns], once; scores that differ by rounding only are equal."""
    table = np.asarray(scores)
    sizes = ((len(row_speakers), len(column_speakers)), (len(row_utterances), len(column_utterances)))
    if table.ndim != 2 or any(table.shape != size for size in sizes):
        raise MetricError(f"scores {list(table.shape)} do not fit speakers {sizes[0]} and utterances {sizes[1]}")
    if variant not in ("paper", "vpc2020"):
        raise MetricError(f"no variant '{variant}' of the similarity matrix; use 'paper' or 'vpc2020'")
    known, number = _numbered(np.append(np.asarray(row_speakers), np.asarray(column_speakers)))
    rows, columns = np.asarray(row_utterances), np.asarray(column_utterances)
    i, j = number[: len(rows)], number[len(rows) :]
    used = rows[:, None] != columns[None, :]
    every = None
    if variant == "vpc2020":
        if not np.array_equal(rows, columns):
            raise MetricError("variant 'vpc2020' needs the same utterances in rows and columns, in the same order")
        place = np.argsort(np.argsort(i, kind="stable"))
        used &= place[None, :] > place[:, None]
    else:
        every = np.outer(np.bincount(i, minlength=len(known)), np.bincount(j, minlength=len(known))).astype(float)
    row, column = (np.broadcast_to(side, table.shape)[used] for side in (i[:, None], j[None, :]))
    pooled = pool_ties(table[used])
    levels = levels_of(pooled[row == column], pooled[row != column])
    counts = levels.targets.astype(np.float64), levels.nontargets.astype(np.float64)
    return UtterancePairs(tuple(known), row, column, levels.find(pooled), *counts, every, variant == "vpc2020")


def similarity_matrix(
    scores: ArrayLike,
    *,
    row_speakers: Sequence[str],
    column_speakers: Sequence[str],
    row_utterances: Sequence[str],
    column_utterances: Sequence[str],
    variant: Variant,
) -> SimilarityMatrix:
    """Calibrate the scores of utterance pairs, [rows, columns], and average them per pair of speakers."""
    pairs = utterance_pairs(
        scores,
        row_speakers=row_speakers,
        column_speakers=column_speakers,
        row_utterances=row_utterances,
        column_utterances=column_utterances,
        variant=variant,
    )
    return SimilarityMatrix(pairs.speakers, pairs.matrix())


def voice_similarity(
    original: ArrayLike, anonymized: ArrayLike, *, speakers: Sequence[str], utterances: Sequence[str], variant: Variant
) -> VoiceSimilarity:
    """Compare speaker vectors of the same utterances before and after, [utterances, dimensions] each, by cosine."""
    o, a = _unit(original, len(utterances)), _unit(anonymized, len(utterances))
    if o.shape[1] != a.shape[1]:
        raise MetricError(f"original vectors have {o.shape[1]} dimensions, anonymized ones {a.shape[1]}")

    def compare(left: Floats, right: Floats) -> UtterancePairs:
        return utterance_pairs(
            left @ right.T,
            row_speakers=speakers,
            column_speakers=speakers,
            row_utterances=utterances,
            column_utterances=utterances,
            variant=variant,
        )

    pairs = compare(o, o), compare(o, a), compare(a, a)
    oo, oa, aa = (SimilarityMatrix(side.speakers, side.matrix()) for side in pairs)
    return VoiceSimilarity(oo, oa, aa, variant, pairs)


def diagonal_dominance(matrix: SimilarityMatrix) -> float:
    """Compute D_diag (eq. 2).

    >>> round(diagonal_dominance(SimilarityMatrix(("a", "b"), np.array([[0.9, 0.2], [0.4, 0.8]]))), 6)
    0.55
    """
    dominance = _dominance(matrix.values)
    if math.isnan(dominance):
        raise MetricError("diagonal dominance needs two speakers or more, one of them with two utterances or more")
    return dominance


def deid(oa: SimilarityMatrix, oo: SimilarityMatrix) -> float:
    """Compute DeID = 1 - D_diag(M_oa) / D_diag(M_oo)."""
    return 1 - diagonal_dominance(oa) / _positive(diagonal_dominance(oo), "M_oo")


def g_vd(aa: SimilarityMatrix, oo: SimilarityMatrix) -> float:
    """Compute G_VD in dB; minus infinity when anonymized voices cannot be told apart at all."""
    gain = diagonal_dominance(aa) / _positive(diagonal_dominance(oo), "M_oo")
    return 10 * math.log10(gain) if gain > 0 else -math.inf


def similarity_estimates(matrices: VoiceSimilarity, *, level: float = LEVEL) -> tuple[Estimate, Estimate]:
    """Estimate DeID and G_VD with intervals from leaving out speakers; n = speakers."""
    _positive(diagonal_dominance(matrices.oo), "M_oo")
    speakers = len(matrices.oo.speakers)
    groups = leave_out_groups(speakers)
    whole = [diagonal_dominance(side) for side in (matrices.oo, matrices.oa, matrices.aa)]
    oo, oa, aa = (
        np.append(all_of_them, side.dominance_without(groups))
        for all_of_them, side in zip(whole, matrices.pairs, strict=True)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.stack([1 - oa / oo, 10 * np.log10(aa / oo)], axis=1)
    pair = from_left_out(values, speakers=speakers, level=level, bounds=[CARD.bounds, GAIN_CARD.bounds])
    return pair[0], pair[1]


def _dominance(values: Floats) -> float:
    """Compute D_diag of a matrix; NaN where there is nothing to compare."""
    own = np.diag(values)
    has_own, rest = ~np.isnan(own), ~np.isnan(values) & ~np.eye(len(values), dtype=bool)
    if not has_own.any() or not rest.any():
        return math.nan
    return float(abs(own[has_own].mean() - values[rest].mean()))


def _numbered(speakers: NDArray[Any]) -> tuple[list[str], NDArray[np.intp]]:
    """Number speakers in the order in which they first appear."""
    known, first, number = np.unique(speakers, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return [str(name) for name in known[order]], np.argsort(order)[number]


def _unit(vectors: ArrayLike, utterances: int) -> Floats:
    array = checked_vectors(vectors, of="speaker")
    if len(array) != utterances:
        raise MetricError(f"speaker vectors must be [{utterances} utterances, dimensions], not {list(array.shape)}")
    return unit_rows(array)


def _positive(dominance: float, name: str) -> float:
    if not dominance > 0:
        raise MetricError(f"voices cannot be told apart in {name} (diagonal dominance 0): nothing to compare with")
    return dominance
