"""xvector from words: they are read anew, nothing else of a recording passes, and what needs the sound is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from conftest import hum
from personare.anonymizers import anonymizer
from personare.anonymizers.neural.words import transcript
from personare.anonymizers.neural.words.languages import Stretch
from personare.anonymizers.neural.words.phrases import Phrase
from personare.anonymizers.neural.words.transcript import SpokenPhrase, Transcript, transcribe
from personare.anonymizers.neural.xvector import anonymizer as xvector_anonymizer
from personare.anonymizers.neural.xvector.anonymizer import XVector
from personare.anonymizers.neural.xvector.from_words import ReadingVoice, read_freely, read_in_place, reading_tempo
from personare.anonymizers.neural.xvector.prosody_choice import ProsodyChoice
from personare.anonymizers.neural.xvector.weights import open_weights
from personare.core.audio import Audio, resample
from personare.core.errors import ConfigError, PersonareError, RejectedSpeechError
from personare.core.spoken import NOTHING_KNOWN, SpeakerFacts, SpeechNotes
from personare.encoders.recognition import RecognizedWord, recognize
from personare.voices.piper import Piper

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

RATE_HZ = 16_000
TAKEN_FOR = {"f": (4, 0), "m": (3, 5)}  # Piper's voices, by what their speaker vectors are taken for
SENTENCE = "She threw the ball high above the chimney, and the fox slipped through a gap in the fence."


@cache
def spoken_by(voice: int, text: str = SENTENCE) -> Audio:
    return resample(Piper()(text, voice=voice, rate=1.0, rng=np.random.default_rng(1)), RATE_HZ)


def said(text: str, *, start: int = 0, end: int = 3 * RATE_HZ, sure: float = 0.9) -> SpokenPhrase:
    return SpokenPhrase(Phrase(start, end), tuple(RecognizedWord(word, sure) for word in text.split()))


def heard_as(*phrases: SpokenPhrase) -> Callable[..., Transcript]:
    """A recognizer that hears the same phrases in every recording."""
    return lambda *_, **__: Transcript(phrases, SpeechNotes("en", 1.0, 3.0))


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"f0": "keep"}, "f0=keep"),
        ({"f0": "blend"}, "f0=blend"),
        ({"energy": "keep"}, "energy=keep"),
        ({"timing": "moved"}, "timing=moved"),
        ({"retime": 0.2}, "retime=0.2"),
        ({"mask": True}, "mask=true"),
    ],
)
def test_what_needs_the_sound_is_refused_with_words_and_not_without(settings: dict[str, object], named: str) -> None:
    with pytest.raises(ConfigError, match=f"xvector: {named} needs the sound moment by moment.*add content=moonshine"):
        anonymizer("xvector", **settings)
    assert not anonymizer("xvector", content="moonshine", **settings).needs_words  # type: ignore[attr-defined]


def test_a_wrong_limit_is_one_line() -> None:
    with pytest.raises(ConfigError, match=r"refuse_below must be 0 to 1, not 1\.5"):
        anonymizer("xvector", refuse_below=1.5)
    with pytest.raises(PersonareError):
        anonymizer("xvector", recognizer="whisper")


@pytest.mark.models
def test_nothing_of_a_recording_passes_but_its_words_and_a_gender(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two people and noise, of whom the recognizer is made to hear the same words: the same bits come out.

    With ``gender=same``, the default, there are two results, one for those taken for women and one for men.
    """
    monkeypatch.setattr(xvector_anonymizer, "transcribe", heard_as(said("The fox slipped away.")))
    noise = Audio((0.1 * np.random.default_rng(2).standard_normal(20_000)).astype(np.float32), RATE_HZ)
    method = anonymizer("xvector", gender="any")
    first, *others = (method(one, rng=np.random.default_rng(5)) for one in (spoken_by(3), spoken_by(4), noise))
    assert first.samples.any()
    assert all(np.array_equal(first.samples, other.samples) for other in others)
    another = method(spoken_by(3), rng=np.random.default_rng(6))
    assert not np.array_equal(first.samples, another.samples), "another key, another voice"
    recordings = {gender: [spoken_by(number) for number in numbers] for gender, numbers in TAKEN_FOR.items()}
    kept = {
        gender: {anonymizer("xvector")(one, rng=np.random.default_rng(5)).samples.tobytes() for one in some}
        for gender, some in recordings.items()
    }
    assert [len(results) for results in kept.values()] == [1, 1] and kept["f"] != kept["m"]


