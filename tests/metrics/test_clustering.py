"""Speaker clustering by people: equation 3 by trying everything, F1 by hand, laws, chance, what cannot be scored."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.core.errors import MetricError
from personare.metrics.privacy.clustering import chance_level, classification_change, contingency, macro_f1, purity

TRIALS = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(1, 4), min_size=n, max_size=n), st.lists(st.sampled_from("abcd"), min_size=n, max_size=n)
    )
)


def purity_by_trying(clusters: list[int], speakers: list[str]) -> float:
    """Equation 3 word for word: the best of all ways to give every cluster another speaker."""
    names = sorted(set(clusters))
    people = [*sorted(set(speakers)), *(f"nobody {i}" for i in range(len(names)))]
    pairs = list(zip(clusters, speakers, strict=True))
    best = max(
        sum(sum(c == name and s == who for c, s in pairs) for name, who in zip(names, chosen, strict=True))
        for chosen in itertools.permutations(people, len(names))
    )
    return best / len(pairs)


@given(TRIALS)
def test_purity_is_the_best_assignment(trial: tuple[list[int], list[str]]) -> None:
    assert purity(*trial) == pytest.approx(purity_by_trying(*trial))


def test_purity_and_f1_by_hand() -> None:
    # cluster 1: a a b, cluster 2: b b, cluster 3: a; a=3, b=3. Purity: 1 -> a (2), 2 -> b (2), 3 -> nobody: 4 of 6
    clusters, speakers = [1, 1, 1, 2, 2, 3], ["a", "a", "b", "b", "b", "a"]
    assert purity(clusters, speakers) == pytest.approx(4 / 6)
    # F1 links 1 and 3 to a (4 taken, 3 right of 3), 2 to b (2 taken, 2 right of 3): (6/7 + 4/5) / 2
    assert macro_f1(clusters, speakers) == pytest.approx((6 / 7 + 4 / 5) / 2)


def test_f1_agrees_with_the_textbook_formula_for_given_links() -> None:
    from personare.metrics.privacy import clustering

    assert clustering.MOST_CLUSTERS >= 4
    speakers = ["a"] * 6 + ["b"] * 5 + ["c"] * 4 + ["d"]
    clusters = [1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 1, 4]
    linked = {1: "a", 2: "b", 3: "c", 4: "d"}
    said = [linked[c] for c in clusters]
    scores = []
    for who in "abcd":
        right = sum(x == y == who for x, y in zip(said, speakers, strict=True))
        precision, recall = right / said.count(who), right / speakers.count(who)
        scores.append(2 * precision * recall / (precision + recall))
    assert macro_f1(clusters, speakers) == pytest.approx(np.mean(scores)), "the diagonal links are the best here"


@given(TRIALS, st.randoms(use_true_random=False))
def test_names_and_order_do_not_matter(trial: tuple[list[int], list[str]], chance: object) -> None:
    clusters, speakers = trial
    order = list(range(len(clusters)))
    chance.shuffle(order)  # type: ignore[attr-defined]
    renamed = [f"cluster {(7 * c) % 5}" for c in clusters]
    for score in (purity, macro_f1):
        value = score(clusters, speakers)
        assert 0 < value <= 1
        assert value == pytest.approx(score([renamed[i] for i in order], [speakers[i] for i in order]))


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=16))
def test_a_cluster_for_every_speaker_is_perfect(speakers: list[str]) -> None:
    clusters = ["abcd".index(s) for s in speakers]
    assert purity(clusters, speakers) == 1.0 and macro_f1(clusters, speakers) == 1.0


def test_guessing_is_measured_on_the_very_sizes() -> None:
    speakers = ["a"] * 5 + ["b"] * 5 + ["c"] * 5 + ["d"]
    clusters = [1] * 4 + [2] * 4 + [3] * 4 + [4] * 4
    level = chance_level(purity, [(clusters, speakers)], rng=np.random.default_rng(1), draws=2000)
    again = chance_level(purity, [(clusters, speakers)], rng=np.random.default_rng(2), draws=2000)
    assert level == pytest.approx(again, abs=0.01) and 0.35 < level < 0.55
    one = chance_level(purity, [([1] * 16, speakers)], rng=np.random.default_rng(1))
    assert one == pytest.approx(5 / 16), "one cluster for all leaves nothing to chance"


def test_what_cannot_be_scored_is_refused() -> None:
    for clusters, speakers in (([], []), ([1], ["a", "b"])):
        with pytest.raises(MetricError, match="each recording needs"):
            contingency(clusters, speakers)
    with pytest.raises(MetricError, match="at most 6 clusters"):
        macro_f1(list(range(9)), ["a"] * 9)
    with pytest.raises(MetricError, match="at least one trial"):
        chance_level(purity, [], rng=np.random.default_rng(1))
    with pytest.raises(MetricError):
        classification_change(-1, 16)
    assert classification_change(0, 16) == 0.0


@pytest.mark.parametrize(("trials", "draws", "each"), [(1, 7, 7), (3, 7, 2), (7, 7, 1), (9, 7, 1), (2, 200, 100)])
def test_the_draws_of_a_chance_level_are_shared_among_the_trials_one_each_at_least(
    trials: int, draws: int, each: int
) -> None:
    scored: list[list[str]] = []

    def noted(clusters: Sequence[int], speakers: Sequence[str]) -> float:
        scored.append(list(speakers))
        return float(len(scored))

    some = [([1, 2, 2], ["a", "b", str(trial)]) for trial in range(trials)]
    level = chance_level(noted, some, rng=np.random.default_rng(0), draws=draws)
    assert [sum(str(trial) in speakers for speakers in scored) for trial in range(trials)] == [each] * trials
    assert level == (1 + len(scored)) / 2
    if draws == 200:
        scored.clear()
        chance_level(noted, some, rng=np.random.default_rng(0))
        assert len(scored) == 200, "unless said otherwise"
