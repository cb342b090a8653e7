"""Expressive: words and symbols pass and nothing else; symbols are edited and spoken; labels are heard."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.anonymizers import anonymizer
from personare.anonymizers.neural.cascade.anonymizer import Cascade, Script
from personare.anonymizers.neural.cascade.expression import (
    LABELS,
    LEVEL_Z,
    LEVELS,
    RECIPE,
    SentencePart,
    SentenceSymbols,
    filtered,
    sentence_parts,
    shaped,
    towards,
)
from personare.anonymizers.neural.expressive.anonymizer import Expressive, rendered_as
from personare.anonymizers.neural.expressive.symbols import (
    SymbolRecording,
    SymbolSentence,
    read_symbols,
    sentences_of,
    write_symbols,
)
from personare.anonymizers.signal.retiming import stretch
from personare.core.audio import Audio, resample
from personare.core.errors import ConfigError, RejectedSpeechError
from personare.core.spoken import NOTHING_KNOWN, SpeakerEvidence, SpeakerFacts, pool
from personare.encoders.expression.labels import SIZE, numbers_of, shipped_labels
from personare.encoders.expression.measuring import f0_levels, track_speech
from personare.encoders.prosody import PredictedProsody
from personare.voices.kokoro import Kokoro
from personare.voices.piper import Piper

RATE_HZ = 16_000
TEXT = "Kids are talking by the door."
HEAD = '{"format": "personare-expression", "version": 1}\n'
RECORDING = '{"recording": "a.wav", "speaker": "a", "gender": "f", "rate_hz": 16000}\n'
symbols = st.builds(
    SentenceSymbols,
    st.sampled_from(LABELS),
    st.one_of(st.just(""), st.text(LEVELS, min_size=4, max_size=4), st.text(LEVELS, min_size=8, max_size=8)),
    st.integers(0, 3),
    st.sampled_from(("", "fall", "level", "rise")),
)


@cache
def method(**parameters: object) -> Expressive:
    made = anonymizer("expressive", language="en", **parameters)
    assert isinstance(made, Expressive)
    return made


@cache
def source(voice: int = 3) -> Audio:
    return resample(Piper()(TEXT, voice=voice, rate=1.0, rng=np.random.default_rng(1)), RATE_HZ)


def said(expression: SentenceSymbols | None, *, seed: int = 1, text: str = TEXT, language: str = "en") -> Audio:
    recording = SymbolRecording("a.wav", "a", "f", RATE_HZ, (SymbolSentence(text, language, expression),))
    chosen = method() if language == "en" else anonymizer("expressive", language=language)
    assert isinstance(chosen, Expressive)
    rng = np.random.default_rng(seed)
    return chosen.speak_symbols(recording.script, gender="f", languages=[language], rng=rng, rate_hz=RATE_HZ)


def share_above(audio: Audio, hz: float) -> float:
    powers = np.square(np.abs(np.fft.rfft(audio.samples)))
    return float(powers[np.fft.rfftfreq(len(audio.samples), 1 / audio.rate_hz) > hz].sum() / powers.sum())


def median_hz(audio: Audio) -> float:
    track = track_speech(audio.samples)
    assert track is not None
    return track.median_hz


# --- the symbol file


@given(st.lists(symbols, max_size=3), st.sampled_from(("", "f", "m")))
def test_a_symbol_file_gives_back_what_was_written(expressions: list[SentenceSymbols], gender: str) -> None:
    sentences = tuple(SymbolSentence("Grüße [tone] an Anna.", "de", one) for one in (*expressions, None))
    recording = SymbolRecording("ä/1.flac", "ä", gender, 22_050, sentences)
    assert read_symbols(write_symbols([recording]), where="a file") == [recording]


def test_a_script_survives_as_sentences_without_its_times() -> None:
    recording = SymbolRecording("a.wav", "a", "f", RATE_HZ, (SymbolSentence("Call [tone] at noon.", "en"),))
    timed = replace(recording.script, length_s=3.0)
    assert sentences_of(timed) == recording.sentences


def test_an_edited_line_is_spoken_with_its_new_symbols() -> None:
    line = '{"words": "Kids are talking.", "language": "en", "label": "neutral"}\n'
    edited = HEAD + RECORDING + line.replace("neutral", "anger").replace("}", ', "strongest": 3, "f0": "lmhl"}')
    (recording,) = read_symbols(edited, where="a file")
    assert recording.script.prosody == (rendered_as(SentenceSymbols("anger", "lmhl", 3)),)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"words": "Yes.", "label": "joy"}', "line 3: no label 'joy'"),
        ('{"words": "Yes.", "label": "angry"}', "did you mean 'anger'"),
        ('{"words": "Yes.", "f0": "abcd"}', "line 3: f0 must be 4 or 8"),
        ('{"words": "Yes.", "strongest": 2}', "word 2, but there are 1 words"),
        ('{"words": "Yes.", "strongest": true}', "number of a word, not true"),
        ('{"words": "Yes.", "final": "up"}', "no final movement 'up'"),
        ('{"words": "Yes.", "start_s": 1.0}', "no field 'start_s'"),
        ('{"words": "Yes.", "language": "xx"}', "no language 'xx'"),
        ('{"words": " "}', "a word or a mark"),
        ('{"recording": "../a.wav"}', "inside the output folder"),
        ('{"recording": "b.wav", "gender": "x"}', "gender must be"),
        ('{"recording": "b.wav", "rate_hz": 1}', "rate_hz must be"),
        ("[1]", "line 3: must be a JSON object"),
        ("words", "line 3: not JSON"),
    ],
)
def test_a_line_that_breaks_a_rule_is_one_line(line: str, reason: str) -> None:
    with pytest.raises(ConfigError, match="a file, ") as caught:
        read_symbols(HEAD + RECORDING + line, where="a file")
    assert reason in str(caught.value) and "\n" not in str(caught.value)


def test_other_files_are_refused() -> None:
    for text in ("", "{}\n", HEAD, HEAD + '{"words": "Yes."}'):
        with pytest.raises(ConfigError):
            read_symbols(text, where="a file")


def test_settings_that_pass_more_than_symbols_are_refused() -> None:
    for parameters in ({"prosody": "coarse"}, {"voice": "piper"}):
        with pytest.raises(ConfigError, match="expressive: "):
            anonymizer("expressive", **parameters)


# --- rendering


@given(st.text(LEVELS, min_size=4, max_size=8).filter(lambda f0: len(f0) in (4, 8)), st.integers(0, 9))
def test_a_contour_takes_the_shape_and_keeps_mean_and_spread(f0: str, seed: int) -> None:
    contour = np.cumsum(np.random.default_rng(seed).normal(size=200)) / 10
    moved = towards(contour, [LEVEL_Z[letter] for letter in f0])
    assert abs(moved.mean() - contour.mean()) < 1e-6
    assert abs(moved.std() - max(contour.std(), 0.2)) < 1e-6
    means = [part.mean() for part in np.array_split(moved, len(f0))]
    for (one, other), (a, b) in zip(pairwise(f0), pairwise(means), strict=True):
        if one != other:
            assert (a < b) == (LEVELS.index(one) < LEVELS.index(other))


def test_the_strongest_word_is_higher_and_louder() -> None:
    flat = PredictedProsody(np.zeros(200, np.float32), np.ones(200, bool), np.zeros(200, np.float32))
    moved = shaped(flat, SentencePart(SentenceSymbols(strongest=3), (1.0, 1.0, 1.0, 1.0), 0, 4))
    assert 100 <= int(moved.contour.argmax()) < 150 and 100 <= int(moved.energy_db.argmax()) < 150
    unmoved = shaped(flat, SentencePart(SentenceSymbols(strongest=3), (1.0, 1.0), 0, 4))
    assert np.array_equal(unmoved.contour, flat.contour)  # the strongest word is in another part of the sentence


def test_parts_of_a_sentence_count_its_words() -> None:
    first, mark, second = sentence_parts(["Call me", "", "at noon."], SentenceSymbols("fear"))
    assert first is not None and mark is None and second is not None
    assert (first.first_word, second.first_word, second.words) == (0, 2, 4)
    assert sentence_parts(["Yes."], None) == [None]


def test_a_filter_of_no_gains_changes_nothing_and_anger_is_brighter() -> None:
    noise = Audio(np.random.default_rng(1).normal(0, 0.1, 24_000).astype(np.float32), 24_000)
    voiced = np.ones(100, bool)
    assert filtered(noise, "neutral", voiced, step=240) is noise
    brighter = filtered(noise, "anger", voiced, step=240)
    assert len(brighter.samples) == len(noise.samples) and share_above(brighter, 1500) > share_above(noise, 1500)


# --- the label maker


def test_the_manner_of_a_speaker_changes_no_label_once_it_is_known() -> None:
    maker, rng = shipped_labels(), np.random.default_rng(1)
    sentence = maker.mean + maker.scale * (maker.classes[0] + 0.3 * rng.normal(size=SIZE))
    axes = np.linalg.eigh(maker.between)[1][:, -8:]
    speaker = axes @ rng.normal(size=8)
    speaker *= 3 / np.linalg.norm(speaker)
    heard = maker.label(sentence + maker.scale * speaker, offset=tuple(speaker), sentences=64)
    assert heard == maker.label(sentence, offset=(0.0,) * SIZE, sentences=64)


def test_a_label_is_one_of_five_whatever_the_numbers() -> None:
    maker = shipped_labels()
    for seed in range(20):
        numbers = maker.mean + 5 * maker.scale * np.random.default_rng(seed).normal(size=SIZE)
        assert maker.label(numbers) in LABELS


def test_evidence_of_manner_is_pooled_by_sentences() -> None:
    facts = pool([SpeakerEvidence(manner=(1.0, 0.0), sentences=3), SpeakerEvidence(), SpeakerEvidence(3.0)])
    assert (facts.manner, facts.sentences) == ((1.0, 0.0), 3)
    assert SpeakerFacts.from_dict(facts.to_dict()) == facts


@pytest.mark.models
def test_level_and_silence_around_a_sentence_change_no_symbol() -> None:
    track = track_speech(source().samples)
    padded = np.pad(source().samples, (8_000, 4_000)) * np.float32(0.2)
    other = track_speech(padded.astype(np.float32))
    assert track is not None and other is not None
    assert f0_levels(track, 4) == f0_levels(other, 4)
    assert shipped_labels().label(numbers_of(track)) == shipped_labels().label(numbers_of(other))


# --- the method


@pytest.mark.models
def test_equal_words_and_symbols_give_equal_bytes_whatever_the_time_axis() -> None:
    """A recording and one that lasts longer: symbols are made equal, everything that is left is time."""
    spoken = []
    for audio in (source(), Audio(np.pad(stretch(source(), 1.2).samples, (8_000, 16_000)), RATE_HZ)):
        script, gender, _ = method().encode(audio, speaker=NOTHING_KNOWN)
        assert (script.slots, script.length_s) == ((), 0.0)
        alike = Script(script.phrases, tuple(rendered_as(SentenceSymbols("anger", "mhml", 2)) for _ in script.phrases))
        rng = np.random.default_rng(1)
        spoken.append(
            method().speak_symbols(alike, gender=gender, languages=["en"], rng=rng, rate_hz=RATE_HZ).samples.tobytes()
        )
    assert spoken[0] == spoken[1]


@pytest.mark.models
def test_the_method_is_encode_then_speak() -> None:
    whole = method().speak(source(), rng=np.random.default_rng(4), speaker=NOTHING_KNOWN)
    script, gender, notes = method().encode(source(), speaker=NOTHING_KNOWN)
    text = write_symbols([SymbolRecording("a.wav", "a", gender, RATE_HZ, sentences_of(script))])
    (recording,) = read_symbols(text, where="a file")
    rng = np.random.default_rng(4)
    parts = method().speak_symbols(recording.script, gender=gender, languages=["en"], rng=rng, rate_hz=RATE_HZ)
    assert np.array_equal(whole.audio.samples, parts.samples)
    assert whole.notes == notes
    assert [one.words.lower().strip(".,") for one in recording.sentences] == [TEXT.lower().strip(".")]


@pytest.mark.models
def test_to_keep_words_alone_is_cascade() -> None:
    cascade = anonymizer("cascade", language="en")
    one, other = (made(source(), rng=np.random.default_rng(2)).samples for made in (method(keep="words"), cascade))
    assert np.array_equal(one, other)
    assert isinstance(cascade, Cascade) and cascade.fingerprint != method(keep="words").fingerprint


@pytest.mark.models
def test_labels_are_heard_in_f0_spectrum_and_length() -> None:
    neutral = said(SentenceSymbols())
    anger, happiness, sadness = (said(SentenceSymbols(label)) for label in ("anger", "happiness", "sadness"))
    assert share_above(anger, 1500) > 1.5 * share_above(neutral, 1500)
    assert share_above(sadness, 500) < share_above(neutral, 500)
    wanted = 2 ** (RECIPE["happiness"].semitones / 12)
    assert 0.85 * wanted < median_hz(happiness) / median_hz(neutral) < 1.15 * wanted
    assert len(anger.samples) < len(neutral.samples) < len(sadness.samples)


@pytest.mark.models
def test_the_f0_shape_is_heard() -> None:
    tracks = [track_speech(said(SentenceSymbols(f0=f0)).samples) for f0 in ("lmmh", "hmml")]
    rising, falling = (np.polyfit(np.arange(sum(one.speech)), one.semitones[one.speech], 1)[0] for one in tracks if one)
    assert rising > falling


@pytest.mark.models
def test_a_label_does_not_change_the_pseudo_speaker() -> None:
    kept, words = (method(keep=keep).voice_of(source(), rng=np.random.default_rng(1)) for keep in ("fine", "words"))
    assert kept == words
    assert np.array_equal(said(SentenceSymbols("fear")).samples, said(SentenceSymbols("fear")).samples)
    assert not np.array_equal(said(SentenceSymbols(), seed=1).samples, said(SentenceSymbols(), seed=2).samples)


@pytest.mark.models
def test_speech_in_a_foreign_language_is_refused_as_by_cascade() -> None:
    silent_words = Audio(np.tile(source().samples[:3200], 20), RATE_HZ)
    for name in ("cascade", "expressive"):
        try:
            anonymizer(name, language="en", refuse_below=1.0)(silent_words, rng=np.random.default_rng(1))
        except RejectedSpeechError as error:
            assert name in str(error)
        else:
            pytest.fail("nothing was refused")


@pytest.mark.models
def test_german_symbols_are_spoken_by_kokoro() -> None:
    text = "Das will sie am Mittwoch abgeben."
    neutral, happy = (said(SentenceSymbols(label), text=text, language="de") for label in ("neutral", "happiness"))
    assert 1.3 < median_hz(happy) / median_hz(neutral) < 2.2


@pytest.mark.slow
@pytest.mark.models
def test_german_speech_is_encoded_and_spoken() -> None:
    from personare.languages import language

    phonemes = language("de").pronounce("Heute Abend gehen wir zusammen in die Stadt.")
    audio = Kokoro().speak_phonemes(phonemes, voice=0, rate=1.0, rng=np.random.default_rng(1))
    german = anonymizer("expressive", language="de")
    assert isinstance(german, Expressive)
    script, _, notes = german.encode(resample(audio, RATE_HZ), speaker=NOTHING_KNOWN)
    assert notes.words >= 5 and script.languages == {"de"}
    assert all(one.expression is not None and len(one.expression.f0) == 4 for one in script.prosody)
    assert german(resample(audio, RATE_HZ), rng=np.random.default_rng(1)).samples.any()