@pytest.mark.models
@pytest.mark.parametrize("timing", ["even", "keep"])
def test_the_words_can_be_recognized_again(timing: str) -> None:
    hidden = anonymizer("xvector", timing=timing)(spoken_by(3), rng=np.random.default_rng(4))
    again = [word.text.lower().strip(",.") for word in recognize(hidden.samples, model="moonshine-base")]
    wanted = [word.lower().strip(",.") for word in SENTENCE.split()]
    assert len(set(wanted) & set(again)) >= 0.75 * len(set(wanted)), again


@pytest.mark.models
@pytest.mark.parametrize("spoken", [[], [said("")], [said("... !")]], ids=["no phrase", "no word", "marks"])
def test_sound_without_words_is_silence_of_the_same_length(
    spoken: list[SpokenPhrase], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xvector_anonymizer, "transcribe", heard_as(*spoken))
    audio = hum(1, duration_s=2.0)
    hidden = anonymizer("xvector")(audio, rng=np.random.default_rng(1))
    assert not hidden.samples.any() and len(hidden.samples) == len(audio.samples)


@pytest.mark.models
def test_words_that_nobody_is_sure_of_are_refused_with_the_next_step(monkeypatch: pytest.MonkeyPatch) -> None:
    unsure = [RecognizedWord("no", 0.1)] * 20
    monkeypatch.setattr(transcript, "recognize", lambda *_, **__: unsure)
    with pytest.raises(
        RejectedSpeechError, match=r"no words were recognized in .* s of speech.*--strength fast"
    ) as bad:
        anonymizer("xvector")(spoken_by(3), rng=np.random.default_rng(1))
    assert "\n" not in str(bad.value)
    assert anonymizer("xvector", refuse_below=0.0)(spoken_by(3), rng=np.random.default_rng(1)).samples.any()


@pytest.mark.models
def test_a_tempo_is_drawn_from_a_natural_range() -> None:
    rng = np.random.default_rng(1)
    drawn = [reading_tempo(rng) for _ in range(400)]
    assert 0.93 < min(drawn) < 0.95 and 1.38 < max(drawn) < 1.42
    assert np.median(drawn) == pytest.approx(1.15, abs=0.03)


def in_english(samples: Floats, *, language: str, speaker: SpeakerFacts, spoken: tuple[str, ...]) -> list[Stretch]:
    """Stand for the networks: everything is English speech."""
    return [Stretch(Phrase(0, len(samples)), len(samples) / RATE_HZ, "en", 1.0)]


@pytest.mark.parametrize(("sure", "asked"), [(0.95, ["moonshine"]), (0.7, ["moonshine", "moonshine-base"])])
def test_the_larger_recognizer_is_asked_where_the_smaller_is_unsure(
    monkeypatch: pytest.MonkeyPatch, sure: float, asked: list[str]
) -> None:
    models: list[tuple[str, str | None]] = []

    def write(_samples: object, *, model: str, proposed_by: str | None = None) -> list[RecognizedWord]:
        models.append((model, proposed_by))
        return [RecognizedWord(model, sure)]

    monkeypatch.setattr(transcript, "recognize", write)
    monkeypatch.setattr(transcript, "identify", in_english)
    how = XVector()._recognizing
    (one,) = transcribe(hum(1, duration_s=2.0).samples, how=how, speaker=NOTHING_KNOWN, method="xvector").spoken
    assert [model for model, _ in models] == asked and [word.text for word in one.words] == asked[-1:]
    assert [by for _, by in models] == [None, "moonshine"][: len(asked)], "and is told what the smaller one wrote"


def test_phrases_are_read_in_their_place_and_sentences_one_after_the_other() -> None:
    """Where it sounds is where somebody spoke, or one sentence follows the other."""
    model = open_weights()
    vector, choice = model.bank.vectors[0], ProsodyChoice(f0="predicted", energy="predicted", timing="even")
    voice = ReadingVoice(model, choice, vector, model.bank.f0_of(vector), 0, 1.0, np.random.default_rng(1))
    phrases = [said("The fox slipped away.", start=1600, end=20_000), said("It was gone.", start=40_000, end=56_000)]
    whole = read_in_place(voice, phrases, length=60_000)
    sounding = np.flatnonzero(whole)
    assert len(whole) == 60_000 and sounding[0] >= 1600 and sounding[-1] < 56_000
    assert not whole[20_000:40_000].any() and whole[1600:20_000].any() and whole[40_000:56_000].any()
    both = len(voice.content("The fox slipped away. It was gone."))
    free = read_freely(voice, phrases, length=60_000)
    assert len(free) == both * 192, "few words are one sentence, wherever the speaker paused"
    slow = replace(voice, tempo=1.2)
    assert len(slow.content("It was gone.")) > 1.1 * len(voice.content("It was gone."))
    assert not len(voice.speak(voice.content("... !"))), "marks have no sound"
