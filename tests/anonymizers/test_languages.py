"""Which stretches of a recording are spoken: odds pooled by a hidden Markov model, speakers, halves beside a change."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from personare.anonymizers import anonymizer
from personare.anonymizers.neural.words import languages
from personare.anonymizers.neural.words.languages import (
    LanguageEvidence,
    Stretch,
    check_language,
    identify,
    language_evidence,
    levelled,
    overall_language,
)
from personare.anonymizers.neural.words.phrases import RATE_HZ, Phrase
from personare.core.errors import ConfigError
from personare.core.spoken import NOTHING_KNOWN, LanguageOdds, SpeakerFacts
from personare.encoders.recognition import RecognizedWord
from personare.encoders.whisper import LANGUAGES

Floats = NDArray[np.float32]
SWITCH = 0.4
# what the stand-in for Whisper hears in a tone of so many hertz
HEARD = {
    400: {"en": 0.99, "de": 0.01},
    600: {"en": 0.001, "de": 0.9, "fr": 0.05},
    800: {"en": 0.001, "fr": 0.48, "de": 0.3},
    1000: {"en": 0.3, "zh": 0.6},
}
NOISE_HZ = 2000
LIKELIHOODS = dict.fromkeys(LANGUAGES, -0.5)  # of Whisper's transcripts


def row(**shares: float) -> Floats:
    return np.array([shares.get(code, 0.0) for code in LANGUAGES], np.float32)


def a_stretch(odds: float, weight: float = 1.0, english: float = 0.5) -> languages._Evidence:
    return languages._Evidence(row(en=english), odds, weight)


def chances(evidence: Sequence[languages._Evidence], speaker: LanguageOdds) -> list[float]:
    return languages._chances(evidence, speaker)


def sigmoid(odds: float) -> float:
    return float(1 / (1 + np.exp(-odds)))


stretches = st.builds(
    a_stretch,
    st.floats(-7, 7),
    st.floats(0.1, 1.0),
    st.sampled_from([0.001, 0.3, 0.99]),
)
speakers = st.builds(lambda mean, more: LanguageOdds(mean, abs(mean) + more, 4.0), st.floats(-7, 7), st.floats(0, 3))
CLEAR = LanguageOdds(6.0, 6.0, 4.0)


@given(stretches, speakers)
def test_one_stretch_alone_has_its_own_odds_and_its_speakers(one: languages._Evidence, speaker: LanguageOdds) -> None:
    gain = languages._gain(speaker)
    if one.probabilities[LANGUAGES.index("en")] < 0.02:
        gain = min(gain, 0.0)
    assert chances([one], speaker) == [pytest.approx(sigmoid(one.weight * (one.odds + gain)))]


@given(st.lists(stretches, min_size=1, max_size=6), speakers)
def test_pooling_is_the_sum_over_all_sequences_of_languages(
    evidence: list[languages._Evidence], speaker: LanguageOdds
) -> None:
    """The forward-backward algorithm against the definition of the hidden Markov model: every path, one by one."""
    alone = [chances([one], speaker)[0] for one in evidence]
    spoken, total = np.zeros(len(evidence)), 0.0
    for path in itertools.product((0, 1), repeat=len(evidence)):
        weight = float(np.prod([c if state else 1 - c for c, state in zip(alone, path, strict=True)]))
        weight *= float(np.prod([SWITCH if a != b else 1 - SWITCH for a, b in itertools.pairwise(path)]))
        spoken += weight * np.array(path)
        total += weight
    assert chances(evidence, speaker) == pytest.approx(list(spoken / total), abs=1e-9)


@given(st.lists(stretches, min_size=1, max_size=6), speakers)
def test_a_recording_played_backwards_is_judged_the_same(
    evidence: list[languages._Evidence], speaker: LanguageOdds
) -> None:
    assert chances(evidence[::-1], speaker) == pytest.approx(chances(evidence, speaker)[::-1], abs=1e-9)


@given(st.lists(stretches, min_size=1, max_size=5), st.data(), st.floats(0, 5), speakers)
def test_more_english_in_one_stretch_never_makes_another_less_so(
    evidence: list[languages._Evidence], data: st.DataObject, more: float, speaker: LanguageOdds
) -> None:
    place = data.draw(st.integers(0, len(evidence) - 1))
    raised = [replace(one, odds=one.odds + more) if n == place else one for n, one in enumerate(evidence)]
    pairs = zip(chances(evidence, speaker), chances(raised, speaker), strict=True)
    assert all(after >= before - 1e-12 for before, after in pairs)


@given(stretches, st.floats(3.5, 7), st.booleans())
def test_a_clear_speaker_helps_no_stretch(one: languages._Evidence, clarity: float, english: bool) -> None:
    speaker = LanguageOdds(clarity if english else -clarity, clarity, 4.0)
    assert chances([one], speaker)[0] < sigmoid(one.weight * one.odds)
    foreign = chances([one], LanguageOdds(-clarity, clarity, 4.0))[0]
    assert foreign <= chances([one], LanguageOdds(clarity, clarity, 4.0))[0], "stricter with who speaks another one"


@given(st.floats(-7, 7), st.floats(0.1, 1.0), speakers)
def test_a_stretch_that_sounds_like_no_english_is_never_helped(
    odds: float, weight: float, speaker: LanguageOdds
) -> None:
    assert chances([a_stretch(odds, weight, english=0.019)], speaker)[0] <= sigmoid(weight * odds) + 1e-12


@given(st.floats(0.85, 0.97), st.floats(-7, -1.6), st.floats(0.1, 1.0), speakers)
def test_a_stretch_that_is_named_as_another_language_is_never_helped(
    german: float, odds: float, weight: float, speaker: LanguageOdds
) -> None:
    # four German sentences inside English were spoken as English: the mean of the recording helped each of them
    one = languages._Evidence(row(de=german, en=0.03), odds, weight)
    assert chances([one], speaker)[0] <= sigmoid(weight * odds) + 1e-12


@given(stretches, speakers, st.floats(0, 3))
def test_a_speaker_of_more_english_never_hurts(one: languages._Evidence, speaker: LanguageOdds, more: float) -> None:
    better = LanguageOdds(speaker.mean + more, speaker.clarity, speaker.weight)
    assert chances([one], better)[0] >= chances([one], speaker)[0] - 1e-12


def test_a_speaker_heard_in_a_language_that_is_not_spoken_here_may_have_an_accent() -> None:
    def speaker(mean: float, weight: float = 10.0, **shares: float) -> LanguageOdds:
        return LanguageOdds(mean, abs(mean) + 1, weight, {code: float(np.log(share)) for code, share in shares.items()})

    stretch = a_stretch(-1.0, english=0.3)
    assert chances([stretch], speaker(-1.0, zh=0.6, de=0.1))[0] > 0.5, "Mandarin speakers of English sound like this"
    assert chances([stretch], speaker(-1.0, de=0.6, zh=0.1))[0] < 0.1, "German is a rival: words of one language"
    assert chances([stretch], speaker(-1.0, weight=2.0, zh=0.6, de=0.1))[0] < 0.1, "one recording alone says too little"
    assert chances([stretch], speaker(-2.6, zh=0.6, de=0.1))[0] < 0.1, "clear Chinese"
    assert chances([stretch], speaker(-1.0, la=0.6, zh=0.2, de=0.1))[0] > 0.5, "Latin is nobody's first language"


def test_pooling_rescues_a_short_stretch_and_an_accent() -> None:
    unclear = a_stretch(-1.0, english=0.3)
    assert chances([a_stretch(1.5)], LanguageOdds(1.5, 1.5, 1.0))[0] < 0.5, "a recording alone must be clearer"
    assert chances([a_stretch(1.5)], LanguageOdds(1.5, 1.5, 9.0))[0] > 0.9, "than one of several"
    assert chances([unclear], LanguageOdds(-3.0, 3.2, 9.0))[0] < 0.1, "this speaker is mostly heard in another language"
    assert chances([unclear], LanguageOdds(2.0, 2.5, 9.0))[0] > 0.9, "and this one is not"
    beside = chances([a_stretch(0.6, english=0.6), a_stretch(6.0, english=0.99)], CLEAR)
    assert beside[0] > chances([a_stretch(0.6, english=0.6)], CLEAR)[0], "a clear neighbour counts a little"
    assert chances([], CLEAR) == []


@pytest.mark.parametrize(("share", "spoken"), [(0.95, True), (0.7, False)])
def test_another_language_is_spoken_only_where_it_is_sure(share: float, spoken: bool) -> None:
    heard = row(de=share, nl=1 - share)
    code, _, may_be_spoken = languages._named(heard, 0.1, None, ("en", "de"))
    assert code == "de" and ("de" in may_be_spoken) is spoken
    assert languages._named(heard, 0.1, None, ("en",))[2] == ("en",), "a voice that speaks English only"
    assert languages._named(heard, 0.6, None, ("en", "de"))[0] == "en"
    assert languages._named(heard, 0.4, None, ("en", "de"))[2] == ("en",), "it may be English"


def test_the_other_recordings_of_a_speaker_name_a_language_that_one_alone_does_not() -> None:
    def pooled(weight: float, **shares: float) -> LanguageOdds:
        return LanguageOdds(-3.0, 3.0, weight, {code: float(np.log(share)) for code, share in shares.items()})

    unsure, spoken = row(la=0.5, de=0.4), ("en", "de")
    assert languages._named(unsure, 0.1, None, spoken)[::2] == ("la", ("en",))
    assert languages._named(unsure, 0.1, pooled(1.0, de=0.7, la=0.1), spoken)[::2] == ("la", ("en",)), "it is itself"
    assert languages._named(unsure, 0.1, pooled(6.0, de=0.7, la=0.1), spoken)[::2] == ("de", spoken)
    clear = row(fr=0.9, de=0.1)
    assert languages._named(clear, 0.1, pooled(6.0, de=0.9), ("en", "de", "fr"))[0] == "fr", "speakers change languages"
    never = row(la=0.7, fr=0.29, de=0.01)
    assert languages._named(never, 0.1, pooled(6.0, de=0.9), spoken)[2] == ("en",), "nothing in it is German"


@pytest.mark.parametrize(
    "parameters",
    [
        {"voice": "piper", "language": "de"},
        {"language": "cs"},
        {"voice": "kokoro", "language": "de", "redact": "names"},
    ],
)
def test_cascade_refuses_what_its_voice_cannot_do(parameters: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        anonymizer("cascade", **parameters)


def test_the_odds_of_a_recording_are_weighted_by_its_speech() -> None:
    assert languages._odds_of([a_stretch(-2.0, 0.5), a_stretch(4.0, 1.0)]) == LanguageOdds(
        2.0, 3.3333, 1.5, {"en": -0.6931}
    )


def tones(*parts: tuple[int, float], pause_s: float = 1.0) -> Floats:
    """Tones of (hertz, seconds), a pause after each."""
    pause = np.random.default_rng(1).normal(0, 1e-4, round(pause_s * RATE_HZ))
    sounds = [0.3 * np.sin(2 * np.pi * hz * np.arange(round(s * RATE_HZ)) / RATE_HZ) for hz, s in parts]
    return np.concatenate([piece for sound in sounds for piece in (sound, pause)]).astype(np.float32)


def pitch(samples: Floats) -> int:
    power = np.abs(np.fft.rfft(samples.astype(np.float64)))
    return round(float(power.argmax()) * RATE_HZ / len(samples) / 100) * 100


class HearsTones:
    """Stands for the segmentation network: everything loud is speech, except the tone that stands for noise."""

    def speech(self, samples: Floats) -> NDArray[np.bool_]:
        step = RATE_HZ // 50
        spoken = np.zeros(len(samples), np.bool_)
        for first in range(0, len(samples), step):
            part = samples[first : first + step]
            spoken[first : first + step] = np.abs(part).max() > 0.05 and pitch(part) != NOISE_HZ
        return spoken


@pytest.fixture
def fake_networks(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Whisper hears the language by the pitch of a tone; the recognizer is as sure of its words as it is told."""

    def probabilities(samples: Floats, **_: object) -> Floats:
        return row(**HEARD[pitch(samples)])

    def sure(confidence: float) -> None:
        words = [RecognizedWord("word", confidence)]
        monkeypatch.setattr(languages, "recognize", lambda *_, **__: words)

    monkeypatch.setattr(languages, "Segmentation", HearsTones)
    monkeypatch.setattr(languages, "language_probabilities", probabilities)
    monkeypatch.setattr(languages, "transcript_likelihood", lambda _sound, *, language: LIKELIHOODS[language])
    sure(0.0)
    return sure


