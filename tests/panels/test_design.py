"""The designs: as many trials as the papers have, evenly dealt, repeatable, and honest about what is too little."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from panels.pools import SYSTEMS, dealt, pool
from personare.core.errors import CorpusError
from personare.core.seeding import Key
from personare.panels import TESTS, Test
from personare.panels.abx import abx_sessions, hard_speakers
from personare.panels.clustering import CUT_S
from personare.panels.design import PanelSession, balance_problems, counts, repeats
from personare.panels.expression import expression_sessions
from personare.panels.recordings import ORIGINAL, SpeechPool
from personare.pipeline.jobs.panel import SESSIONS


@pytest.mark.parametrize("test", TESTS)
def test_the_same_seed_deals_the_same_and_another_does_not(test: Test) -> None:
    assert dealt(test, seed=1) == dealt(test, seed=1) != dealt(test, seed=2)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("sessions", [1, 5, 20])
def test_every_design_is_balanced(test: Test, sessions: int) -> None:
    made = dealt(test, sessions=sessions)
    assert len(made) == sessions and not list(balance_problems(made))
    assert not list(repeats(made)), "nobody hears the same recording under test twice"


def test_an_uneven_design_is_noticed() -> None:
    made = dealt("unified", sessions=4)
    only = [PanelSession(tuple(t for t in s.trials if t.system != "b1")) for s in made]
    assert any("original and" in line for line in balance_problems(only))
    targets = [PanelSession(tuple(t for t in s.trials if t.target)) for s in made]
    assert any("target and 0 nontarget" in line for line in balance_problems(targets))
    few = [*made[:2], *(PanelSession(tuple(t for t in s.trials if t.system != "b2")) for s in made[2:])]
    assert any("systems have" in line for line in balance_problems(few))
    twice = [PanelSession((*s.trials, *s.trials)) for s in made]
    assert list(repeats(twice))


def test_unified_is_the_session_of_the_paper() -> None:
    made = dealt("unified", sessions=8)
    for session in made:
        found = Counter((t.system == ORIGINAL, t.target) for t in session.rated)
        assert len(session.rated) == 36 and set(found.values()) == {9}
        assert {t.check for t in session.trials if t.check} == {"same recording", "other gender"}
        for trial in session.rated:
            heard, enrolled = (s.recording for s in trial.stimuli)
            assert enrolled.system == ORIGINAL and heard.system == trial.system
            assert (heard.speaker == enrolled.speaker) is trial.target and heard.utterance != enrolled.utterance
            assert heard.gender == enrolled.gender
        checks = {t.check: t for t in session.trials if t.check}
        same = [s.recording for s in checks["same recording"].stimuli]
        other = [s.recording.gender for s in checks["other gender"].stimuli]
        assert same[0] == same[1] and other[0] != other[1] and not session.trials[0].check
    each = counts(made)
    assert (
        max(each[s, t] for s in SYSTEMS for t in (True, False))
        - min(each[s, t] for s in SYSTEMS for t in (True, False))
        <= 1
    )
    speakers = Counter(t.stimuli[0].recording.speaker for s in made for t in s.rated if t.target)
    assert max(speakers.values()) - min(speakers.values()) <= 2, "everybody is heard about as often"


def test_clustering_is_the_session_of_the_paper() -> None:
    for session in dealt("clustering", sessions=8):
        warm_up, *rated = session.trials
        assert warm_up.check == "copies" and len(warm_up.stimuli) == 4
        assert Counter(Counter(s.recording for s in warm_up.stimuli).values()) == {2: 2}
        assert sorted(t.system == ORIGINAL for t in rated) == [False, False, True], "one control trial"
        assert len({t.system for t in rated}) == 2, "one system a session"
        people = [{s.recording.speaker for s in t.stimuli} for t in rated]
        assert len(set.union(*people)) == sum(map(len, people)) == 12, "a speaker is in one trial only"
        assert len({s.recording.gender for t in rated for s in t.stimuli}) == 1
        for trial in rated:
            each = sorted(Counter(s.recording.speaker for s in trial.stimuli).values())
            assert len(trial.stimuli) == 16 and each[0] == 1 and all(2 <= n <= 6 for n in each[1:])
            assert len({(s.recording.speaker, s.recording.utterance) for s in trial.stimuli}) == 16
            changed = sum(s.recording.system != ORIGINAL for s in trial.stimuli)
            assert changed == 0 if trial.system == ORIGINAL else 7 <= changed <= 8, "half of them"
            assert all(s.cut_s == CUT_S for s in trial.stimuli)


def test_triplets_have_hard_others_and_every_speaker_once() -> None:
    speech = pool()
    made = dealt("abx", sessions=4)
    for session in made:
        assert len(session.rated) == 20
        people = []
        for trial in session.rated:
            x, a, b = (s.recording for s in trial.stimuli)
            right, wrong = (a, b) if trial.answer == "A" else (b, a)
            people.append(x.speaker)
            assert right.speaker == x.speaker != wrong.speaker and right.utterance != x.utterance
            assert a.system == b.system == ORIGINAL and x.system == trial.system and wrong.gender == x.gender
            if trial.system != ORIGINAL:
                assert wrong.speaker in hard_speakers(speech, x)
        assert len(set(people)) == 20
    assert {t.answer for s in made for t in s.rated} == {"A", "B"}
    both = [{t.stimuli[0].recording.speaker: t.system == ORIGINAL for t in s.rated} for s in made[:2]]
    assert all(both[0][who] is not both[1][who] for who in both[0]), "the next session has them the other way round"


def test_renderings_of_one_system_say_the_same_words_with_another_emotion() -> None:
    made = dealt("expression", sessions=6)
    for session in made:
        assert len(session.rated) == 20 and [t.check for t in session.trials if t.check] == ["same recording"] * 2
        for trial in session.trials:
            x, a, b = (s.recording for s in trial.stimuli)
            right, wrong = (a, b) if trial.answer == "A" else (b, a)
            assert x.system == ORIGINAL and a.system == b.system == trial.system
            assert a.speaker == b.speaker == x.speaker and a.text == b.text == x.text
            assert right.utterance == x.utterance != wrong.utterance and x.emotion != wrong.emotion
            assert bool(trial.check) is (trial.system == ORIGINAL)
    each = counts(made)
    assert each["b1", None] == each["b2", None] == 60
    assert {t.answer for s in made for t in s.rated} == {"A", "B"}


def test_expression_needs_the_same_words_twice() -> None:
    speech = pool()
    other_words = tuple(replace(r, text=r.utterance) for r in speech.recordings)
    with pytest.raises(CorpusError, match="needs at least 2 speakers who say the same words twice"):
        expression_sessions(SpeechPool(other_words), sessions=1, key=Key.from_seed(1))
    same_emotion = tuple(replace(r, emotion="anger") for r in speech.recordings)
    with pytest.raises(CorpusError, match="the run has 0"):
        expression_sessions(SpeechPool(same_emotion), sessions=1, key=Key.from_seed(1))
    nothing_noted = tuple(replace(r, emotion="") for r in speech.recordings)
    assert expression_sessions(SpeechPool(nothing_noted), sessions=1, key=Key.from_seed(1))


def test_hard_means_ranked_before_the_right_speaker() -> None:
    speech = pool()
    heard = next(r for r in speech.recordings if r.system == "b1")
    same = [n for n in speech.genders if speech.genders[n] == heard.gender and n != heard.speaker]
    order = (*same[:2], heard.speaker, *same[2:])
    ranked = SpeechPool(speech.recordings, {("b1", heard.utterance): order})
    assert hard_speakers(ranked, heard) == same[:2]
    first = SpeechPool(speech.recordings, {("b1", heard.utterance): (heard.speaker, *same)})
    assert hard_speakers(first, heard) == same[:3], "nobody is before: the three next ones"


def test_mos_has_every_version_of_ten_samples() -> None:
    for session in dealt("mos", sessions=3):
        assert Counter(t.system for t in session.rated) == {ORIGINAL: 10, "b1": 10, "b2": 10}
        samples = Counter(t.stimuli[0].recording.utterance for t in session.rated)
        assert len(samples) == 10 and set(samples.values()) == {3}
        assert [t.stimuli[0].made for t in session.trials if t.check] == ["noise"]


@pytest.mark.parametrize("test", TESTS)
def test_too_little_speech_is_one_plain_line(test: Test) -> None:
    one = SpeechPool(tuple(r for r in pool().recordings if r.speaker == "anna00" and r.system != "b1"))
    for small in (SpeechPool(()), *([one] if test != "mos" else [])):
        with pytest.raises(CorpusError, match=r"test (needs|chooses)"):
            SESSIONS[test](small, sessions=1, key=Key.from_seed(1))


def test_abx_without_scores_says_what_is_missing() -> None:
    with pytest.raises(CorpusError, match="knowledge 'ignorant'"):
        abx_sessions(SpeechPool(pool().recordings), sessions=1, key=Key.from_seed(1))
