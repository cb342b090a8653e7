"""SIM: closed forms, laws, degenerate inputs."""

from __future__ import annotations

import numpy as np
import pytest

from personare import metrics
from personare.core.errors import MetricError

VECTORS = np.random.default_rng(0).normal(size=(12, 8))
SPEAKERS = np.repeat(list("abc"), 4)


def test_the_same_voice_is_1_the_opposite_minus_1_and_lengths_do_not_count() -> None:
    assert metrics.sim(VECTORS, 3 * VECTORS, SPEAKERS).value == pytest.approx(1)
    assert metrics.sim(VECTORS, -VECTORS, SPEAKERS).value == pytest.approx(-1)
    right_angle = metrics.sim(np.eye(3), np.roll(np.eye(3), 1, axis=0), list("abc"))
    assert (right_angle.value, right_angle.low, right_angle.high, right_angle.n) == (0, 0, 0, 3)


def test_it_is_the_mean_over_utterances_with_an_interval_over_speakers() -> None:
    other = VECTORS + np.random.default_rng(1).normal(size=VECTORS.shape)
    cosines = [float(a @ b / np.linalg.norm(a) / np.linalg.norm(b)) for a, b in zip(VECTORS, other, strict=True)]
    found = metrics.sim(VECTORS, other, SPEAKERS)
    assert found.value == pytest.approx(np.mean(cosines))
    means = [np.mean(cosines[i : i + 4]) for i in (0, 4, 8)]
    assert found.low < min(means) < found.value < max(means) < found.high, "three speakers prove little"


def test_bad_input_is_one_line() -> None:
    with pytest.raises(MetricError, match="a vector before, one after and a speaker"):
        metrics.sim(VECTORS, VECTORS[:5], SPEAKERS)
    with pytest.raises(MetricError, match="row 0 is all zeros"):
        metrics.sim(0 * VECTORS, VECTORS, SPEAKERS)
