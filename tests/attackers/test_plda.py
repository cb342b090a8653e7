"""PLDA recovers known covariances, meets the closed form, and scores like the joint bell curves written out."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from personare.attackers.calibration import calibrate_in_folds
from personare.attackers.plda import Plda, fit_plda
from personare.attackers.scoring import TrialScores
from personare.core.errors import ConfigError
from personare.core.tables import Embeddings
from personare.metrics.privacy.cllr import cllr

Floats = NDArray[np.float64]


def _covariance(rng: np.random.Generator, d: int) -> Floats:
    root = rng.normal(size=(d, d))
    result: Floats = root @ root.T / d + 0.1 * np.eye(d)
    return result


def _drawn(seed: int, counts: NDArray[np.int64], d: int) -> tuple[Floats, NDArray[np.int64], Plda]:
    rng = np.random.default_rng(seed)
    truth = Plda(rng.normal(size=d), _covariance(rng, d) + np.eye(d), _covariance(rng, d))
    y = rng.multivariate_normal(truth.mean, truth.between, len(counts))
    speaker = np.repeat(np.arange(len(counts)), counts)
    x = y[speaker] + rng.multivariate_normal(np.zeros(d), truth.within, len(speaker))
    return x, speaker, truth


def test_known_covariances_are_recovered() -> None:
    counts = np.random.default_rng(0).integers(2, 9, 4000)
    x, speaker, truth = _drawn(1, counts, 4)
    found = fit_plda(x, speaker, iterations=60)
    np.testing.assert_allclose(found.mean, truth.mean, atol=0.06)
    np.testing.assert_allclose(found.between, truth.between, atol=0.15)
    np.testing.assert_allclose(found.within, truth.within, atol=0.05)


def test_equal_counts_meet_the_closed_form_of_maximum_likelihood() -> None:
    """W = within scatter / S(n-1), B = covariance of the speaker means - W / n, for S speakers of n utterances each."""
    n, s = 5, 300
    x, speaker, _ = _drawn(2, np.full(s, n), 3)
    means = x.reshape(s, n, 3).mean(1)
    inside = x - means[speaker]
    within = inside.T @ inside / (s * (n - 1))
    between = np.cov(means.T, bias=True) - within / n
    found = fit_plda(x, speaker, iterations=400)
    np.testing.assert_allclose(found.within, within, atol=1e-6)
    np.testing.assert_allclose(found.between, between, atol=1e-6)
    np.testing.assert_allclose(found.mean, means.mean(0), atol=1e-8)


def _loglik(model: Plda, x: Floats, speaker: NDArray[np.int64]) -> float:
    """Every speaker's utterances as one long bell curve."""
    total = 0.0
    for who in range(speaker.max() + 1):
        own = x[speaker == who]
        n = len(own)
        covariance = np.kron(np.ones((n, n)), model.between) + np.kron(np.eye(n), model.within)
        total += stats.multivariate_normal.logpdf(own.reshape(-1), np.tile(model.mean, n), covariance)
    return total


def test_every_round_raises_the_likelihood_and_the_end_is_a_summit() -> None:
    counts = np.random.default_rng(3).integers(2, 7, 120)
    x, speaker, _ = _drawn(3, counts, 2)
    curve = [_loglik(fit_plda(x, speaker, iterations=k), x, speaker) for k in (1, 2, 4, 8, 1000)]
    assert all(b >= a - 1e-9 for a, b in itertools.pairwise(curve))
    best = fit_plda(x, speaker, iterations=1000)
    rng = np.random.default_rng(4)
    for _ in range(20):
        step = 0.02 * rng.normal(size=(2, 2, 2))
        step = step + step.transpose(0, 2, 1)
        near = Plda(best.mean + 0.02 * rng.normal(size=2), best.between + step[0], best.within + step[1])
        assert _loglik(near, x, speaker) < curve[-1]


