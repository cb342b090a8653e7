"""Unweighted average recall: by counting, chance, laws, bad labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.core.errors import MetricError
from personare.metrics.utility.recall import uar, uar_chance, uar_estimate

LABELS = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcdx")), min_size=1, max_size=40)


@given(LABELS)
def test_mean_of_recalls_by_counting(pairs: list[tuple[str, str]]) -> None:
    recalls = []
    for label in {t for t, _ in pairs}:
        heard = [h for t, h in pairs if t == label]
        recalls.append(heard.count(label) / len(heard))
    truth, heard_all = [t for t, _ in pairs], [h for _, h in pairs]
    assert uar(truth, heard_all) == pytest.approx(sum(recalls) / len(recalls))
    assert uar(truth * 3, heard_all * 3) == pytest.approx(uar(truth, heard_all))
    assert uar_chance(truth) == 1 / len(recalls)


def test_rare_classes_count_the_same() -> None:
    assert uar(["calm"] * 99 + ["sad"], ["calm"] * 100) == 0.5
    assert uar(["calm", "sad"], ["calm", "sad"]) == 1
    assert uar([1, 2], [2, 1]) == 0


def test_bad_labels_are_one_line() -> None:
    with pytest.raises(MetricError, match="at least one utterance"):
        uar([], [])
    with pytest.raises(MetricError, match="do not fit"):
        uar(["a", "b"], ["a"])


def test_interval_redraws_speakers() -> None:
    rng = np.random.default_rng(0)
    truth = rng.choice(["a", "b", "c"], size=300)
    heard = np.where(rng.random(300) < 0.6, truth, "a")
    found = uar_estimate(truth, heard, speakers=np.arange(300) % 12)
    assert found.value == uar(truth, heard)
    assert found.low < found.value < found.high
    assert found.n == 12
