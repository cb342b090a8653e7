"""A learnt back-end beats the plain cosine where noise hides speakers; AS-norm and calibration keep their promises."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from personare.attackers.asnorm import AsNorm
from personare.attackers.backend import Backend, lda_projection, wccn_projection
from personare.attackers.calibration import fit_calibration
from personare.attackers.choosing import choose_backend
from personare.attackers.knowledge import Knowledge
from personare.attackers.scoring import TrialScores, score_all
from personare.attackers.split import Anonymization, EmbeddedSpeech, Split
from personare.core.errors import ConfigError
from personare.core.fingerprint import SystemIdentity
from personare.core.tables import Embeddings
from personare.core.vectors import cosine


def _speech(prefix: str, seed: int, *, speakers: int, each: int, d: int = 20) -> Embeddings:
    """Speakers differ in 5 directions; loud noise fills 5 others."""
    voices = np.random.default_rng(speakers).normal(size=(speakers, d)) * _ramp(d, 0)
    noise = np.random.default_rng(seed).normal(size=(speakers * each, d)) * (0.6 + 4 * _ramp(d, 5))
    who = np.repeat(np.arange(speakers), each)
    names = tuple(f"{prefix[0]}{i}" for i in who)
    ids = tuple(f"{prefix}{i}" for i in range(len(who)))
    return Embeddings(ids, names, (voices[who] + noise).astype(np.float32))


def _ramp(d: int, first: int) -> NDArray[np.float64]:
    return ((np.arange(d) >= first) & (np.arange(d) < first + 5)).astype(float)


def _auc(scores: TrialScores) -> float:
    ranks = np.argsort(np.argsort(scores.score))
    t = scores.target
    return float((ranks[t].sum() - t.sum() * (t.sum() - 1) / 2) / (t.sum() * (~t).sum()))


@pytest.fixture(scope="module")
def split() -> Split:
    enroll, test = (_speech(f"t{n}", s, speakers=30, each=3) for n, s in (("e", 1), ("t", 2)))
    training = _speech("l", 3, speakers=60, each=8)
    disguises = [Anonymization(SystemIdentity("x"), str(i)) for i in range(3)]
    parts = [EmbeddedSpeech(e, d) for e, d in zip((enroll, test, training), disguises, strict=True)]
    return Split(Knowledge.INFORMED, *parts)


@pytest.mark.parametrize(
    "backend",
    [
        Backend(shrinkage=0.3),
        Backend(shrinkage=0.3, lda=8),
        Backend(shrinkage=0.3, lda=8, wccn=False),
        Backend(shrinkage=0.3, scorer="cosine"),
        Backend(shrinkage=0.3, lda=5, scorer="cosine"),
    ],
)
def test_learning_beats_the_plain_cosine(split: Split, backend: Backend) -> None:
    fitted = backend.fit(split.training_vectors())
    test, enroll = split.test.embeddings, split.enroll.embeddings
    assert _auc(score_all(test, enroll, scorer=fitted)) > _auc(score_all(test, enroll)) + 0.1
    again = backend.fit(split.training_vectors())
    np.testing.assert_array_equal(fitted(test.vectors, enroll.vectors), again(test.vectors, enroll.vectors))


@pytest.mark.parametrize("compare", ["plda", "cosine"])
def test_settings_chosen_by_the_teachers_beat_the_plain_cosine(
    split: Split, compare: Literal["plda", "cosine"]
) -> None:
    training = split.training_vectors()
    fitted = choose_backend(training, start=Backend(scorer=compare)).fit(training)
    test, enroll = split.test.embeddings, split.enroll.embeddings
    assert _auc(score_all(test, enroll, scorer=fitted)) > _auc(score_all(test, enroll)) + 0.1


def test_wccn_whitens_and_lda_keeps_what_differs(split: Split) -> None:
    training = split.training_vectors()
    projected = training.vectors @ wccn_projection(training.vectors, training.speaker, shrinkage=0.0)
    means = np.stack([projected[training.speaker == s].mean(0) for s in range(60)])
    inside = projected - means[training.speaker]
    np.testing.assert_allclose(inside.T @ inside / len(inside), np.eye(20), atol=1e-4)
    directions = lda_projection(training.vectors, training.speaker, dimensions=5, shrinkage=0.0)
    power = (directions / np.linalg.norm(directions, axis=0)) ** 2
    assert power[:5].sum() / power.sum() > 0.95
    assert lda_projection(training.vectors, np.minimum(training.speaker, 2), dimensions=9, shrinkage=0.1).shape == (
        20,
        2,
    )


def test_wrong_parameters() -> None:
    with pytest.raises(ConfigError, match="lda"):
        Backend(lda=-1)
    with pytest.raises(ConfigError, match="shrinkage"):
        Backend(shrinkage=1.5)


def test_as_norm_equals_its_formula() -> None:
    rng = np.random.default_rng(1)
    test, enroll, cohort = (rng.normal(size=(n, 5)).astype(np.float32) for n in (3, 4, 9))
    found = AsNorm(cohort, tuple("abcdefghi"), top=4)(test, enroll)
    for i in range(3):
        for j in range(4):
            s = cosine(test[i : i + 1], enroll[j : j + 1])[0, 0]
            on_t = np.sort(cosine(test[i : i + 1], cohort)[0])[-4:]
            on_e = np.sort(cosine(enroll[j : j + 1], cohort)[0])[-4:]
            expected = 0.5 * ((s - on_e.mean()) / on_e.std() + (s - on_t.mean()) / on_t.std())
            assert found[i, j] == pytest.approx(expected, rel=1e-4)


def test_as_norm_survives_a_cohort_of_twins_and_refuses_too_few() -> None:
    twins = np.ones((3, 4), np.float32)
    assert np.isfinite(AsNorm(twins, ("a", "b", "c"))(twins, twins)).all()
    with pytest.raises(ConfigError, match="at least 2"):
        AsNorm(twins[:1], ("a",))
    with pytest.raises(ConfigError, match="names do not fit"):
        AsNorm(twins, ("a",))


def test_calibration_finds_the_llr_of_two_bell_curves() -> None:
    """Scores N(+-d/2, 1) have LLR = d s; scaled and moved scores must come back to it."""
    rng = np.random.default_rng(2)
    d = 2.0
    t, n = rng.normal(d / 2, 1, 200_000), rng.normal(-d / 2, 1, 100_000)
    line = fit_calibration(3 * t + 7, 3 * n + 7)
    assert line.slope == pytest.approx(d / 3, rel=0.02)
    assert line(np.array([7.0]))[0] == pytest.approx(0, abs=0.03)


@given(a=st.floats(0.01, 100), b=st.floats(-50, 50))
def test_calibration_does_not_care_about_scale(a: float, b: float) -> None:
    rng = np.random.default_rng(3)
    t, n = rng.normal(1, 1, 60), rng.normal(0, 1, 50)
    np.testing.assert_allclose(fit_calibration(a * t + b, a * n + b)(a * t + b), fit_calibration(t, n)(t), atol=1e-3)


def test_calibration_at_the_edges() -> None:
    apart = fit_calibration(np.array([5.0, 6.0]), np.array([0.0, 1.0]))
    assert np.isfinite(apart.slope)
    assert apart.slope > 0
    tied = fit_calibration(np.ones(4), np.ones(9))
    np.testing.assert_allclose(tied(np.ones(2)), 0, atol=1e-6)
    with pytest.raises(ConfigError, match="0 and 1"):
        fit_calibration(np.array([]), np.array([1.0]))
    with pytest.raises(ConfigError, match="finite"):
        fit_calibration(np.array([np.nan]), np.array([1.0]))
