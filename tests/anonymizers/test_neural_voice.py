"""The neural voice of cascade: nothing passes but the words; it sounds as when it was called xvector."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from conftest import hum
from personare.anonymizers import anonymizer
from personare.anonymizers.neural.cascade import anonymizer as cascade_anonymizer
from personare.anonymizers.neural.cascade.anonymizer import Cascade
from personare.anonymizers.neural.cascade.coarse_prosody import PhraseProsody
from personare.anonymizers.neural.cascade.neural_voice import NeuralSpeaker, reading_tempo
from personare.anonymizers.neural.words import transcript
from personare.anonymizers.neural.words.languages import Stretch
from personare.anonymizers.neural.words.phrases import Phrase
from personare.anonymizers.neural.words.transcript import Segment, SpokenPhrase, Transcript, transcribe
from personare.anonymizers.neural.xvector.prosody_choice import ProsodyChoice
from personare.anonymizers.neural.xvector.weights import open_weights
from personare.core.audio import Audio, read_mono, resample
from personare.core.errors import ConfigError, PersonareError, RejectedSpeechError
from personare.core.seeding import load_key, rng_for
from personare.core.spoken import NOTHING_KNOWN, SpeakerFacts, SpeechNotes, pool
from personare.encoders.recognition import RecognizedWord, recognize
from personare.pipeline.jobs.lookup import Originals, look_up
from personare.voices.piper import Piper

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

RATE_HZ = 16_000
FORMER = Path(__file__).parents[1] / "pipeline" / "former"
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
    ("method", "settings", "message"),
    [
        ("xvector", {"content": "words"}, "has no parameter 'content=words' any more.*--method cascade"),
        ("xvector", {"recognizer": "both"}, "has no parameter 'recognizer' any more.*--method cascade"),
        ("xvector", {"refuse_below": 0.5}, "has no parameter 'refuse_below' any more.*--method cascade"),
        ("xvector", {"language": "en"}, "has no parameter 'language' any more.*--method cascade"),
        ("cascade", {"timing": "even"}, "has no parameter 'timing=even' any more; write timing=free"),
        ("cascade", {"timing": "keep"}, "has no parameter 'timing=keep' any more; write timing=phrases"),
        ("cascade", {"content": "moonshine"}, "has no parameter 'content' any more.*--method xvector"),
        ("cascade", {"mask": True}, "has no parameter 'mask' any more.*--method xvector"),
        ("cascade", {"voice": "piper", "treble": False}, "treble is a parameter of the voice neural, not of piper"),
        ("cascade", {"voice": "kokoro", "generator": "b1"}, "generator is a parameter of the voice neural"),
        ("cascade", {"voice": "kokoro", "parameters": {"mix": 3}}, "parameters is a parameter of the voice neural"),
    ],
)
def test_settings_that_moved_are_refused_with_their_new_place(
    method: str, settings: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError, match=f"^{method}:? .*{message}|^{method} {message}|^{method}: {message}"):
        anonymizer(method, **settings)


def test_a_wrong_limit_is_one_line() -> None:
    with pytest.raises(ConfigError, match=r"refuse_below must be 0 to 1, not 1\.5"):
        anonymizer("cascade", refuse_below=1.5)
    with pytest.raises(PersonareError):
        anonymizer("cascade", recognizer="whisper")


@pytest.mark.models
def test_nothing_of_a_recording_passes_but_its_words_and_a_gender(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two people and noise, of whom the recognizer is made to hear the same words: the same bits come out.

    With ``gender=same``, the default, there are two results, one for those taken for women and one for men.
    """
    monkeypatch.setattr(cascade_anonymizer, "transcribe", heard_as(said("The fox slipped away.")))
    noise = Audio((0.1 * np.random.default_rng(2).standard_normal(20_000)).astype(np.float32), RATE_HZ)
    method = anonymizer("cascade", gender="any")
    first, *others = (method(one, rng=np.random.default_rng(5)) for one in (spoken_by(3), spoken_by(4), noise))
    assert first.samples.any()
    assert all(np.array_equal(first.samples, other.samples) for other in others)
    another = method(spoken_by(3), rng=np.random.default_rng(6))
    assert not np.array_equal(first.samples, another.samples), "another key, another voice"
    recordings = {gender: [spoken_by(number) for number in numbers] for gender, numbers in TAKEN_FOR.items()}
    kept = {
        gender: {anonymizer("cascade")(one, rng=np.random.default_rng(5)).samples.tobytes() for one in some}
        for gender, some in recordings.items()
    }
    assert [len(results) for results in kept.values()] == [1, 1] and kept["f"] != kept["m"]


