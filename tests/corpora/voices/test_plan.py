"""The plan of a corpus of invented speakers: balanced, repeatable, the same for few and for many."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.core.carriers import WEIGHTS
from personare.core.errors import ConfigError
from personare.corpora.voices.plan import OWN_VOICES, SHARE_RANGE, most_speakers, plan, speaker
from personare.corpora.voices.text import WORDS_RANGE, sentences


@given(st.integers(1, 60), st.integers(1, 12), st.integers(0, 2**31))
def test_a_plan_is_balanced_named_and_repeatable(speakers: int, utterances: int, seed: int) -> None:
    items = plan(speakers, utterances, seed=seed)
    assert items == plan(speakers, utterances, seed=seed)
    assert len(items) == speakers * utterances == len({i.name for i in items})
    people = {i.speaker.name: i.speaker for i in items}
    assert abs(sum(1 if p.gender == "f" else -1 for p in people.values())) <= 1
    for name in people:
        assert len({i.text for i in items if i.speaker.name == name}) == utterances, "nobody reads a sentence twice"


def test_a_part_of_a_larger_plan_is_the_smaller_plan() -> None:
    large = {i.name: i for i in plan(50, 9, seed=3)}
    assert all(large[i.name] == i for i in plan(7, 4, seed=3))


def test_seeds_differ_in_what_is_read() -> None:
    assert [i.text for i in plan(2, 5, seed=1)] != [i.text for i in plan(2, 5, seed=2)]


def test_own_voices_come_first_and_are_all_there() -> None:
    first = [speaker(n, seed=1) for n in range(1, 27)]
    assert all(len(s.voices) == 1 and s.share == 1.0 for s in first)
    shipped = {member.split("/")[-1][:-4] for member in WEIGHTS["kokoro"].files if member.endswith(".bin")}
    assert {v for own in OWN_VOICES.values() for v in own} == shipped and len(shipped) == 28
    for gender, own in OWN_VOICES.items():
        assert all(voice[1] == gender for voice in own)


def test_mixtures_are_of_one_gender_and_no_pair_comes_twice() -> None:
    everyone = [speaker(n, seed=5) for n in range(1, most_speakers() + 1)]
    assert len({s.voices for s in everyone}) == most_speakers()
    for mixed in (s for s in everyone if len(s.voices) == 2):
        assert all(v[1] == mixed.gender for v in mixed.voices)
        assert SHARE_RANGE[0] <= mixed.share <= SHARE_RANGE[1]
        assert (mixed.accent == "american") == mixed.voices[0].startswith("a")


def test_too_many_or_too_few_is_one_line() -> None:
    for speakers in (0, -1, most_speakers() + 1):
        with pytest.raises(ConfigError, match=f"speakers must be 1 to {most_speakers()}, not {speakers}"):
            plan(speakers, 1, seed=1)
    for utterances in (0, len(sentences()) + 1):
        with pytest.raises(ConfigError, match=f"utterances must be 1 to {len(sentences())}, not {utterances}"):
            plan(1, utterances, seed=1)


def test_items_travel_to_other_processes() -> None:
    items = plan(30, 1, seed=1)
    assert pickle.loads(pickle.dumps(items)) == items  # noqa: S301 - our own bytes


def test_hundreds_of_voices_are_all_different_and_depend_on_the_seed_alone() -> None:
    few, many = (plan(count, 2, seed=3, source="piper") for count in (5, 400))
    assert many[: len(few)] == few, "a larger corpus contains the smaller one"
    voices = {one.speaker.name: one.speaker.voices for one in many}
    assert len(voices) == 400 == len(set(voices.values()))
    assert all(0 <= int(voice) < most_speakers("piper") for (voice,) in voices.values())
    assert {one.speaker.name for one in few} == {f"p{n:03d}" for n in range(1, 6)}, "no name of Kokoro's speakers"
    other = plan(5, 2, seed=4, source="piper")
    assert [one.speaker.voices for one in other] != [one.speaker.voices for one in few]
    assert {one.speaker.gender for one in many} <= {"f", "m", None}


def test_more_voices_than_there_are_name_their_source() -> None:
    with pytest.raises(ConfigError, match="1 to 904, not 905; piper has no more"):
        plan(905, 1, seed=1, source="piper")


@pytest.mark.models
def test_rows_of_words_are_new_for_everybody_and_depend_on_nothing_else() -> None:
    """A recognizer that learns from them cannot learn our sentences by heart, and meets many more words."""
    rows = plan(20, 30, seed=3, source="piper", reading="words")
    assert len({row.name for row in rows}) == len({row.text for row in rows}) == 600
    assert {len(row.text.split()) for row in rows} <= set(range(WORDS_RANGE[0], WORDS_RANGE[1] + 1))
    ours = {word for one in sentences() for word in one.text.lower().rstrip(".").split()}
    words = [word for row in rows for word in row.text.split()]
    assert 0.4 < sum(word in ours for word in words) / len(words) < 0.65 and len(set(words)) > 1500
    assert rows[30:60] == plan(2, 40, seed=3, source="piper", reading="words")[40:70]
    assert [row.text for row in plan(1, 3, seed=4, source="piper", reading="words")] != [r.text for r in rows[:3]]


def test_only_a_voice_that_reads_any_word_reads_rows_of_words() -> None:
    with pytest.raises(ConfigError, match="rows of words need a voice that reads any word: source piper"):
        plan(1, 1, seed=1, reading="words")
    with pytest.raises(ConfigError, match="utterances must be 1 to 2000, not 2001; ask for more speakers"):
        plan(1, 2001, seed=1, source="piper", reading="words")


def test_skipped_people_are_left_out_and_the_others_stay_who_they_are() -> None:
    everybody = plan(9, 2, seed=3, source="piper")
    assert plan(4, 2, seed=3, source="piper", skip=5) == everybody[10:18]
    with pytest.raises(ConfigError, match="speakers must be 1 to 4, not 5; piper has no more"):
        plan(5, 1, seed=1, source="piper", skip=900)
    with pytest.raises(ConfigError, match="skip must be 0 or more, not -1"):
        plan(5, 1, seed=1, skip=-1)
