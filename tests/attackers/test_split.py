"""A dishonest attack cannot be built: every way to cheat ends in a LeakError."""

from __future__ import annotations

import numpy as np
import pytest

from personare.attackers.asnorm import AsNorm
from personare.attackers.backend import Backend
from personare.attackers.knowledge import Knowledge
from personare.attackers.scoring import score_all
from personare.attackers.split import Anonymization, EmbeddedSpeech, Split, TrainingVectors
from personare.core.errors import LeakError
from personare.core.fingerprint import SystemIdentity
from personare.core.tables import Embeddings

ONE, TWO, THREE = (Anonymization(SystemIdentity("mcadams"), draw) for draw in ("1", "2", "3"))
OLDER = Anonymization(SystemIdentity("older"), "1")


def _some(prefix: str, speakers: str, each: int = 4) -> Embeddings:
    rng = np.random.default_rng(len(prefix))
    who = tuple(s for s in speakers for _ in range(each))
    ids = tuple(f"{prefix}-{s}-{i}" for i, s in enumerate(who))
    return Embeddings(ids, who, rng.normal(size=(len(ids), 6)).astype(np.float32))


ENROLL, TEST, OTHERS = _some("enroll", "abc"), _some("test", "abc"), _some("train", "xyz")


def _informed() -> Split:
    return Split(
        Knowledge.INFORMED, EmbeddedSpeech(ENROLL, ONE), EmbeddedSpeech(TEST, TWO), EmbeddedSpeech(OTHERS, THREE)
    )


def test_an_honest_split_gives_lessons_of_other_speakers() -> None:
    lessons = _informed().training_vectors()
    assert lessons.names == ("x", "y", "z")
    np.testing.assert_array_equal(lessons.vectors, OTHERS.vectors)
    assert lessons.speaker.tolist() == [0] * 4 + [1] * 4 + [2] * 4


def test_every_honest_level_can_be_built() -> None:
    Split(Knowledge.ORIGINAL, EmbeddedSpeech(ENROLL), EmbeddedSpeech(TEST))
    Split(Knowledge.IGNORANT, EmbeddedSpeech(ENROLL), EmbeddedSpeech(TEST, TWO))
    Split(Knowledge.LAZY_INFORMED, EmbeddedSpeech(ENROLL, ONE), EmbeddedSpeech(TEST, TWO))
    Split(Knowledge.LAZY_INFORMED, EmbeddedSpeech(ENROLL, ONE), EmbeddedSpeech(TEST, TWO), EmbeddedSpeech(OTHERS))
    Split(
        Knowledge.SEMI_INFORMED, EmbeddedSpeech(ENROLL, ONE), EmbeddedSpeech(TEST, TWO), EmbeddedSpeech(OTHERS, OLDER)
    )


@pytest.mark.parametrize("leak", ["a", "c"])
def test_training_on_a_trial_speaker_is_impossible(leak: str) -> None:
    with pytest.raises(LeakError, match=f"1 trial speakers are also in the attacker's training \\(first: '{leak}'\\)"):
        Split(
            Knowledge.INFORMED,
            EmbeddedSpeech(ENROLL, ONE),
            EmbeddedSpeech(TEST, TWO),
            EmbeddedSpeech(_some("train", f"xy{leak}"), THREE),
        )


def test_training_on_an_enrolled_speaker_is_impossible() -> None:
    with pytest.raises(LeakError, match="also in the attacker's training"):
        Split(
            Knowledge.INFORMED,
            EmbeddedSpeech(_some("enroll", "abcx"), ONE),
            EmbeddedSpeech(TEST, TWO),
            EmbeddedSpeech(_some("t", "xy"), THREE),
        )


def test_lessons_cannot_be_made_by_hand() -> None:
    with pytest.raises(LeakError, match="taken from a Split"):
        TrainingVectors(TEST.vectors, np.zeros(len(TEST.ids), np.int64), ("a",), TEST.ids)


def test_a_fitted_backend_refuses_its_own_teachers() -> None:
    fitted = Backend(iterations=2).fit(_informed().training_vectors())
    score_all(TEST, ENROLL, scorer=fitted)
    with pytest.raises(LeakError, match="3 trial speakers"):
        score_all(OTHERS, _some("enroll", "xyz"), scorer=fitted)
    with pytest.raises(LeakError, match="first: 'x'"):
        score_all(TEST, _some("enroll", "abcx"), scorer=AsNorm(OTHERS.vectors[:2], ("p", "q"), scorer=fitted))
    with pytest.raises(LeakError, match="first: 'a'"):
        score_all(TEST, ENROLL, scorer=AsNorm(OTHERS.vectors[:2], ("a", "q")))


def test_nobody_is_tested_on_what_was_enrolled() -> None:
    with pytest.raises(LeakError, match="12 utterances are both enrolled and tested"):
        Split(Knowledge.LAZY_INFORMED, EmbeddedSpeech(TEST, ONE), EmbeddedSpeech(TEST, TWO))


def test_enrolment_and_trials_never_share_pseudo_speakers() -> None:
    with pytest.raises(LeakError, match="enrolment and trial speech share their pseudo-speakers"):
        Split(Knowledge.LAZY_INFORMED, EmbeddedSpeech(ENROLL, ONE), EmbeddedSpeech(TEST, ONE))
    with pytest.raises(LeakError, match="training and trial speech share"):
        Split(Knowledge.INFORMED, EmbeddedSpeech(ENROLL, ONE), EmbeddedSpeech(TEST, TWO), EmbeddedSpeech(OTHERS, TWO))