@pytest.mark.usefixtures("fake_networks")
def test_each_stretch_has_its_own_language() -> None:
    found = identify(tones((400, 3), (600, 3), (400, 3), (NOISE_HZ, 2)), language="auto", speaker=NOTHING_KNOWN)
    # the English stretches are beside German: their halves were judged by themselves
    assert [code for code, _ in itertools.groupby(one.language for one in found)] == ["en", "de", "en", ""]
    assert len([one for one in found if one.language == "en"]) >= 4
    assert all(one.is_spoken == (one.language == "en") for one in found)
    assert sum(one.speech_s for one in found) == pytest.approx(9, abs=0.2) and found[-1].speech_s == 0
    assert overall_language(found)[0] == "en" and 0.9 < overall_language(found)[1] <= 1
    assert all(one.end <= two.start for one, two in itertools.pairwise(s.phrase for s in found))


@pytest.mark.usefixtures("fake_networks")
def test_english_words_of_a_stretch_that_becomes_german_remain_no_longer_than_its_half() -> None:
    mixed = tones((400, 2.2), (600, 2.2), pause_s=0.0)  # no pause: one stretch, in which Whisper hears one language
    late = np.concatenate([mixed, tones((600, 4.5))])
    found = identify(late, language="auto", speaker=NOTHING_KNOWN)
    german_s = 2.2
    spoken_after = sum(
        max(0.0, one.phrase.end / RATE_HZ - max(one.phrase.start / RATE_HZ, german_s)) for one in found if one.is_spoken
    )
    assert spoken_after < 0.7, [(one.phrase, one.language) for one in found]


