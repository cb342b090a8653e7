"""Voice similarity matrices: golden DeID and G_VD from real x-vectors, eq. 1 by hand, laws, speakers heard once."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from personare.core.errors import MetricError
from personare.metrics.privacy.calibration import oracle_llrs
from personare.metrics.privacy.similarity import (
    SimilarityMatrix,
    deid,
    diagonal_dominance,
    g_vd,
    similarity_estimates,
    similarity_matrix,
    voice_similarity,
)

from .by_hand import ends_by_hand


@pytest.mark.shared
@pytest.mark.parametrize("gender", ["f", "m"])
def test_golden_x_vectors_by_the_rules_of_voiceprivacy_2020(
    vpc2020_folder: Path, vpc2020_expected: dict[str, Any], gender: str
) -> None:
    before = np.load(vpc2020_folder / f"xvectors_trial_{gender}_orig.npz")
    after = np.load(vpc2020_folder / f"xvectors_trial_{gender}_anon.npz")
    expected = vpc2020_expected["similarity_matrices"][gender]
    found = voice_similarity(
        before["vector"], after["vector"], speakers=before["speaker"], utterances=before["utterance"], variant="vpc2020"
    )
    assert deid(found.oa, found.oo) == pytest.approx(expected["deid"], rel=1e-5)
    assert g_vd(found.aa, found.oo) == pytest.approx(expected["gvd_db"], rel=1e-5)
    for name, value in expected["ddiag"].items():
        assert diagonal_dominance(getattr(found, name)) == pytest.approx(value, abs=6e-7)
    de_identification, gain = similarity_estimates(found)
    assert de_identification.value == pytest.approx(expected["deid"], rel=1e-5)
    assert gain.low < gain.value < gain.high
    assert gain.n == 20


def small_case(seed: int) -> tuple[Any, list[str], list[str]]:
    rng = np.random.default_rng(seed)
    speakers = ["a", "a", "b", "b", "b", "c", "c"]
    centres = {name: rng.normal(size=8) for name in "abc"}
    vectors = np.stack([centres[s] + 0.7 * rng.normal(size=8) for s in speakers])
    return vectors, speakers, [f"u{i}" for i in range(len(speakers))]


def test_equation_1_written_out_pair_by_pair() -> None:
    vectors, speakers, ids = small_case(0)
    other = vectors + np.random.default_rng(9).normal(size=vectors.shape)
    found = voice_similarity(vectors, other, speakers=speakers, utterances=ids, variant="paper").oa
    o, a = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (vectors, other))
    pairs = [(k, l) for k in range(7) for l in range(7) if k != l]  # noqa: E741
    own = [p for p in pairs if speakers[p[0]] == speakers[p[1]]]
    rest = [p for p in pairs if speakers[p[0]] != speakers[p[1]]]
    llrs = oracle_llrs([o[k] @ a[m] for k, m in own], [o[k] @ a[m] for k, m in rest], laplace=True)
    llr = dict(zip(own + rest, np.concatenate(llrs), strict=True))
    for i, first in enumerate("abc"):
        for j, second in enumerate("abc"):
            total = sum(v for (k, m), v in llr.items() if (speakers[k], speakers[m]) == (first, second))
            mean = total / (speakers.count(first) * speakers.count(second))
            assert found.values[i, j] == pytest.approx(1 / (1 + math.exp(-mean)))


def test_the_challenges_variant_mirrors_one_half() -> None:
    vectors, speakers, ids = small_case(1)
    other = vectors + np.random.default_rng(9).normal(size=vectors.shape)
    mirrored = voice_similarity(vectors, other, speakers=speakers, utterances=ids, variant="vpc2020").oa.values
    both_ways = voice_similarity(vectors, other, speakers=speakers, utterances=ids, variant="paper").oa.values
    np.testing.assert_array_equal(mirrored, mirrored.T)
    assert not np.allclose(both_ways, both_ways.T)


def test_the_challenges_variant_written_out_pair_by_pair() -> None:
    """Each pair of utterances once, earlier with later; the mean is over the pairs that were used."""
    vectors, speakers, ids = small_case(6)
    found = voice_similarity(vectors, 2 * vectors, speakers=speakers, utterances=ids, variant="vpc2020").oo
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    pairs = list(itertools.combinations(range(7), 2))
    own = [p for p in pairs if speakers[p[0]] == speakers[p[1]]]
    rest = [p for p in pairs if speakers[p[0]] != speakers[p[1]]]
    llrs = oracle_llrs(*([unit[k] @ unit[m] for k, m in some] for some in (own, rest)), laplace=True)
    llr = dict(zip(own + rest, np.concatenate(llrs), strict=True))
    for i, first in enumerate("abc"):
        for j, second in enumerate("abc"):
            used = [v for (k, m), v in llr.items() if {speakers[k], speakers[m]} == {first, second}]
            assert found.values[i, j] == pytest.approx(1 / (1 + math.exp(-np.mean(used)))), (first, second)
    assert found.speakers == ("a", "b", "c")


def test_speakers_keep_the_order_in_which_they_first_appear() -> None:
    vectors, speakers, ids = small_case(7)
    renamed = [{"a": "zoe", "b": "ann", "c": "max"}[s] for s in speakers]
    for variant in ("paper", "vpc2020"):
        one, two = (
            voice_similarity(vectors, vectors, speakers=names, utterances=ids, variant=variant).oo
            for names in (speakers, renamed)
        )
        assert two.speakers == ("zoe", "ann", "max")
        np.testing.assert_array_equal(one.values, two.values)


@pytest.mark.parametrize("variant", ["paper", "vpc2020"])
def test_intervals_leave_out_speakers_and_compare_the_others_afresh(variant: Any) -> None:
    rng = np.random.default_rng(8)
    speakers = np.repeat(list("abcde"), [3, 4, 5, 4, 3])
    before = rng.normal(size=(5, 6))[np.repeat(np.arange(5), [3, 4, 5, 4, 3])] + 0.6 * rng.normal(size=(19, 6))
    after = before + 0.8 * rng.normal(size=before.shape)

    def alone(rows: Any) -> tuple[float, float]:
        names, ids = speakers[rows].tolist(), [str(row) for row in rows]
        matrices = voice_similarity(before[rows], after[rows], speakers=names, utterances=ids, variant=variant)
        oo, oa, aa = (_by_hand(matrix.values) for matrix in (matrices.oo, matrices.oa, matrices.aa))
        return 1 - oa / oo, 10 * math.log10(aa / oo)

    def _by_hand(values: Any) -> float:
        own = [values[i, i] for i in range(len(values))]
        rest = [values[i, j] for i in range(len(values)) for j in range(len(values)) if i != j]
        return abs(float(np.mean(own)) - float(np.mean(rest)))

    everybody = np.arange(19)
    ids = [str(row) for row in everybody]
    found = voice_similarity(before, after, speakers=speakers.tolist(), utterances=ids, variant=variant)
    without = [alone(np.flatnonzero(speakers != one)) for one in "abcde"]
    for i, bounds in enumerate([(-math.inf, 1.0), (-math.inf, math.inf)]):
        estimate, value = similarity_estimates(found, level=0.6)[i], alone(everybody)[i]
        ends = ends_by_hand(value, [each[i] for each in without], bounds=bounds, level=0.6)
        assert estimate.value == pytest.approx(value) and estimate.n == 5
        assert (estimate.low, estimate.high) == pytest.approx(ends, rel=1e-9) and estimate.high < bounds[1]


@pytest.mark.parametrize("variant", ["paper", "vpc2020"])
def test_nothing_done_means_nothing_hidden_and_nothing_gained(variant: Any) -> None:
    vectors, speakers, ids = small_case(2)
    found = voice_similarity(vectors, 3 * vectors, speakers=speakers, utterances=ids, variant=variant)
    assert deid(found.oa, found.oo) == pytest.approx(0)
    assert g_vd(found.aa, found.oo) == pytest.approx(0)


def test_order_of_utterances_and_names_of_speakers_do_not_matter() -> None:
    vectors, speakers, ids = small_case(3)
    other = np.random.default_rng(9).normal(size=vectors.shape)
    order = np.random.default_rng(0).permutation(7)
    straight = voice_similarity(vectors, other, speakers=speakers, utterances=ids, variant="paper")
    shuffled = voice_similarity(
        vectors[order],
        other[order],
        speakers=[f"speaker {speakers[i]}" for i in order],
        utterances=[ids[i] for i in order],
        variant="paper",
    )
    for name in ("oo", "oa", "aa"):
        expected = diagonal_dominance(getattr(straight, name))
        assert diagonal_dominance(getattr(shuffled, name)) == pytest.approx(expected)


def test_a_speaker_heard_once_has_no_own_pair_but_still_counts_for_others() -> None:
    vectors, speakers, ids = small_case(4)
    found = voice_similarity(vectors[1:], vectors[1:], speakers=speakers[1:], utterances=ids[1:], variant="vpc2020").oo
    assert math.isnan(found.values[0, 0])
    assert np.isfinite(found.values[0, 1:]).all()
    own, rest = np.diag(found.values)[1:], found.values[~np.eye(3, dtype=bool)]
    assert diagonal_dominance(found) == pytest.approx(abs(own.mean() - rest.mean()))


def test_gain_without_any_distinctiveness_is_minus_infinity() -> None:
    flat = SimilarityMatrix(("a", "b"), np.full((2, 2), 0.5))
    sharp = SimilarityMatrix(("a", "b"), np.array([[0.9, 0.1], [0.1, 0.9]]))
    assert g_vd(flat, sharp) == -math.inf
    assert deid(flat, sharp) == 1
    with pytest.raises(MetricError, match="cannot be told apart in M_oo"):
        deid(sharp, flat)


def test_bad_input_is_one_line() -> None:
    vectors, speakers, ids = small_case(5)
    with pytest.raises(MetricError, match="dimensions"):
        voice_similarity(vectors, vectors[:, :4], speakers=speakers, utterances=ids, variant="paper")
    with pytest.raises(MetricError, match="row 0 is all zeros"):
        voice_similarity(0 * vectors, vectors, speakers=speakers, utterances=ids, variant="paper")
    with pytest.raises(MetricError, match="no variant 'vpc2021'"):
        voice_similarity(vectors, vectors, speakers=speakers, utterances=ids, variant="vpc2021")  # type: ignore[arg-type]
    with pytest.raises(MetricError, match="no target scores"):
        voice_similarity(vectors[:2], vectors[:2], speakers=["a", "b"], utterances=["1", "2"], variant="paper")
    rows: dict[str, Any] = {"row_speakers": speakers, "row_utterances": ids}
    with pytest.raises(MetricError, match="do not fit"):
        similarity_matrix(np.eye(7), column_speakers=speakers[:3], column_utterances=ids[:3], variant="paper", **rows)
    with pytest.raises(MetricError, match="same utterances"):
        similarity_matrix(np.eye(7), column_speakers=speakers, column_utterances=ids[::-1], variant="vpc2020", **rows)
    with pytest.raises(MetricError, match="two speakers"):
        diagonal_dominance(SimilarityMatrix(("a",), np.ones((1, 1))))


def test_gain_is_in_decibels_and_de_identification_a_share() -> None:
    def spread(dominance: float) -> SimilarityMatrix:
        return SimilarityMatrix(("a", "b"), np.array([[0.5 + dominance, 0.5], [0.5, 0.5 + dominance]]))

    for kept in (0.1, 0.5, 1.0):
        assert g_vd(spread(0.4 * kept), spread(0.4)) == pytest.approx(10 * math.log10(kept), abs=1e-9)
        assert deid(spread(0.4 * kept), spread(0.4)) == pytest.approx(1 - kept)
    assert g_vd(spread(0.4), spread(0.04)) == pytest.approx(10.0)


def test_cosines_that_differ_by_rounding_only_are_ties() -> None:
    """Vectors in one dimension: every cosine is 1 up to rounding, so that nothing can be told apart."""
    rng = np.random.default_rng(0)
    speakers = np.repeat(list("abcd"), 3).tolist()
    line = np.outer(rng.uniform(0.1, 9.0, 12), rng.normal(size=64))
    scores = line / np.linalg.norm(line, axis=1, keepdims=True)
    assert len(np.unique(scores @ scores.T)) > 1, "rounding does differ"
    found = voice_similarity(line, line, speakers=speakers, utterances=list(map(str, range(12))), variant="vpc2020")
    assert diagonal_dominance(found.oo) == pytest.approx(0.0, abs=1e-9)


def test_leaving_a_speaker_out_calibrates_anew() -> None:
    """Every value without a speaker is that of the others' utterances by themselves, calibration and all."""
    rng = np.random.default_rng(3)
    speakers = np.repeat(list("abcde"), 4)
    before = rng.normal(size=(5, 6)).repeat(4, axis=0) + 0.8 * rng.normal(size=(20, 6))
    after = before + rng.normal(size=before.shape)
    ids = np.arange(20).astype(str)
    whole = voice_similarity(before, after, speakers=speakers.tolist(), utterances=ids.tolist(), variant="vpc2020")
    without = [pairs.dominance_without(np.arange(5)) for pairs in whole.pairs]
    for left in range(5):
        rows = speakers != "abcde"[left]
        alone = voice_similarity(
            before[rows],
            after[rows],
            speakers=speakers[rows].tolist(),
            utterances=ids[rows].tolist(),
            variant="vpc2020",
        )
        for side, matrix in zip(without, (alone.oo, alone.oa, alone.aa), strict=True):
            assert side[left] == pytest.approx(diagonal_dominance(matrix), abs=1e-12)
