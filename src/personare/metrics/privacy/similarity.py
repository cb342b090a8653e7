"""Voice similarity matrices: does a voice still resemble itself, and do voices still differ from each other?

S(i, j) = sigmoid( 1/(n_i n_j) sum over k, l of LLR(x_k of speaker i, x_l of speaker j) )   [noe2020similarity, eq. 1]
D_diag(M) = | mean of the diagonal - mean of the rest |                                                      [eq. 2]
DeID = 1 - D_diag(M_oa) / D_diag(M_oo),   G_VD = 10 log10( D_diag(M_aa) / D_diag(M_oo) )
                                       [equation numbers as repeated in tomashenko2022voiceprivacy, sec. 2.3.1]

o is original, a anonymized: M_oa compares original speech of speaker i with anonymized speech of speaker j. Pairs of
the same utterance are left out, in M_oa too. Scores become LLRs by oracle calibration with Laplace's rule, per matrix.
Two variants:

"paper"    eq. 1 as printed: every pair, both ways; left-out pairs count in n_i n_j, as if their LLR were 0.
"vpc2020"  the challenge's script: each pair once (l after k in the list), the mean over the pairs used, and
           the upper half mirrored, although M_oa is not symmetric.

Deviations: a speaker with one utterance has no diagonal entry (NaN, where the script divides 0 by 0) and does not count
in the diagonal's mean. Utterances of one speaker that are scattered in the list are first brought together. Intervals
redraw speakers and keep the calibration.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import Estimate, MetricCard
from personare.core.vectors import unit_rows
from personare.metrics.intervals import LEVEL, RESAMPLES, bootstrap_many
from personare.metrics.privacy.calibration import oracle_llrs
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
    caution="an ignorant attacker's view (original against anonymized); an informed one sees more",
)
GAIN_CARD = MetricCard(
    name="g_vd",
    title="Gain of voice distinctiveness G_VD",
    better="higher",
    bounds=(-math.inf, math.inf),
    chance=None,
    cite="noe2020similarity; tomashenko2022voiceprivacy, sec. 2.3.1",
    reading="0 dB: anonymized voices differ from each other as much as before; below: they sound more alike",
    caution="a utility number: distinct pseudo-voices help listeners and may help an attacker",
    unit="dB",
)


@dataclass(frozen=True, eq=False)
class SimilarityMatrix:
    """Similarity of each speaker (row) with each speaker (column), 0 to 1; NaN where no pair of utterances exists."""

    speakers: tuple[str, ...]
    values: Floats


@dataclass(frozen=True, eq=False)
class VoiceSimilarity:
    """The three matrices of one anonymization, same speakers in the same order."""

    oo: SimilarityMatrix
    oa: SimilarityMatrix
    aa: SimilarityMatrix
    variant: Variant


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
    table = np.asarray(scores)
    sizes = ((len(row_speakers), len(column_speakers)), (len(row_utterances), len(column_utterances)))
    if table.ndim != 2 or any(table.shape != size for size in sizes):
        raise MetricError(f"scores {list(table.shape)} do not fit speakers {sizes[0]} and utterances {sizes[1]}")
    known, number = _numbered(np.append(np.asarray(row_speakers), np.asarray(column_speakers)))
    rows, columns = np.asarray(row_utterances), np.asarray(column_utterances)
    i, j = number[: len(rows)], number[len(rows) :]
    used = rows[:, None] != columns[None, :]
    if variant == "vpc2020":
        if not np.array_equal(rows, columns):
            raise MetricError("variant 'vpc2020' needs the same utterances in rows and columns, in the same order")
        place = np.argsort(np.argsort(i, kind="stable"))
        used &= place[None, :] > place[:, None]
        means = _pair_means(table, i, j, used, len(known), divide_by_all=False)
        means = np.where(np.tri(len(known), k=-1, dtype=bool), means.T, means)
    elif variant == "paper":
        means = _pair_means(table, i, j, used, len(known), divide_by_all=True)
    else:
        raise MetricError(f"no variant '{variant}' of the similarity matrix; use 'paper' or 'vpc2020'")
    with np.errstate(over="ignore"):
        return SimilarityMatrix(tuple(known), 1 / (1 + np.exp(-means)))


def voice_similarity(
    original: ArrayLike, anonymized: ArrayLike, *, speakers: Sequence[str], utterances: Sequence[str], variant: Variant
) -> VoiceSimilarity:
    """Compare speaker vectors of the same utterances before and after, [utterances, dimensions] each, by cosine."""
    o, a = _unit(original, len(utterances)), _unit(anonymized, len(utterances))
    if o.shape[1] != a.shape[1]:
        raise MetricError(f"original vectors have {o.shape[1]} dimensions, anonymized ones {a.shape[1]}")

    def compare(left: Floats, right: Floats) -> SimilarityMatrix:
        return similarity_matrix(
            left @ right.T,
            row_speakers=speakers,
            column_speakers=speakers,
            row_utterances=utterances,
            column_utterances=utterances,
            variant=variant,
        )

    return VoiceSimilarity(oo=compare(o, o), oa=compare(o, a), aa=compare(a, a), variant=variant)


def diagonal_dominance(matrix: SimilarityMatrix) -> float:
    """Compute D_diag (eq. 2).

    >>> round(diagonal_dominance(SimilarityMatrix(("a", "b"), np.array([[0.9, 0.2], [0.4, 0.8]]))), 6)
    0.55
    """
    return float(_dominance(matrix)(np.ones((1, len(matrix.speakers))))[0])


def deid(oa: SimilarityMatrix, oo: SimilarityMatrix) -> float:
    """Compute DeID = 1 - D_diag(M_oa) / D_diag(M_oo)."""
    return 1 - diagonal_dominance(oa) / _positive(diagonal_dominance(oo), "M_oo")


def g_vd(aa: SimilarityMatrix, oo: SimilarityMatrix) -> float:
    """Compute G_VD in dB; minus infinity when anonymized voices cannot be told apart at all."""
    gain = diagonal_dominance(aa) / _positive(diagonal_dominance(oo), "M_oo")
    return 10 * math.log10(gain) if gain > 0 else -math.inf


def similarity_estimates(
    matrices: VoiceSimilarity, *, rng: np.random.Generator, resamples: int = RESAMPLES, level: float = LEVEL
) -> tuple[Estimate, Estimate]:
    """Estimate DeID and G_VD with intervals over redrawn speakers; n = speakers."""
    _positive(diagonal_dominance(matrices.oo), "M_oo")
    oo, oa, aa = _dominance(matrices.oo), _dominance(matrices.oa), _dominance(matrices.aa)

    def values(drawn: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.stack([1 - oa(drawn) / oo(drawn), 10 * np.log10(aa(drawn) / oo(drawn))], axis=1)

    speakers = len(matrices.oo.speakers)
    pair = bootstrap_many(values, speakers=speakers, rng=rng, resamples=resamples, level=level)
    return pair[0], pair[1]


def _dominance(matrix: SimilarityMatrix) -> Callable[[Floats], Floats]:
    """Make D_diag a function of how often each speaker is drawn; a pair of two draws of one speaker does not count."""
    values, n = matrix.values, len(matrix.speakers)
    own = np.diag(values)
    has_own, rest = ~np.isnan(own), ~np.isnan(values) & ~np.eye(n, dtype=bool)
    if n < 2 or not has_own.any() or not rest.any():
        raise MetricError("diagonal dominance needs two speakers or more, one of them with two utterances or more")
    own, others = np.where(has_own, own, 0.0), np.where(rest, values, 0.0)

    def dominance(drawn: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = (drawn @ own) / (drawn @ has_own)
            outside = ((drawn @ others) * drawn).sum(axis=1) / ((drawn @ rest) * drawn).sum(axis=1)
        return np.asarray(np.abs(inside - outside))

    return dominance


def _numbered(speakers: NDArray[Any]) -> tuple[list[str], NDArray[np.intp]]:
    """Number speakers in the order in which they first appear."""
    known, first, number = np.unique(speakers, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return [str(name) for name in known[order]], np.argsort(order)[number]


def _pair_means(table: Any, i: Any, j: Any, used: Any, n: int, *, divide_by_all: bool) -> Floats:
    """Average the calibrated LLRs of the used utterance pairs per pair of speakers, [n, n]; NaN without pairs."""
    pair, own = (i[:, None] * n + j[None, :])[used], (i[:, None] == j[None, :])[used]
    scores = table[used]
    llrs = np.empty(len(scores))
    llrs[own], llrs[~own] = oracle_llrs(scores[own], scores[~own], laplace=True)
    sums, counts = np.bincount(pair, llrs, minlength=n * n), np.bincount(pair, minlength=n * n)
    every = np.outer(np.bincount(i, minlength=n), np.bincount(j, minlength=n)).ravel()
    divisor = every if divide_by_all else counts
    return np.where(counts > 0, sums / np.maximum(divisor, 1), np.nan).reshape(n, n)


def _unit(vectors: ArrayLike, utterances: int) -> Floats:
    array = checked_vectors(vectors, of="speaker")
    if len(array) != utterances:
        raise MetricError(f"speaker vectors must be [{utterances} utterances, dimensions], not {list(array.shape)}")
    return unit_rows(array)


def _positive(dominance: float, name: str) -> float:
    if not dominance > 0:
        raise MetricError(f"voices cannot be told apart in {name} (diagonal dominance 0): nothing to compare with")
    return dominance