@pytest.mark.usefixtures("fake_networks")
def test_an_unclear_stretch_gets_the_language_of_the_rest_of_its_recording() -> None:
    found = identify(tones((NOISE_HZ, 3), (600, 4), (800, 1)), language="auto", speaker=NOTHING_KNOWN)
    assert [one.language for one in found] == ["", "de", "de"], "noise in front has no weight"


def test_accented_english_is_spoken_where_the_recognizer_is_sure_of_its_words(
    fake_networks: Callable[[float], None],
) -> None:
    accented = tones((1000, 3), (1000, 3))
    fake_networks(0.8)
    assert {one.language for one in identify(accented, language="auto", speaker=NOTHING_KNOWN)} == {"en"}
    fake_networks(0.05)
    assert {one.language for one in identify(accented, language="auto", speaker=NOTHING_KNOWN)} == {"zh"}


@pytest.mark.parametrize(("likelihood", "code"), [(-0.1, "en"), (-1.4, "zh")])
def test_whispers_own_transcript_is_a_third_opinion(
    fake_networks: Callable[[float], None], monkeypatch: pytest.MonkeyPatch, likelihood: float, code: str
) -> None:
    fake_networks(0.7)  # by sound and words alone, a recording that is not clear
    monkeypatch.setitem(LIKELIHOODS, "en", likelihood)
    assert [one.language for one in identify(tones((1000, 3)), language="auto", speaker=NOTHING_KNOWN)] == [code]