@pytest.mark.models
@pytest.mark.parametrize("timing", ["free", "phrases"])
def test_the_words_can_be_recognized_again(timing: str) -> None:
    hidden = anonymizer("cascade", timing=timing)(spoken_by(3), rng=np.random.default_rng(4))
    again = [word.text.lower().strip(",.") for word in recognize(hidden.samples, model="moonshine-base")]
    wanted = [word.lower().strip(",.") for word in SENTENCE.split()]
    assert len(set(wanted) & set(again)) >= 0.75 * len(set(wanted)), again


@pytest.mark.models
@pytest.mark.parametrize("spoken", [[], [said("")], [said("... !")]], ids=["no phrase", "no word", "marks"])
def test_sound_without_words_is_silence_of_the_same_length(
    spoken: list[SpokenPhrase], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cascade_anonymizer, "transcribe", heard_as(*spoken))
    audio = hum(1, duration_s=2.0)
    hidden = anonymizer("cascade")(audio, rng=np.random.default_rng(1))
    assert not hidden.samples.any() and len(hidden.samples) == len(audio.samples)


@pytest.mark.models
def test_words_that_nobody_is_sure_of_are_refused_with_the_next_step(monkeypatch: pytest.MonkeyPatch) -> None:
    unsure = [RecognizedWord("no", 0.1)] * 20
    monkeypatch.setattr(transcript, "recognize", lambda *_, **__: unsure)
    with pytest.raises(
        RejectedSpeechError, match=r"no words were recognized in .* s of speech.*--strength fast"
    ) as bad:
        anonymizer("cascade")(spoken_by(3), rng=np.random.default_rng(1))
    assert "\n" not in str(bad.value)
    assert anonymizer("cascade", refuse_below=0.0)(spoken_by(3), rng=np.random.default_rng(1)).samples.any()


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
    how = Cascade()._recognizing
    (one,) = transcribe(hum(1, duration_s=2.0).samples, how=how, speaker=NOTHING_KNOWN, method="cascade").spoken
    assert [model for model, _ in models] == asked and [word.text for word in one.words] == asked[-1:]
    assert [by for _, by in models] == [None, "moonshine"][: len(asked)], "and is told what the smaller one wrote"


def test_sentences_are_read_one_after_the_other_and_faster_where_asked() -> None:
    model = open_weights()
    vector, choice = model.bank.vectors[0], ProsodyChoice(f0="predicted", energy="predicted", timing="even")
    voice = NeuralSpeaker(model, choice, vector, model.bank.f0_of(vector), 0, 1.0, np.random.default_rng(1))
    words, more = ([Segment("words", text)] for text in ("The fox slipped away.", "It was gone."))
    one, two = (voice.speak_freely(phrases, None, length_s=1.0) for phrases in ([words], [words, more]))
    assert len(two) > len(one) + 0.2 * RATE_HZ and one.any()
    usual, fast = (voice.speak(words, place=0, rate=rate) for rate in (1.0, 1.3))
    assert len(fast) == pytest.approx(len(usual) / 1.3, rel=0.05)
    slow = replace(voice, tempo=1.2)
    assert len(slow.content("It was gone.")) > 1.1 * len(voice.content("It was gone."))
    assert not len(voice.speak([Segment("words", "... !")], place=0, rate=1.0)), "marks have no sound"
    higher = voice.with_prosody((PhraseProsody(2.0, 4.0),))
    assert np.abs(higher.speak(words, place=0, rate=1.0)).max() > 1.2 * np.abs(usual).max()


@pytest.mark.models
@pytest.mark.parametrize(
    ("folder", "settings"),
    [("xvector", {}), ("cascade", {"voice": "piper", "recognizer": "moonshine-base", "gender": "any"})],
)
def test_it_speaks_as_it_did_under_its_former_name(folder: str, settings: dict[str, object], tmp_path: Path) -> None:
    """A recording of ../pipeline/former, anonymized again by the same key; another processor may round otherwise."""
    private = tmp_path / "key"
    private.write_bytes((FORMER / f"{folder}-private" / "key").read_bytes())
    private.chmod(0o600)
    key, method = load_key(private), Cascade(**settings)  # type: ignore[arg-type]
    sounds = [read_mono(FORMER / "speech" / "voice3" / f"{number}.opus") for number in (0, 1)]
    facts = pool([method.evidence(sound) for sound in sounds])
    made = method.speak(sounds[0], rng=rng_for(key, "voice", "voice3"), speaker=facts).audio.samples
    (match,) = look_up("voice3/0", Originals(FORMER / "speech", key))
    (place,) = (FORMER / folder / "audio").rglob(f"{match.utterance_token}.opus")
    before = read_mono(place).samples[: len(made)]
    assert abs(len(read_mono(place).samples) - len(made)) <= RATE_HZ // 50, "Opus codes whole frames"
    padded = np.pad(before, (0, len(made) - len(before)))
    assert np.corrcoef(padded, made)[0, 1] > 0.97
