"""Learning from the attacked corpus in folds: it helps, and nobody is compared by a model that has heard them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from personare.attackers.attack import Attack, Attacker, attack_in_folds
from personare.attackers.choosing import area
from personare.attackers.folds import FoldedScorer, all_draws, deal_speakers, fold_pairs, only
from personare.attackers.knowledge import Knowledge
from personare.attackers.scoring import enrolled
from personare.attackers.split import Anonymization, EmbeddedSpeech
from personare.core.errors import ConfigError, LeakError
from personare.core.fingerprint import SystemIdentity
from personare.core.tables import Embeddings

SYSTEM = SystemIdentity("a system", "a system")
PEOPLE, IDENTITY, NUISANCE = 32, 5, 10
INFORMED = Attacker(Knowledge.INFORMED, "ecapa", "wccn", folds=4)


def speech(role: str, draw: int = 1, *, people: int = PEOPLE, each: int = 3) -> EmbeddedSpeech:
    """Vectors that are mostly nuisance; what is left of the speaker lies in directions that must be learnt."""
    voices = np.random.default_rng(1).normal(size=(people, IDENTITY))
    rng = np.random.default_rng([len(role), ord(role[0]), draw])
    mixing = np.random.default_rng(2).normal(size=(IDENTITY, NUISANCE + IDENTITY)) * 0.5
    rows, ids, speakers = [], [], []
    for s in range(people):
        for u in range(each):
            nuisance = np.concatenate([3.0 * rng.normal(size=NUISANCE), 0.4 * rng.normal(size=IDENTITY)])
            rows.append(voices[s] @ mixing + nuisance)
            ids.append(f"{role}-{s}-{u}")
            speakers.append(f"s{s:02d}")
    table = Embeddings(tuple(ids), tuple(speakers), np.array(rows, np.float32))
    return EmbeddedSpeech(table, Anonymization(SYSTEM, f"{role} {draw}"))


@pytest.fixture(scope="module")
def played() -> Attack:
    draws = [speech("enrolment", draw) for draw in (1, 2, 3)]
    return attack_in_folds(INFORMED, draws[0], speech("trial"), draws)


def _area(scores: np.ndarray, tests: Embeddings, gallery: Embeddings) -> float:
    own = np.array(tests.speakers)[:, None] == np.array(gallery.speakers)
    return area(scores[own], scores[~own])


def test_it_learns_from_the_attacked_corpus_what_the_cosine_does_not_see(played: Attack) -> None:
    tests, gallery = played.trial, played.gallery
    plain = Attack(played.enroll, played.trial).scores(tests)
    assert _area(played.scores(tests), tests, gallery) > _area(plain, tests, gallery) + 0.1
    trials = played.trials(tests, genders={})
    assert len(trials) == len(tests.ids) * len(gallery.ids)
    np.testing.assert_allclose(
        trials.score.reshape(len(tests.ids), -1)[:5], played.scores(tests)[:5], err_msg="both ways are one"
    )


def test_every_model_has_heard_nobody_of_its_two_folds(played: Attack) -> None:
    scorer = played.scorer
    assert isinstance(scorer, FoldedScorer)
    assert sorted(scorer.models) == fold_pairs(4)
    for pair, model in scorer.models.items():
        heard = {who for who, fold in scorer.fold_of.items() if fold not in pair}
        assert model.trained_on == heard  # type: ignore[attr-defined]


def test_a_model_that_has_heard_somebody_refuses_to_compare_them(played: Attack) -> None:
    scorer = played.scorer
    assert isinstance(scorer, FoldedScorer)
    moved = {who: (fold + 1) % 4 for who, fold in scorer.fold_of.items()}
    with pytest.raises(LeakError, match="s"):
        replace(scorer, fold_of=moved).scores(played.trial, played.gallery)


def test_people_of_one_fold_are_compared_by_all_models_that_may(played: Attack) -> None:
    scorer = played.scorer
    assert isinstance(scorer, FoldedScorer)
    first = [who for who, fold in scorer.fold_of.items() if fold == 0][:2]
    tests, gallery = played.trial.of_speakers({first[0]}), enrolled(played.enroll.of_speakers({first[1]}))
    may = [np.asarray(model(tests.vectors, gallery.vectors)) for pair, model in scorer.models.items() if 0 in pair]
    assert len(may) == 3
    np.testing.assert_allclose(scorer.scores(tests, gallery), np.mean(may, axis=0))


def test_bare_vectors_are_refused(played: Attack) -> None:
    with pytest.raises(ConfigError, match=r"call attack\.scores"):
        played.scorer(played.trial.vectors, played.gallery.vectors)


def test_other_speech_is_learnt_from_as_well(played: Attack) -> None:
    others = speech("x", people=10)
    names = tuple(f"o{who}" for who in others.embeddings.speakers)
    others = replace(others, embeddings=Embeddings(others.embeddings.ids, names, others.embeddings.vectors))
    draws = [speech("enrolment")]
    attack = attack_in_folds(INFORMED, draws[0], speech("trial"), draws, training=others)
    assert isinstance(attack.scorer, FoldedScorer)
    for model in attack.scorer.models.values():
        assert set(names) < model.trained_on  # type: ignore[attr-defined]


def test_attacked_people_among_other_speech_are_refused() -> None:
    draws = [speech("enrolment")]
    with pytest.raises(LeakError):
        attack_in_folds(INFORMED, draws[0], speech("trial"), draws, training=speech("x"))


def test_draws_that_the_owner_used_are_refused() -> None:
    stolen = replace(speech("enrolment"), anonymization=Anonymization(SYSTEM, "trial 1"))
    with pytest.raises(LeakError, match="share their pseudo-speakers"):
        attack_in_folds(INFORMED, stolen, speech("trial"), [stolen])


def test_folds_are_equal_and_do_not_depend_on_the_order_of_names() -> None:
    names = [f"s{i}" for i in range(18)]
    dealt = deal_speakers(names, 4)
    assert dealt == deal_speakers(names[::-1], 4)
    assert sorted(np.bincount(list(dealt.values())).tolist()) == [4, 4, 5, 5]


def test_draws_keep_their_utterances_and_tokens() -> None:
    both = all_draws([speech("enrolment", 1), speech("enrolment", 2)])
    assert len(both.embeddings.ids) == 2 * PEOPLE * 3 and len(set(both.utterances)) == PEOPLE * 3
    assert both.anonymization == Anonymization(SYSTEM, "enrolment 1", ("enrolment 2",))
    some = only(both, {"s00"})
    assert len(some.embeddings.ids) == len(some.utterances) == 6
    original = replace(speech("enrolment"), anonymization=None)
    with pytest.raises(ConfigError, match="anonymized by one system"):
        all_draws([original, speech("enrolment", 2)])


@pytest.mark.parametrize(("level", "folds"), [(Knowledge.INFORMED, 2), (Knowledge.LAZY_INFORMED, 4)])
def test_folds_are_for_informed_attackers(level: Knowledge, folds: int) -> None:
    with pytest.raises(ConfigError, match="folds are for the informed attacker, 3 or more"):
        Attacker(level, folds=folds)