def test_latin_is_no_candidate(fake_networks: Callable[[float], None], monkeypatch: pytest.MonkeyPatch) -> None:
    fake_networks(0.0)
    monkeypatch.setitem(HEARD, 600, {"en": 0.001, "la": 0.6, "it": 0.38, "cy": 0.01})
    found = identify(tones((600, 4)), language="auto", speaker=NOTHING_KNOWN, spoken=("en", "it"))
    assert [(one.language, one.is_spoken) for one in found] == [("it", True)]


@pytest.mark.parametrize(("spanish", "is_spoken"), [(-0.2, True), (-0.6, False)])
def test_two_likely_languages_are_told_apart_by_their_transcripts(
    fake_networks: Callable[[float], None], monkeypatch: pytest.MonkeyPatch, spanish: float, is_spoken: bool
) -> None:
    fake_networks(0.0)
    monkeypatch.setitem(HEARD, 600, {"en": 0.001, "es": 0.6, "pt": 0.399})
    monkeypatch.setitem(LIKELIHOODS, "es", spanish)
    monkeypatch.setitem(LIKELIHOODS, "pt", -0.8)
    (found,) = identify(tones((600, 4)), language="auto", speaker=NOTHING_KNOWN, spoken=("en", "es"))
    assert (found.language, found.is_spoken) == ("es", is_spoken)


