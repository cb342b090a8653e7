"""The back-end that training speakers choose: it finds what tells people apart, and never hears whom it attacks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from personare.attackers import backend as backend_module
from personare.attackers.backend import BackendFits
from personare.attackers.choosing import area, deal_folds, held_out_trials
from personare.attackers.chosen import ChosenScorer, FittedFusion, comparisons
from personare.attackers.combining import combine, fit_sum
from personare.attackers.knowledge import Knowledge
from personare.attackers.scoring import enrolled, score_all
from personare.attackers.split import Anonymization, EmbeddedSpeech, Split, TrainingVectors
from personare.core.errors import ConfigError, LeakError
from personare.core.fingerprint import SystemIdentity
from personare.core.tables import Embeddings

SYSTEM = SystemIdentity("a system", "a system")
NUISANCE, IDENTITY, NOTHING = 12, 6, 8


def people(prefix: str, count: int, seed: int, *, each: int = 6, draws: int = 1) -> EmbeddedSpeech:
    """Speech whose first part is mostly a nuisance, with identity in a few directions; the second part says nothing."""
    rng = np.random.default_rng(seed)
    mixing = np.random.default_rng(99).normal(size=(IDENTITY, NUISANCE + IDENTITY))
    ids, speakers, utterances, rows = [], [], [], []
    for s in range(count):
        who = rng.normal(size=IDENTITY)
        for u in range(each):
            for d in range(draws):
                loud = np.concatenate([3.0 * rng.normal(size=NUISANCE), np.zeros(IDENTITY)])
                voice = who @ mixing * 0.5 + loud + 0.5 * rng.normal(size=NUISANCE + IDENTITY)
                rows.append(np.concatenate([voice / np.linalg.norm(voice), _unit(rng.normal(size=NOTHING))]))
                utterances.append(f"{prefix}{s}-{u}")
                ids.append(f"{prefix}{s}-{u}-{d}")
                speakers.append(f"{prefix}{s}")
    table = Embeddings(tuple(ids), tuple(speakers), np.array(rows, np.float32))
    return EmbeddedSpeech(table, Anonymization(SYSTEM, prefix), tuple(utterances))


def _unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(vector / np.linalg.norm(vector))


def training_of(train: EmbeddedSpeech) -> TrainingVectors:
    nobody = np.zeros((1, train.embeddings.vectors.shape[1]), np.float32)
    sides = [EmbeddedSpeech(Embeddings((n,), ("nobody",), nobody), Anonymization(SYSTEM, n)) for n in ("e", "t")]
    split = Split(Knowledge.INFORMED, sides[0], sides[1], train)
    widths = (NUISANCE + IDENTITY, NOTHING)
    return replace(split.training_vectors(), widths=widths, part_names=("voice", "nothing"))


@pytest.fixture(scope="module")
def fitted() -> FittedFusion:
    scorer = ChosenScorer().fit(training_of(people("p", 40, 1)))
    assert isinstance(scorer, FittedFusion)
    return scorer


def _area_on(speech: EmbeddedSpeech, scorer: object) -> float:
    first = [i for i in range(len(speech.embeddings.ids)) if speech.utterances[i][-1] in "012"]
    rest = sorted(set(range(len(speech.embeddings.ids))) - set(first))
    trials = score_all(
        speech.embeddings.rows(rest),
        enrolled(speech.embeddings.rows(first)),
        **({} if scorer is None else {"scorer": scorer}),  # type: ignore[arg-type]
    )
    return area(trials.targets, trials.nontargets)


def test_it_beats_the_plain_cosine_on_people_it_never_heard(fitted: FittedFusion) -> None:
    others = people("q", 30, 2)
    assert _area_on(others, fitted) > _area_on(others, None) + 0.1


def test_held_out_training_speakers_tell_what_to_expect(fitted: FittedFusion) -> None:
    assert fitted.area == pytest.approx(_area_on(people("q", 30, 2), fitted), abs=0.06)


def test_a_part_that_says_nothing_counts_for_little(fitted: FittedFusion) -> None:
    rng = np.random.default_rng(3)
    others = people("q", 30, 2)
    vectors = others.embeddings.vectors.copy()
    vectors[:, -NOTHING:] = rng.normal(size=(len(vectors), NOTHING))
    changed = Embeddings(others.embeddings.ids, others.embeddings.speakers, vectors)
    assert _area_on(replace(others, embeddings=changed), fitted) == pytest.approx(_area_on(others, fitted), abs=0.03)
    voice, nothing = fitted.choices
    assert (voice.embedder, nothing.embedder) == ("voice", "nothing")
    assert voice.area > 0.8 > 0.6 > nothing.area and voice.weight > 0
    assert fitted.area >= voice.area


def test_scores_are_log_likelihood_ratios(fitted: FittedFusion) -> None:
    others = people("q", 60, 4).embeddings
    trials = score_all(others, enrolled(people("q", 60, 4).embeddings), scorer=fitted)
    targets, nontargets = trials.targets, trials.nontargets
    cost = (np.logaddexp(0, -targets).mean() + np.logaddexp(0, nontargets).mean()) / (2 * np.log(2))
    assert cost < 0.7  # 1 is what a useless answer costs
    slope, offset = fit_sum(np.concatenate([targets, nontargets])[:, None], np.arange(len(trials)) < len(targets))
    assert 0.4 < slope[0] < 2.5 and abs(offset) < 1.5


def test_nobody_it_has_learnt_from_is_attacked(fitted: FittedFusion) -> None:
    with pytest.raises(LeakError, match="p0"):
        score_all(people("p", 3, 5).embeddings, enrolled(people("p", 3, 6).embeddings), scorer=fitted)


def test_draws_of_one_utterance_are_never_on_both_sides() -> None:
    training = training_of(people("p", 18, 1, each=5, draws=3))
    for learnt, judging, known, unknown in deal_folds(training):
        assert judging.utterance is not None
        assert not set(judging.utterance[known].tolist()) & set(judging.utterance[unknown].tolist())
        assert len(known) + len(unknown) == len(judging.ids)
        assert not set(learnt.names) & set(judging.names)
        per_speaker = np.bincount(judging.speaker[known])
        assert per_speaker.tolist() == [2 * 3] * len(judging.names)


def test_trials_of_held_out_speakers_name_their_targets() -> None:
    training = training_of(people("p", 18, 1, each=4))
    for target, (_, judging, _, unknown) in zip(held_out_trials(training), deal_folds(training), strict=True):
        assert target.shape == (len(unknown), len(judging.names))
        assert (target.sum(1) == 1).all()


def test_too_few_speakers_are_one_line() -> None:
    with pytest.raises(ConfigError, match="needs 8 training speakers"):
        ChosenScorer().fit(training_of(people("p", 7, 1)))
    with pytest.raises(ConfigError, match="there is none"):
        ChosenScorer().fit(None)


def test_every_comparison_fits_the_vectors() -> None:
    assert all(one.backend is None or one.backend.lda < 30 for one in comparisons(30))
    assert str(comparisons(30)[0]) == "cosine"
    assert len({str(one) for one in comparisons(300)}) == len(comparisons(300))


class TestSum:
    """The calibrated sum against closed forms."""

    def test_two_gaussians_have_the_known_weight(self) -> None:
        """Scores N(1, 1) and N(-1, 1) at even odds: the log-likelihood ratio is 2 s."""
        rng = np.random.default_rng(0)
        scores = np.concatenate([rng.normal(1, 1, 20_000), rng.normal(-1, 1, 20_000)])[:, None]
        weights, offset = fit_sum(scores, np.arange(40_000) < 20_000)
        assert weights[0] == pytest.approx(2.0, abs=0.12) and offset == pytest.approx(0.0, abs=0.06)

    def test_independent_parts_add_up(self) -> None:
        rng = np.random.default_rng(1)
        sign = np.where(np.arange(40_000) < 20_000, 1.0, -1.0)
        scores = np.stack([sign * 0.5 + rng.normal(size=40_000), sign * 1.0 + rng.normal(size=40_000)], axis=1)
        weights, _ = fit_sum(scores, sign > 0)
        assert weights.tolist() == pytest.approx([1.0, 2.0], abs=0.12)

    def test_a_part_that_points_the_wrong_way_is_left_out(self) -> None:
        rng = np.random.default_rng(2)
        sign = np.where(np.arange(4000) < 2000, 1.0, -1.0)
        scores = np.stack([sign + rng.normal(size=4000), -sign + rng.normal(size=4000)], axis=1)
        assert fit_sum(scores, sign > 0)[0][1] == 0.0

    def test_one_part_alone_is_taken_where_the_sum_is_no_better(self) -> None:
        rng = np.random.default_rng(3)
        targets = [np.eye(6, dtype=bool).repeat(3, axis=0) for _ in range(4)]
        perfect = [np.where(t, 5.0, -5.0) + 0.01 * rng.normal(size=t.shape) for t in targets]
        noise = [rng.normal(size=t.shape) for t in targets]
        both = combine([noise, perfect], targets)
        assert both.used == (False, True) and both.area == 1.0
        assert len(both.of_used().weights) == 1


def test_settings_tried_together_are_those_tried_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    training = training_of(people("p", 12, 2, each=3))
    tried = [one.backend for one in comparisons(training.vectors.shape[1]) if one.backend is not None]
    alone = [backend.fit(training) for backend in tried]
    counted = []
    directions = backend_module.lda_directions

    def count(*arguments: Any, **named: Any) -> Any:
        counted.append(named["shrinkage"])
        return directions(*arguments, **named)

    monkeypatch.setattr(backend_module, "lda_directions", count)
    fits = BackendFits(training)
    together = [fits.fit(backend) for backend in tried]
    for one, other in zip(alone, together, strict=True):
        assert np.array_equal(one.projection, other.projection) and np.array_equal(one.mean, other.mean)
        assert (one.plda is None) == (other.plda is None)
        if one.plda is not None and other.plda is not None:
            assert np.array_equal(one.plda.within, other.plda.within)
    with_lda = {backend.shrinkage for backend in tried if backend.lda}
    assert sorted(counted) == sorted(with_lda), "the eigenvalue problem is solved once for each shrinkage"
