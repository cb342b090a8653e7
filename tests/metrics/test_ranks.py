"""The rank test: the paper's random row, the same ranks by a plain loop, percentiles as numpy's, laws, bad input."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from personare.core.errors import MetricError
from personare.metrics.privacy.ranks import random_percentile, rank_test


def utterances(seed: int, *, people: int, each: int, noise: float) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    voice, owner = rng.standard_normal((people, 16)), np.repeat(np.arange(people), each)
    sides = [voice[owner] + noise * rng.standard_normal((len(owner), 16)) for _ in range(2)]
    return sides[0], owner, sides[1], owner


def test_usc_table_2_random_row() -> None:
    assert random_percentile(7974, tests=100) == pytest.approx(3452.06, abs=0.5)
    assert (7974 + 1) / 2 == 3987.5


def test_noise_gives_the_random_row() -> None:
    found = rank_test(*utterances(0, people=300, each=8, noise=1e6), variant="linkability", tests=40)
    assert found.random_p50 == 150.5
    assert found.p50.value == pytest.approx(150.5, abs=5)
    assert found.p1.value == pytest.approx(found.random_p1, abs=15)
    assert found.p50.low <= found.random_p50 <= found.p50.high


def test_one_utterance_each_is_a_plain_rank() -> None:
    test, owner, reference, _ = utterances(1, people=40, each=1, noise=1.0)
    found = rank_test(test, owner, reference, owner, variant="singling_out", tests=3)
    for i, rank in enumerate(found.mean_ranks):
        scores = [test[i] @ r / np.linalg.norm(r) for r in reference]
        assert rank == 1 + sum(s > scores[i] for s in scores)
    assert found.p50.value == np.percentile(found.mean_ranks, 50)
    assert found.p1.value == pytest.approx(np.percentile(found.mean_ranks, 1), rel=1e-12)
    assert found.k_anonymity is found.p1
    assert found.p1.low <= found.p1.value <= found.p1.high


def test_percentiles_and_their_interval_are_numpys_over_redrawn_speakers() -> None:
    test, owner, reference, _ = utterances(4, people=37, each=1, noise=4.0)
    found = rank_test(test, owner, reference, owner, variant="linkability", tests=1, level=0.8, rng=3)
    assert len(set(found.mean_ranks.tolist())) > 12, "ranks that differ, so that a neighbour is another number"
    for estimate, share in ((found.p50, 50), (found.p1, 1)):
        assert estimate.value == pytest.approx(np.percentile(found.mean_ranks, share), rel=1e-12)
    rng = np.random.default_rng(3)
    for _ in range(2):
        rng.permutation(37)  # one test and one reference utterance of each were drawn before
    drawn = rng.multinomial(37, [1 / 37] * 37, 1000)
    ordered = np.sort(found.mean_ranks)
    for estimate, share in ((found.p50, 50), (found.p1, 1)):
        redrawn = [np.percentile(np.repeat(ordered, row), share) for row in drawn]
        assert (estimate.low, estimate.high) == pytest.approx(tuple(np.quantile(redrawn, [0.1, 0.9])), rel=1e-9)


def test_a_guessers_percentile_in_closed_form() -> None:
    """A mean of L uniform ranks 1..N: mean (N + 1) / 2, variance (N^2 - 1) / 12 L; never below rank 1."""
    assert random_percentile(2, tests=1, share=0.5) == 1.5 and random_percentile(9, tests=3, share=0.5) == 5.0
    assert random_percentile(3, tests=4, share=NormalDist().cdf(-1)) == pytest.approx(2 - math.sqrt(1 / 6))
    assert random_percentile(2, tests=1) == 1.0


def test_recordings_are_found_first_and_the_card_names_the_variant() -> None:
    found = rank_test(*utterances(2, people=50, each=5, noise=0.05), variant="linkability", tests=10)
    assert (found.p50.value, found.p1.value) == (1.0, 1.0)
    median, factor = found.findings(attacker="lazy")
    assert median.metric.name == "rank_link_p50" and factor.chance_level == found.random_p1
    assert factor.conditions == {"attacker": "lazy", "N": 50, "tests": 10}


def test_identical_voices_are_indistinguishable_from_all() -> None:
    same = np.ones((6, 4))
    found = rank_test(same, list("abcdef"), same, list("abcdef"), variant="linkability", tests=2)
    assert found.mean_ranks.tolist() == [6.0] * 6


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.floats(0.01, 100.0))
def test_scale_changes_nothing_and_more_tests_stay_in_range(seed: int, scale: float) -> None:
    test, owner, reference, _ = utterances(seed, people=9, each=3, noise=1.0)
    plain = rank_test(test, owner, reference, owner, variant="linkability", tests=4)
    scaled = rank_test(scale * test, owner, reference / scale, owner, variant="linkability", tests=4)
    assert (plain.mean_ranks == scaled.mean_ranks).all()
    assert ((plain.mean_ranks >= 1) & (plain.mean_ranks <= 9)).all()
    again = rank_test(test, owner, reference, owner, variant="linkability", tests=4, rng=np.random.default_rng(5))
    assert again.mean_ranks.shape == (9,)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"tests": 0}, "at least 1 test"),
        ({"test_speakers": [0, 0, 1, 2]}, "first: '3'"),
        ({"test_speakers": ["0", "1", "2", "3"]}, "both be text"),
        ({"test_vectors": np.full((4, 16), np.nan)}, "NaN"),
        ({"test_vectors": np.ones((4, 3))}, "3 dimensions, reference vectors 16"),
        ({"test_vectors": np.zeros((0, 16)), "test_speakers": []}, "no test vectors"),
    ],
)
def test_bad_input_is_one_line(change: dict[str, Any], says: str) -> None:
    test, owner, reference, _ = utterances(3, people=4, each=1, noise=1.0)
    good = {"test_vectors": test, "test_speakers": owner, "reference_vectors": reference, "reference_speakers": owner}
    with pytest.raises(MetricError, match=says):
        rank_test(**{**good, "variant": "linkability", **change})