def test_a_speaker_helps_unclear_stretches_but_none_beside_another_language(
    fake_networks: Callable[[float], None],
) -> None:
    fake_networks(0.25)  # the words say neither: by its sound alone, the stretch is Chinese rather than English
    accented = SpeakerFacts(language=LanguageOdds(1.0, 1.5, 9.0))
    alone = identify(tones((1000, 3)), language="auto", speaker=accented)
    assert [one.language for one in alone] == ["en"]
    beside = identify(tones((1000, 3), (600, 3)), language="auto", speaker=accented)
    assert {one.language for one in beside} == {"zh", "de"}
    unknown = identify(tones((1000, 3)), language="auto", speaker=SpeakerFacts(language=LanguageOdds(-3.0, 3.2, 9.0)))
    assert [one.language for one in unknown] == ["zh"]


def test_a_language_that_is_given_is_not_identified(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> Floats:
        raise AssertionError("was asked for the language")

    monkeypatch.setattr(languages, "Segmentation", HearsTones)
    monkeypatch.setattr(languages, "language_probabilities", never)
    found = identify(tones((600, 3), (NOISE_HZ, 3)), language="en", speaker=NOTHING_KNOWN)
    assert [(one.language, one.confidence) for one in found] == [("en", 1.0), ("", 0.0)]
    assert language_evidence(tones((600, 3)), language="en") == LanguageEvidence(4.0, None, (("en", 4.0),))


@pytest.mark.usefixtures("fake_networks")
def test_a_recording_is_evidence_of_its_speaker() -> None:
    mixed = tones((400, 3), (NOISE_HZ, 3), (600, 3))
    heard = language_evidence(mixed, language="auto", spoken=("en", "de"))
    odds = heard.odds
    assert heard.speech_s == pytest.approx(6, abs=0.1)
    assert dict(heard.languages) == {"de": pytest.approx(3, abs=0.1), "en": pytest.approx(3, abs=0.1)}
    assert [code for code, _ in language_evidence(mixed, language="auto").languages] == ["en"], "what can be spoken"
    assert odds is not None and odds.weight == 2 and odds.clarity > 4 and abs(odds.mean) < odds.clarity
    assert language_evidence(tones((NOISE_HZ, 3)), language="auto") == LanguageEvidence(0.0)
    assert language_evidence(np.zeros(RATE_HZ, np.float32), language="auto") == LanguageEvidence(0.0)


def test_silence_has_no_stretches() -> None:
    assert identify(np.zeros(RATE_HZ, np.float32), language="auto", speaker=NOTHING_KNOWN) == []
    assert overall_language([]) == ("", 0.0) == overall_language([Stretch(Phrase(0, 10), 0.0, "", 0.0)])


def test_a_language_that_is_not_spoken_is_refused_in_one_line() -> None:
    with pytest.raises(ConfigError, match=r"^cascade, voice piper: language must be .*English \(en\).*, not 'de'$"):
        anonymizer("cascade", voice="piper", language="de")
    assert anonymizer("cascade", language="en") != anonymizer("cascade")
    check_language("en", where="cascade")


def test_loudness_decides_nothing() -> None:
    sound = tones((400, 1))
    assert levelled(sound * np.float32(0.01)) == pytest.approx(levelled(sound), rel=1e-4)
    assert not levelled(np.zeros(1000, np.float32)).any() and len(levelled(np.ones(10, np.float32))) == 10