@pytest.mark.parametrize(
    ("level", "enroll", "test", "training", "line"),
    [
        (Knowledge.ORIGINAL, ONE, None, "none", "needs original enrolment"),
        (Knowledge.IGNORANT, None, None, "none", "needs anonymized trial"),
        (Knowledge.LAZY_INFORMED, None, TWO, "none", "needs anonymized enrolment"),
        (Knowledge.LAZY_INFORMED, ONE, TWO, THREE, "learns from original speech only"),
        (Knowledge.INFORMED, ONE, TWO, "none", "must learn from anonymized speech"),
        (Knowledge.INFORMED, ONE, TWO, None, "this training is original"),
        (Knowledge.INFORMED, ONE, TWO, OLDER, "the same system as"),
        (Knowledge.SEMI_INFORMED, ONE, TWO, THREE, "another system than"),
    ],
)
def test_speech_must_be_what_the_level_says(
    level: Knowledge,
    enroll: Anonymization | None,
    test: Anonymization | None,
    training: Anonymization | str | None,
    line: str,
) -> None:
    learnt = None if isinstance(training, str) else EmbeddedSpeech(OTHERS, training)
    with pytest.raises(LeakError, match=line):
        Split(level, EmbeddedSpeech(ENROLL, enroll), EmbeddedSpeech(TEST, test), learnt)


def test_original_training_speech_is_checked_as_well() -> None:
    parts = EmbeddedSpeech(ENROLL), EmbeddedSpeech(TEST, TWO), EmbeddedSpeech(OTHERS, THREE)
    assert Split(Knowledge.ALIGNED, *parts, EmbeddedSpeech(OTHERS)).original_training_vectors().ids == OTHERS.ids
    with pytest.raises(LeakError, match="first: 'a'"):
        Split(Knowledge.ALIGNED, *parts, EmbeddedSpeech(_some("train", "ax")))
    with pytest.raises(LeakError, match="given as original is anonymized"):
        Split(Knowledge.ALIGNED, *parts, EmbeddedSpeech(OTHERS, ONE))
    with pytest.raises(LeakError, match="no original training speech"):
        Split(Knowledge.ALIGNED, *parts).original_training_vectors()


def test_an_attacker_without_training_has_no_lessons() -> None:
    with pytest.raises(LeakError, match="no training speech"):
        Split(Knowledge.LAZY_INFORMED, EmbeddedSpeech(ENROLL, ONE), EmbeddedSpeech(TEST, TWO)).training_vectors()


def test_none_of_several_disguises_may_be_the_trials() -> None:
    several = Anonymization(SystemIdentity("mcadams"), "8", ("9", TWO.draw))
    with pytest.raises(LeakError, match="enrolment and trial speech share their pseudo-speakers"):
        Split(Knowledge.LAZY_INFORMED, EmbeddedSpeech(ENROLL, several), EmbeddedSpeech(TEST, TWO))
    Split(Knowledge.LAZY_INFORMED, EmbeddedSpeech(ENROLL, several), EmbeddedSpeech(TEST, ONE))
    assert not several.shares(Anonymization(SystemIdentity("older"), TWO.draw)) and not several.shares(None)


def test_an_attack_is_called_by_what_its_embedder_was_trained_on() -> None:
    lazy, informed, semi = Knowledge.LAZY_INFORMED, Knowledge.INFORMED, Knowledge.SEMI_INFORMED
    parts = EmbeddedSpeech(ENROLL, ONE), EmbeddedSpeech(TEST, TWO)
    Split(informed, *parts, embedder_trained_on=SystemIdentity("mcadams"))
    Split(semi, *parts, embedder_trained_on=SystemIdentity("older"))
    with pytest.raises(LeakError, match="trained on speech anonymized by 'mcadams': it is informed"):
        Split(lazy, *parts, embedder_trained_on=SystemIdentity("mcadams"))
    with pytest.raises(LeakError, match="the same system as the trials' \\('mcadams'\\), not 'older'"):
        Split(informed, *parts, embedder_trained_on=SystemIdentity("older"))
    with pytest.raises(LeakError, match="another system than"):
        Split(semi, *parts, embedder_trained_on=SystemIdentity("mcadams"))


def test_an_attacker_anonymizes_enrolment_by_the_very_system_of_the_trials() -> None:
    newer = Anonymization(SystemIdentity("mcadams, version 2", "mcadams"), "5")
    with pytest.raises(LeakError, match="of the same version and with the same models"):
        Split(Knowledge.LAZY_INFORMED, EmbeddedSpeech(ENROLL, newer), EmbeddedSpeech(TEST, TWO))
    with pytest.raises(LeakError, match="this one is not \\('mcadams'\\)"):
        Split(
            Knowledge.INFORMED, EmbeddedSpeech(ENROLL, newer), EmbeddedSpeech(TEST, TWO), EmbeddedSpeech(OTHERS, THREE)
        )
    called = Anonymization(SystemIdentity("mcadams", "mcadams (alpha = 0.8)"), "5")
    Split(Knowledge.LAZY_INFORMED, EmbeddedSpeech(ENROLL, called), EmbeddedSpeech(TEST, TWO))


def test_some_of_the_lessons_are_renumbered() -> None:
    lessons = _informed().training_vectors()
    part = lessons.of(np.array([0, 2]))
    assert part.names == ("x", "z") and part.ids == OTHERS.ids[:4] + OTHERS.ids[8:]
    assert part.speaker.tolist() == [0] * 4 + [1] * 4
    np.testing.assert_array_equal(part.vectors[4:], OTHERS.vectors[8:])
