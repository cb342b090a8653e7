"""Voice similarity matrices: golden DeID and G_VD from real x-vectors, eq. 1 by hand, laws, speakers heard once."""

from __future__ import annotations

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
    de_identification, gain = similarity_estimates(found, rng=np.random.default_rng(1), resamples=300)
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
