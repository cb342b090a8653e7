"""Cascade: words in, another voice out; what is unsure or private is left out; what is not English is refused."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from personare.anonymizers import anonymizer
from personare.anonymizers.neural.cascade.anonymizer import Cascade
from personare.anonymizers.neural.cascade.offline_voice import GOOD_VOICE
from personare.anonymizers.neural.cascade.speaking import PhraseSpeaker, Slot, laid_out, spoken_freely, spoken_in_slots
from personare.anonymizers.neural.words import transcript
from personare.anonymizers.neural.words.phrases import LONG_S, RATE_HZ, digital_silences, find_phrases
from personare.anonymizers.neural.words.redaction import KINDS, left_out
from personare.anonymizers.neural.words.transcript import Recognizing, Segment, segments_of, transcribe
from personare.core.audio import Audio, resample
from personare.core.errors import ConfigError, MissingExtraError, RejectedSpeechError, WeightsError
from personare.core.seeding import Key
from personare.core.spoken import NOTHING_KNOWN, SpeakerFacts, SpeechNotes, SpokenAudio
from personare.encoders.recognition import RecognizedWord, recognize
from personare.languages import LANGUAGES
from personare.pipeline.jobs.anonymize_work import hide_channels
from personare.pipeline.system import System
from personare.voices import kokoro
from personare.voices.piper import Piper, measured_voices
from personare.voices.synthesizer import OfflineVoice

TEXT_WITH_NAMES = "My name is Sarah Connor and I live in Berlin"
TEXT = "He usually walks home through the orchard."
FOREIGN_VOICES = {"de": "if_sara", "fr": "ff_siwis", "es": "em_alex"}  # of Kokoro


@cache
def spoken(text: str = TEXT, voice: int = 3) -> Audio:
    audio = Piper()(text, voice=voice, rate=1.0, rng=np.random.default_rng(1))
    return resample(audio, RATE_HZ)


def hide(audio: Audio, seed: int = 1, **parameters: object) -> NDArray[np.float32]:
    return anonymizer("cascade", **{"voice": "piper", "gender": "any", **parameters})(
        audio, rng=np.random.default_rng(seed)
    ).samples


def heard(samples: NDArray[np.float32], rate_hz: int = RATE_HZ) -> str:
    words = recognize(resample(Audio(samples, rate_hz), RATE_HZ).samples, model="moonshine")
    return " ".join(word.text for word in words).lower().strip(".")


class Beeps:
    """A synthesizer that beeps for a fifth of a second a word: enough to see where words go."""

    fingerprint = "beeps"
    voices: Sequence[OfflineVoice] = ()

    def __call__(self, text: str, *, voice: int, rate: float, rng: np.random.Generator) -> Audio:
        count = round(0.2 * len(text.split()) / rate * 8_000)
        return Audio(np.sin(np.arange(count) * 0.5).astype(np.float32), 8_000)


BEEPING = PhraseSpeaker(Beeps(), 0, Key.from_seed(1), 8_000)


def words(count: int) -> list[Segment]:
    return [Segment("words", " ".join(["word"] * count))]


@pytest.mark.models
def test_the_words_come_back_in_another_voice_whatever_the_level() -> None:
    audio = spoken()
    result = hide(audio, recognizer="moonshine")
    assert "through the orchard" in heard(result)
    quiet = Audio(audio.samples * np.float32(0.03), RATE_HZ)
    assert np.array_equal(hide(quiet, recognizer="moonshine"), result), "nothing of the source's energy may pass"
    assert not np.array_equal(hide(audio, seed=2, recognizer="moonshine"), result)


@pytest.mark.models
@pytest.mark.parametrize("rate_hz", [8_000, 48_000])
def test_other_rates_and_hardly_any_sound(rate_hz: int) -> None:
    audio = resample(spoken(), rate_hz)
    assert "orchard" in heard(hide(audio, recognizer="moonshine"), rate_hz)
    short = Audio(audio.samples[: rate_hz // 10], rate_hz)
    assert len(hide(short, recognizer="moonshine", timing="phrases")) == rate_hz // 10
    assert len(hide(short, recognizer="moonshine")) > 0


@cache
def foreign(code: str) -> Audio:
    """The first two example sentences of a language, pronounced by its rules and spoken by a voice of Kokoro."""
    voice = FOREIGN_VOICES[code]
    parts = []
    for text in LANGUAGES[code].examples[:2]:
        ids = kokoro.symbol_ids(LANGUAGES[code].pronounce(text))
        style = kokoro.mixed_style([voice], [1.0], length=len(ids))
        parts.append(kokoro.speak_ids(ids, style=style, rate=1.0))
    return resample(Audio(np.concatenate(parts), kokoro.RATE_HZ), RATE_HZ)


@pytest.mark.models
@pytest.mark.parametrize("code", FOREIGN_VOICES)
def test_another_language_is_refused_by_an_english_voice_in_one_line(code: str) -> None:
    with pytest.raises(
        RejectedSpeechError, match=rf"sounds like .*\({code}\).* the only language that cascade"
    ) as caught:
        hide(foreign(code), recognizer="moonshine")
    assert "\n" not in str(caught.value) and "--language en" in str(caught.value)


@pytest.mark.models
@pytest.mark.parametrize("code", FOREIGN_VOICES)
def test_another_language_is_transcribed_in_itself_where_the_voice_speaks_it(code: str) -> None:
    how = Recognizing("moonshine", spoken=tuple(LANGUAGES))
    made = transcribe(foreign(code).samples, how=how, speaker=NOTHING_KNOWN, method="cascade")
    words = [word for one in made.spoken for word in one.words]
    assert made.notes.language == code and {word.language for word in words} == {code}
    said = LANGUAGES[code].normalize(" ".join(LANGUAGES[code].examples[:2])).split()
    assert (
        len(set(said) & set(LANGUAGES[code].normalize(" ".join(word.text for word in words)).split())) > len(said) / 2
    )


@pytest.mark.models
def test_noise_is_no_speech_and_stays_silent() -> None:
    noise = Audio(np.random.default_rng(1).normal(0, 0.1, 6 * RATE_HZ).astype(np.float32), RATE_HZ)
    made = Cascade(timing="phrases").speak(noise, rng=np.random.default_rng(1), speaker=NOTHING_KNOWN)
    assert len(made.audio.samples) == len(noise.samples) and not made.audio.samples.any()
    assert made.notes == SpeechNotes()


def test_missing_models_are_named_in_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path))
    models = "cmudict moonshine moonshine-base segmentation whisper-base whisper-small piper"
    with pytest.raises(WeightsError, match=rf"fetch them with: personare models fetch {models}$"):
        hide(Audio(np.ones(RATE_HZ, np.float32), RATE_HZ))


def test_mistakes_are_one_line() -> None:
    with pytest.raises(ConfigError, match="recognizer: 'moonshin' is not allowed; did you mean 'moonshine'"):
        anonymizer("cascade", recognizer="moonshin")
    with pytest.raises(ConfigError, match="unsure: 'beep' is not allowed; Known: silence, speak, tone"):
        anonymizer("cascade", unsure="beep")
    with pytest.raises(ConfigError, match="redact knows no 'name'; did you mean 'names'"):
        anonymizer("cascade", redact=["name"])
    with pytest.raises(ConfigError, match="sure_from must be 0 to 1"):
        anonymizer("cascade", sure_from=3)
    assert anonymizer("cascade", redact=["places", "names"]) == anonymizer("cascade", redact=("names", "places"))


def test_unsure_words_are_spoken_silent_or_a_tone() -> None:
    said = [RecognizedWord(text, sure) for text, sure in (("we", 0.9), ("zyzzy", 0.2), ("go", 0.9))]
    kinds = {
        unsure: [s.text or s.kind for s in segments_of(said, unsure=unsure, sure_from=0.4, redact=())]
        for unsure in ("speak", "silence", "tone")
    }
    assert kinds == {
        "speak": ["we zyzzy go"],
        "silence": ["we", "silence", "go"],
        "tone": ["we", "tone", "go"],
    }
    sound = BEEPING.speak(segments_of(said, unsure="silence", sure_from=0.4, redact=()), place=0, rate=1.0)
    assert len(sound) == pytest.approx(0.7 * 8_000, rel=0.05) and not sound[2000:3600].any()
    tone = BEEPING.speak(segments_of(said, unsure="tone", sure_from=0.4, redact=()), place=0, rate=1.0)
    assert 0 < np.abs(tone[2000:3600]).max() < 0.05, "the tone is soft"


@pytest.mark.parametrize(
    ("text", "spoken_anyway"),
    [
        ("My number is 555-0123 , call at nine thirty", "My number is , call at"),
        ("One of us has two dogs", "One of us has dogs"),
        ("Write to anna@example.com or www.example.org today", "Write to or today"),
        ("twenty-one people", "people"),
    ],
)
def test_numbers_and_addresses_are_left_out_by_rules(text: str, spoken_anyway: str) -> None:
    out = left_out(text.split(), ["numbers"])
    assert " ".join(word for word, hidden in zip(text.split(), out, strict=True) if not hidden) == spoken_anyway
    said = [RecognizedWord(word, 0.9) for word in text.split()]
    segments = segments_of(said, unsure="speak", sure_from=0.4, redact=("numbers",))
    assert any(s.kind == "tone" for s in segments)


def test_names_and_places_need_the_extra_or_are_left_out() -> None:
    try:
        import spacy  # noqa: F401
    except ImportError:
        with pytest.raises(MissingExtraError, match=r"pip install '\.\[redact\]'"):
            hide(Audio(np.ones(800, np.float32), RATE_HZ), redact=["names"])
        return
    text = TEXT_WITH_NAMES.split()
    assert left_out(text, KINDS) == [False] * 3 + [True] * 2 + [False] * 4 + [True]


def test_phrases_are_cut_at_pauses_whatever_the_level() -> None:
    rng = np.random.default_rng(1)
    talk, pause = rng.normal(0, 0.1, 4 * RATE_HZ), rng.normal(0, 1e-4, RATE_HZ)
    samples = np.concatenate([pause, talk, pause, talk, pause]).astype(np.float32)
    found = find_phrases(samples)
    assert [(round(p.start / RATE_HZ, 1), round(p.end / RATE_HZ, 1)) for p in found] == [(0.9, 5.1), (5.9, 10.1)]
    assert find_phrases(samples * np.float32(0.037)) == found
    assert find_phrases(np.zeros(RATE_HZ, np.float32)) == [] == find_phrases(np.zeros(0, np.float32))
    long = find_phrases(rng.normal(0, 0.1, 60 * RATE_HZ).astype(np.float32))
    assert max(p.duration_s for p in long) <= LONG_S + 0.5 and sum(p.duration_s for p in long) >= 60
    assert all(one.end <= other.start + 2 * RATE_HZ // 10 for one, other in pairwise(long))


def test_a_phrase_begins_in_its_place_and_is_hurried_only_where_it_must_be() -> None:
    slots = [Slot(0.5, 2.5, 3.0, 3.0), Slot(3.0, 3.5, 6.0, 6.0), Slot(6.0, 6.5, 7.0, 7.0)]
    pieces = list(spoken_in_slots(BEEPING, [words(5), words(5), words(8)], slots, rate="own"))
    assert [start / 8_000 for start, _ in pieces] == [0.5, 3.0, 6.0]
    lengths = [len(sound) / 8_000 for _, sound in pieces]
    assert lengths[0] == pytest.approx(1.0, abs=0.05), "its own rate where there is time"
    assert lengths[1] == pytest.approx(1.0 / 1.35, abs=0.05), "as fast as is natural, then into the pause"
    assert lengths[2] == pytest.approx(0.9, abs=0.05), "hurried before the end of the recording"
    fitted = list(spoken_in_slots(BEEPING, [words(9)], [Slot(0, 2.0, 3.0, 3.0)], rate="fit"))
    assert len(fitted[0][1]) / 8_000 == pytest.approx(2.0, abs=0.05)


def test_free_timing_says_nothing_of_pauses_and_keeps_all_words() -> None:
    def spoken_with(pauses_s: list[float] | None, seed: int = 1) -> np.ndarray:
        return spoken_freely(BEEPING, [words(4), words(6)], pauses_s, rng=np.random.default_rng(seed))

    drawn = spoken_with(None)
    assert (drawn != 0).sum() / 8_000 == pytest.approx(10 * 0.2, rel=0.05), "every word, at the voice's own rate"
    assert len(spoken_with(None, seed=2)) != len(drawn)
    kept, longer = spoken_with([1.0, 9.0]), spoken_with([3.0, 9.0])
    assert (len(longer) - len(kept)) / 8_000 == pytest.approx(2.0), "what follows the last phrase never counts"


@pytest.mark.models
def test_neither_length_nor_pauses_pass() -> None:
    audio = spoken()
    halves = np.array_split(audio.samples, [_quietest(audio.samples)])
    silence = np.zeros(2 * RATE_HZ, np.float32)
    hesitant = Audio(np.concatenate([silence, halves[0], silence, halves[1], silence]), RATE_HZ)
    fluent, paused = (len(hide(one, recognizer="moonshine")) / RATE_HZ for one in (audio, hesitant))
    assert abs(paused - fluent) < 0.25 * fluent, "six seconds of silence do not pass"
    own = len(hide(hesitant, recognizer="moonshine", pauses="keep")) / RATE_HZ
    assert own > fluent + 1.0
    assert len(hide(hesitant, recognizer="moonshine", timing="phrases")) == len(hesitant.samples)


def _quietest(samples: np.ndarray) -> int:
    """Where, in the middle half, 0.1 s are quietest: between two words."""
    size = RATE_HZ // 10
    levels = np.convolve(np.square(samples), np.ones(size), mode="valid")
    quarter = len(levels) // 4
    return quarter + int(levels[quarter : 3 * quarter].argmin()) + size // 2


def test_what_was_muted_stays_muted() -> None:
    muted = [Slot(0.0, 1.0, 3.0, 1.1)]
    (_, sound), *_ = spoken_in_slots(BEEPING, [words(9)], muted, rate="own")
    assert len(sound) / 8_000 <= 1.0
    samples = np.concatenate([np.ones(800), np.zeros(1700), np.ones(10), np.zeros(100)]).astype(np.float32)
    assert digital_silences(samples, 8_000) == [0.1]


def test_what_reaches_over_the_end_fades_out_there() -> None:
    whole = laid_out(iter([(6, np.ones(8, np.float32))]), 10, rate_hz=8_000)
    assert len(whole) == 10 and not whole[:6].any() and whole[-1] == 0


def test_voices_are_keyed_and_different_within_a_recording() -> None:
    method = Cascade(voice="piper", gender="any")
    silence = Audio(np.ones(100, np.float32), RATE_HZ)
    drawn = [method.voice_of(silence, rng=np.random.default_rng(seed)) for seed in range(40)]
    bad = {voice.number for voice in measured_voices() if voice.dnsmos < GOOD_VOICE}
    assert drawn == [method.voice_of(silence, rng=np.random.default_rng(seed)) for seed in range(40)]
    assert len(set(drawn)) > 30 and not set(drawn) & bad
    men = {Cascade(voice="piper", gender="m").voice_of(silence, rng=np.random.default_rng(seed)) for seed in range(40)}
    assert {voice.gender for voice in measured_voices() if voice.number in men} == {"m"}


def test_two_people_of_one_recording_never_share_a_voice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("personare.anonymizers.neural.cascade.offline_voice.piper_pool", lambda _gender: (3, 4))
    spoke: list[object] = []

    def speak(self: Cascade, audio: Audio, *, rng: np.random.Generator, speaker: SpeakerFacts) -> SpokenAudio:
        spoke.append(self.voice_of(audio, rng=rng, speaker=speaker))
        return SpokenAudio(audio)

    monkeypatch.setattr(Cascade, "speak", speak)
    silence = Audio(np.ones(10, np.float32), RATE_HZ)
    for seed in range(12):
        tracks = [("anna", "a", silence), ("bela", "a", silence), ("anna", "a", silence)]
        hide_channels(System("cascade", {"voice": "piper", "gender": "any"}), Key.from_seed(seed), tracks)
        first, other, again = spoke[-3:]
        assert first == again != other


@pytest.mark.models
def test_a_long_recording_is_recognized_phrase_by_phrase(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []

    def count(samples: NDArray[np.float32], *, model: str) -> list[RecognizedWord]:
        lengths.append(len(samples))
        return [RecognizedWord("word", 0.9)] * round(3 * len(samples) / RATE_HZ)

    monkeypatch.setattr(transcript, "recognize", count)
    pause = np.zeros(RATE_HZ // 2, np.float32)
    minutes = np.tile(np.concatenate([spoken().samples, pause]), 40)
    how = Recognizing("moonshine", language="en")
    made = transcribe(minutes, how=how, speaker=NOTHING_KNOWN, method="cascade")
    assert len(made.spoken) == len(lengths) > 8
    assert max(lengths) <= (LONG_S + 0.5) * RATE_HZ
