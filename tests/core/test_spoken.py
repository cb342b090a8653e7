"""What is decided per speaker and noted per recording: pooled evidence, notes of channels, lines of a summary."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import hum
from personare.anonymizers import anonymizer
from personare.core.audio import Audio
from personare.core.ledger import Ledger, read_ledger
from personare.core.spoken import (
    NOTHING_KNOWN,
    DecidesPerSpeaker,
    LanguageOdds,
    SpeakerEvidence,
    SpeakerFacts,
    SpeechNotes,
    SpeechSummary,
    SpokenAudio,
    combine,
    pool,
    speak,
)

eighths = st.integers(-80, 80).map(lambda n: n / 8)  # sums of them are exact in any order
odds = st.builds(
    lambda mean, more, n: LanguageOdds(mean, abs(mean) + abs(more), n / 8), eighths, eighths, st.integers(1, 40)
)
recordings = st.builds(
    SpeakerEvidence,
    st.integers(1, 80).map(lambda n: n / 8),
    st.tuples(eighths, eighths, eighths),
    st.one_of(st.none(), odds),
    st.one_of(st.none(), eighths),
)


@given(st.lists(recordings, min_size=1, max_size=6), st.randoms())
def test_the_order_of_recordings_decides_nothing(evidence: list[SpeakerEvidence], chance: object) -> None:
    other = list(evidence)
    chance.shuffle(other)  # type: ignore[attr-defined]
    one, two = pool(evidence), pool(other)
    assert one.gender == two.gender
    assert one.vector == pytest.approx(two.vector, abs=1e-9)
    assert (one.language is None) == (two.language is None)
    if one.language and two.language:
        assert (one.language.mean, one.language.clarity) == pytest.approx(
            (two.language.mean, two.language.clarity), abs=2e-4
        )


@given(st.lists(recordings, max_size=5), st.sampled_from(["f", "m"]))
def test_the_gender_of_the_corpus_counts_more_than_any_guess(evidence: list[SpeakerEvidence], gender: str) -> None:
    assert pool(evidence, gender=gender).gender == gender


def test_a_gender_is_guessed_by_all_recordings_and_long_ones_count_more() -> None:
    short, long = SpeakerEvidence(2.0, (), None, -0.3), SpeakerEvidence(10.0, (), None, 0.1)
    assert [pool([one]).gender for one in (short, long)] == ["m", "f"], "by themselves, they disagree"
    assert {pool(some).gender for some in itertools.permutations([short, long])} == {"f"}
    assert pool([short, long], gender="other").gender == "f", "neither f nor m chooses no voice"
    assert pool([SpeakerEvidence()]) == NOTHING_KNOWN == pool([])
    assert pool([SpeakerEvidence(0.0, (), None, 0.2)]).gender == "f", "a guess without measured speech is still one"


def test_the_mean_vector_has_length_one_and_odds_are_weighted() -> None:
    facts = pool([SpeakerEvidence(1.0, (3.0, 0.0)), SpeakerEvidence(1.0, (0.0, 4.0)), SpeakerEvidence(1.0)])
    assert facts.vector == pytest.approx((0.6, 0.8)) and facts.language is None and facts.gender is None
    assert pool([SpeakerEvidence(1.0, (1.0, 0.0)), SpeakerEvidence(1.0, (-1.0, 0.0))]).vector == (0.0, 0.0)
    weighted = pool(
        [SpeakerEvidence(1.0, (), LanguageOdds(-2.0, 2.0, 3.0)), SpeakerEvidence(1.0, (), LanguageOdds(6.0, 6.0, 1.0))]
    )
    assert weighted.language == LanguageOdds(0.0, 3.0, 4.0)


@given(st.lists(recordings, max_size=3))
def test_facts_come_back_from_a_file_as_they_were(evidence: list[SpeakerEvidence]) -> None:
    facts = pool(evidence)
    assert SpeakerFacts.from_dict(json.loads(json.dumps(facts.to_dict()))) == facts


def test_the_notes_of_channels_are_put_together() -> None:
    left, right = SpeechNotes("en", 0.9, 4.0, 0.5, 10, 0.8), SpeechNotes("de", 0.7, 1.0, 1.0, 0, 0.0)
    assert combine([left, right, None]) == SpeechNotes("en", 0.9, 5.0, 1.5, 10, 0.8)
    assert combine([left, SpeechNotes("en", 0.8, 1.0, 0.0, 30, 0.4)]) == SpeechNotes("en", 0.9, 5.0, 0.5, 40, 0.5)
    assert combine([None, None]) is None is combine([])
    silent = combine([SpeechNotes(), SpeechNotes()])
    assert silent == SpeechNotes() and not silent.is_speech


def test_a_summary_says_how_long_the_recordings_were_and_are() -> None:
    assert SpeechSummary().length_line == ""
    assert SpeechSummary(100.0, 100.4).length_line == "Length: 1.7 min before, unchanged.", "by half a percent"
    assert SpeechSummary(30.0, 20.0).length_line == "Length: 30.0 s before, 20.0 s after (-33 %)."
    many = SpeechSummary(1200.0, 1728.0, {"en": 3}, non_speech=2, partly=1, omitted_s=12.34)
    assert many.length_line == "Length: 20.0 min before, 28.8 min after (+44 %). 12.3 s of speech are omitted."


def test_a_ledger_says_which_languages_were_spoken() -> None:
    assert Ledger(1, anonymized=1).languages_line == ""
    several = Ledger(9, anonymized=9, languages={"sv": 1, "en": 1200}, non_speech=2, partly=3)
    assert several.languages_line == (
        "Languages: 1,200 en, 1 sv. 2 recordings without speech are silent. "
        "Some speech of 3 recordings is omitted and marked by a tone."
    )
    assert read_ledger(several.to_dict()) == several
    assert read_ledger(several.to_dict() | {"languages": {"en": "many"}}) is None


def test_methods_that_know_no_speakers_are_called_as_ever() -> None:
    sound = hum(1, duration_s=0.5)
    plain = anonymizer("mcadams", alpha=0.8)
    made = speak(plain, sound, rng=np.random.default_rng(1), speaker=SpeakerFacts("f"))
    assert made.notes is None
    assert np.array_equal(made.audio.samples, plain(sound, rng=np.random.default_rng(1)).samples)


def test_methods_that_know_speakers_are_given_what_is_known() -> None:
    class Aware:
        """Gives back what it was told."""

        fingerprint = "aware"

        def __call__(self, audio: Audio, *, rng: np.random.Generator) -> Audio:
            raise AssertionError("asked without its speaker")

        def evidence(self, audio: Audio) -> SpeakerEvidence:
            return SpeakerEvidence()

        def speak(self, audio: Audio, *, rng: np.random.Generator, speaker: SpeakerFacts) -> SpokenAudio:
            return SpokenAudio(audio, SpeechNotes(language=speaker.gender or "nobody"))

    assert isinstance(Aware(), DecidesPerSpeaker) and not isinstance(anonymizer("mcadams"), DecidesPerSpeaker)
    sound = hum(1, duration_s=0.1)
    told = [
        speak(Aware(), sound, rng=np.random.default_rng(1), **k).notes for k in ({"speaker": SpeakerFacts("m")}, {})
    ]
    assert [notes.language for notes in told if notes] == ["m", "nobody"]