@pytest.mark.parametrize(("n", "k"), [(1, 1), (3, 1), (4, 2)])
def test_scores_equal_the_joint_bell_curves_written_out(n: int, k: int) -> None:
    """log p(m, x | one speaker) - log p(m) p(x), m the mean of n utterances and x of k."""
    _, _, model = _drawn(5, np.array([1]), 3)
    rng = np.random.default_rng(6)
    enroll, test = rng.normal(size=(4, 3)), rng.normal(size=(5, 3))
    found = model(test, enroll, enroll_counts=np.full(4, n), test_counts=np.full(5, k))
    b, w = model.between, model.within
    joint = np.block([[b + w / n, b], [b, b + w / k]])
    for i, x in enumerate(test):
        for j, m in enumerate(enroll):
            both = stats.multivariate_normal.logpdf(np.r_[m, x], np.tile(model.mean, 2), joint)
            alone = stats.multivariate_normal.logpdf(m, model.mean, b + w / n)
            alone += stats.multivariate_normal.logpdf(x, model.mean, b + w / k)
            assert found[i, j] == pytest.approx(both - alone, abs=1e-8)


def test_the_model_that_made_the_vectors_tells_evidence_truly() -> None:
    """Turing: the mean of exp(LLR) over strangers is 1."""
    x, _, model = _drawn(7, np.full(3000, 2), 2)
    first, second = x[::2], x[1::2]
    llrs = model(second[:1500], first[1500:])
    assert np.exp(llrs).mean() == pytest.approx(1, abs=0.1)


def test_nothing_to_learn() -> None:
    with pytest.raises(ConfigError, match="two speakers"):
        fit_plda(np.ones((3, 2)), np.zeros(3, np.int64))
    with pytest.raises(ConfigError, match="one with two utterances"):
        fit_plda(np.ones((3, 2)), np.arange(3))
    with pytest.raises(ConfigError, match="iterations"):
        fit_plda(np.ones((3, 2)), np.array([0, 0, 1]), iterations=0)


def _trial_scores(people: int, *, slope: float) -> TrialScores:
    """Scores of everybody against everybody, three tests each, blown up as an overconfident model does."""
    rng = np.random.default_rng(3)
    names = tuple(f"s{i:02d}" for i in range(people))
    who = np.repeat(np.arange(people), 3)
    test_at, enroll_at = (side.ravel() for side in np.meshgrid(np.arange(3 * people), np.arange(people), indexing="ij"))
    target = who[test_at] == enroll_at
    llr = np.where(target, 1.0, -1.0) + np.sqrt(2.0) * rng.normal(size=len(target))
    enroll = Embeddings(names, names, np.ones((people, 1), np.float32))
    ids = tuple(f"u{i:03d}" for i in range(3 * people))
    test = Embeddings(ids, tuple(names[i] for i in who), np.ones((3 * people, 1), np.float32))
    return TrialScores(enroll, test, enroll_at.astype(np.int32), test_at.astype(np.int32), slope * llr + 4.0, target)


def test_overconfident_scores_become_log_likelihood_ratios_in_folds() -> None:
    trials = _trial_scores(30, slope=6.0)
    llrs = calibrate_in_folds(trials)
    assert llrs is not None
    expected = (trials.score - 4.0) / 6.0  # targets and nontargets have bell curves of variance 2 at 1 and -1
    costs = [cllr(x[trials.target], x[~trials.target]) for x in (trials.score, llrs, expected)]
    assert costs[0] > 2 * costs[1] and costs[1] == pytest.approx(costs[2], abs=0.05)
    assert np.corrcoef(llrs, expected)[0, 1] > 0.98


def test_a_trial_is_calibrated_by_people_of_other_folds_only() -> None:
    """Whatever two people score with each other, their own LLR comes from a line that has not seen it."""
    trials = _trial_scores(12, slope=1.0)
    pair = (trials.tested == "s00") & (trials.enrolled == "s00")
    changed = replace(trials, score=np.where(pair, trials.score + 50.0, trials.score))
    before, after = calibrate_in_folds(trials), calibrate_in_folds(changed)
    assert before is not None and after is not None
    slopes = (after - before)[pair] / 50.0
    assert np.ptp(slopes) < 1e-9, "one line, the same before and after"
    assert calibrate_in_folds(_trial_scores(2, slope=1.0)) is None, "nobody is left to calibrate on"
