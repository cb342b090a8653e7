"""Attributes that the vectors carry are inferred; those they do not carry are not, and the control shows it."""

from __future__ import annotations

import numpy as np
import pytest

from personare.attackers.inference import Inferred, fit_attribute, infer_attribute
from personare.attackers.knowledge import Knowledge
from personare.attackers.split import Anonymization, EmbeddedSpeech, Split
from personare.core.errors import ConfigError
from personare.core.fingerprint import SystemIdentity
from personare.core.tables import Embeddings
from personare.core.vectors import unit_rows

VALUES = ("young", "middle", "old")


def _attribute(n: int, prefix: str) -> dict[str, str | None]:
    rng = np.random.default_rng(n)
    return {f"{prefix}{i}": VALUES[k] for i, k in enumerate(rng.choice(3, n, p=[0.5, 0.3, 0.2]))}


def _speech(prefix: str, attribute: dict[str, str | None], *, strength: float, each: int = 4) -> Embeddings:
    rng = np.random.default_rng(len(attribute))
    who = [name for name in attribute for _ in range(each)]
    shift = np.array([[VALUES.index(attribute[name] or "old") == k for k in range(10)] for name in who], float)
    vectors = rng.normal(size=(len(who), 10)) + strength * shift
    return Embeddings(tuple(f"{prefix}-{i}" for i in range(len(who))), tuple(who), vectors.astype(np.float32))


def _attack(strength: float) -> Inferred:
    learnt, attacked = _attribute(120, "l"), _attribute(80, "t")
    split = Split(
        Knowledge.INFORMED,
        EmbeddedSpeech(_speech("e", attacked, strength=strength), Anonymization(SystemIdentity("x"), "1")),
        EmbeddedSpeech(_speech("t", attacked, strength=strength), Anonymization(SystemIdentity("x"), "2")),
        EmbeddedSpeech(_speech("l", learnt, strength=strength), Anonymization(SystemIdentity("x"), "3")),
    )
    return infer_attribute(split, {**learnt, **attacked, "t0": None}, rng=np.random.default_rng(1))


def test_what_vectors_carry_is_inferred_beyond_majority_and_control() -> None:
    found = _attack(4.0)
    assert found.attempts == 79
    assert found.unknown == 1
    assert found.majority == "young"
    assert found.successes > 75
    assert found.control_successes < 45
    assert 0.35 < found.baseline < 0.65


def test_what_vectors_do_not_carry_is_not_inferred() -> None:
    found = _attack(0.0)
    assert found.successes < found.baseline * found.attempts + 10
    assert abs(found.successes - found.control_successes) < 15


def test_the_control_is_always_somebody_else_and_everybody_once() -> None:
    from personare.attackers.inference import _somebody_else

    other = _somebody_else(20, np.random.default_rng(3))
    assert sorted(other.tolist()) == list(range(20))
    assert (other != np.arange(20)).all()


def test_two_values_meet_newtons_method() -> None:
    """Softmax over two columns with penalty l2 is the plain logistic regression with penalty l2 / 2."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(60, 3)).astype(np.float32)
    labels = ["b" if v else "a" for v in x[:, 0] + rng.normal(size=60) > 0]
    weights = rng.uniform(0.5, 1.5, 60)
    model = fit_attribute(x, labels, weights=weights, l2=2.0)
    rows = np.c_[(unit_rows(x) - model.mean) / model.scale, np.ones(60)]
    truth, l2, line = np.array(labels) == "b", np.diag([1.0, 1, 1, 0]), np.zeros(4)
    for _ in range(50):
        p = 1 / (1 + np.exp(-rows @ line))
        slope = rows.T @ (weights * (p - truth)) + l2 @ line
        line -= np.linalg.solve((rows * (weights * p * (1 - p))[:, None]).T @ rows + l2, slope)
    np.testing.assert_allclose(
        np.exp(model.log_probabilities(unit_rows(x)))[:, 1], 1 / (1 + np.exp(-rows @ line)), atol=1e-3
    )


def test_one_value_only_is_one_line() -> None:
    with pytest.raises(ConfigError, match="two values"):
        fit_attribute(np.ones((3, 2), np.float32), ["a"] * 3, weights=np.ones(3))
