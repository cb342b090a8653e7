"""Coarse prosody of cascade: a few steps of pitch and level against the recording's own median, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from anonymizers.bs1770 import loudness
from personare.anonymizers import anonymizer
from personare.anonymizers.neural.cascade import anonymizer as cascade_anonymizer
from personare.anonymizers.neural.cascade import coarse_prosody as coarse
from personare.anonymizers.neural.cascade.coarse_prosody import (
    NEUTRAL,
    PhraseProsody,
    at_loudness,
    phrase_f0_hz,
    phrase_lufs,
    prosody_steps,
)
from personare.anonymizers.neural.cascade.speaking import LOUDNESS_LUFS, PhraseSpeaker
from personare.anonymizers.neural.words.phrases import RATE_HZ, find_phrases
from personare.anonymizers.neural.words.transcript import Recognizing, Segment, transcribe
from personare.core.audio import Audio, resample
from personare.core.errors import ConfigError, WeightsError
from personare.core.seeding import Key
from personare.core.spoken import NOTHING_KNOWN
from personare.voices.piper import Piper
from personare.voices.synthesizer import OfflineVoice

Floats = NDArray[np.float32]
UNKNOWN = float("nan")
TEXTS = (
    "He usually walks home through the orchard in the evening.",
    "The old dog was sleeping in front of the kitchen door.",
    "He usually walks home through the orchard in the evening.",
)


class Tones:
    """A synthesizer that gives a tone of 400 Hz for a fifth of a second a word."""

    fingerprint = "tones"
    voices: Sequence[OfflineVoice] = ()

    def __call__(self, text: str, *, voice: int, rate: float, rng: np.random.Generator) -> Audio:
        count = round(0.2 * len(text.split()) / rate * 8_000)
        return Audio(np.sin(2 * np.pi * 400 * np.arange(count) / 8_000).astype(np.float32), 8_000)


PLAIN = PhraseSpeaker(Tones(), 0, Key.from_seed(1), 16_000)
SIX_WORDS = [Segment("words", "one two three four five six")]


def steps(measured: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Give the steps of phrases of one word each."""
    ones = [1] * len(measured)
    found = prosody_steps(measured, phrase_words=ones, text_words=ones)
    return [(one.semitones, one.level_db) for one in found]


def semitones_above(f0_hz: float, semitones: float) -> float:
    return float(f0_hz * 2 ** (semitones / 12))


def buzz(f0_hz: float, seconds: float = 1.0, peak: float = 0.5) -> Floats:
    t = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    sound = np.sum([np.sin(2 * np.pi * k * f0_hz * t) / k for k in range(1, 20)], axis=0)
    return np.asarray(peak * sound / np.abs(sound).max(), np.float32)


@cache
def three_phrases(semitones: float, level_db: float) -> Audio:
    """Three sentences of one voice with pauses; the second is so much higher and louder than the others."""
    parts = [np.zeros(RATE_HZ // 4, np.float32)]
    for text, moved in zip(TEXTS, (False, True, False), strict=True):
        speed = 2 ** (semitones / 12) if moved else 1.0
        audio = Piper()(text, voice=3, rate=1 / speed, rng=np.random.default_rng(1))
        samples = resample(Audio(audio.samples, round(audio.rate_hz * speed)), RATE_HZ).samples
        samples = samples * np.float32(10 ** ((-30 - phrase_lufs(samples)) / 20))
        parts += [samples * np.float32(10 ** (level_db * moved / 20)), np.zeros(RATE_HZ, np.float32)]
    return Audio(np.concatenate(parts), RATE_HZ)


def hide(audio: Audio, **parameters: object) -> Floats:
    settings = {"voice": "piper", "gender": "any", "recognizer": "moonshine", "pauses": "keep", **parameters}
    method = anonymizer("cascade", **settings)
    return method(audio, rng=np.random.default_rng(1)).samples


def test_known_f0_and_loudness_give_known_steps() -> None:
    high, low = semitones_above(120, 1.2), semitones_above(120, -1.6)
    found = steps([(120, -30), (high, -27.5), (low, -33.2), (120, -30), (120, -30.9)])
    assert found == [(0, 0), (1, 2), (-2, -4), (0, 0), (0, 0)]


def test_far_off_phrases_are_clipped() -> None:
    found = steps([(120, -30), (120, -30), (360, -10), (60, -60), (120, -30)])
    assert found[2:4] == [(2, 4), (-2, -4)]


def test_what_cannot_be_measured_is_not_moved() -> None:
    assert steps([(UNKNOWN, -30), (120, UNKNOWN), (240, -30)]) == [(0, 0), (-2, 0), (2, 0)]
    assert steps([(UNKNOWN, UNKNOWN)] * 2) == [(0, 0)] * 2
    assert steps([]) == []


def test_one_phrase_has_nothing_to_be_compared_with() -> None:
    assert prosody_steps([(317.0, -12.0)], phrase_words=[9], text_words=[6, 3]) == (NEUTRAL, NEUTRAL)


def test_a_sentence_across_phrases_gets_the_mean_over_its_words() -> None:
    measured = [(120.0, -30.0), (semitones_above(120, 2), -26.0), (120.0, -30.0)]
    found = prosody_steps(measured, phrase_words=[2, 6, 8], text_words=[8, 8])
    assert found == (PhraseProsody(2.0, 4.0), NEUTRAL), "6 of 8 words: 1.5 semitones and 3 dB, rounded"
    found = prosody_steps(measured, phrase_words=[6, 2, 8], text_words=[8, 8])
    assert found == (NEUTRAL, NEUTRAL), "2 of 8 words: half a semitone and 1 dB, rounded"


@given(
    st.lists(st.tuples(st.integers(60, 400), st.integers(-60, -10)), min_size=1, max_size=9),
    st.sampled_from([0.5, 1.0, 2.0]),
    st.integers(-40, 40),
)
def test_nothing_absolute_passes_and_few_steps_do(measured: list[tuple[int, int]], factor: float, more: int) -> None:
    found = steps(measured)
    assert steps([(f0_hz * factor, lufs + more) for f0_hz, lufs in measured]) == found
    assert {semitones for semitones, _ in found} <= {-2, -1, 0, 1, 2}
    assert {level_db for _, level_db in found} <= {-4, -2, 0, 2, 4}


def test_a_higher_phrase_lasts_as_long_and_is_as_much_higher_and_louder() -> None:
    plain = PLAIN.speak(SIX_WORDS, place=0, rate=1.0)
    for semitones, level_db in ((2.0, 4.0), (-2.0, -4.0), (1.0, -2.0)):
        speaker = replace(PLAIN, prosody=(NEUTRAL, PhraseProsody(semitones, level_db)))
        assert np.array_equal(speaker.speak(SIX_WORDS, place=0, rate=1.0), plain)
        moved = speaker.speak(SIX_WORDS, place=1, rate=1.0)
        assert len(moved) == pytest.approx(len(plain), abs=2)
        spectrum = np.abs(np.fft.rfft(moved * np.hanning(len(moved)), n=16 * 16_000))
        assert spectrum.argmax() / 16 == pytest.approx(semitones_above(400, semitones), abs=0.5)
        assert loudness(moved, 16_000) == pytest.approx(LOUDNESS_LUFS + level_db, abs=0.1)


def test_the_whole_has_one_loudness_however_long_and_uneven() -> None:
    rate_hz = 8_000
    tone = np.sin(2 * np.pi * 500 * np.arange(50 * rate_hz) / rate_hz).astype(np.float32)
    silence = np.zeros(55 * rate_hz, np.float32)
    whole = np.concatenate([0.1 * tone, silence, 0.16 * tone[: 5 * rate_hz], silence]).astype(np.float32)
    assert loudness(at_loudness(whole, rate_hz, lufs=-23.0), rate_hz) == pytest.approx(-23.0, abs=0.2)
    assert not at_loudness(silence, rate_hz, lufs=-23.0).any()


def test_loudness_of_a_phrase_has_no_gate() -> None:
    sound = buzz(120)
    quiet = phrase_lufs(sound * np.float32(1e-5))
    assert quiet == pytest.approx(phrase_lufs(sound) - 100, abs=0.01)
    assert np.isnan(phrase_lufs(np.zeros(RATE_HZ, np.float32)))


@pytest.mark.models
def test_f0_of_synthetic_phrases_is_found_whatever_their_level() -> None:
    for f0_hz in (95.0, 130.0, 220.0):
        for peak in (0.5, 1e-5):
            assert phrase_f0_hz(buzz(f0_hz, peak=peak)) == pytest.approx(f0_hz, rel=0.01)
    assert np.isnan(phrase_f0_hz(np.zeros(RATE_HZ, np.float32)))


def test_the_pitch_model_is_needed_only_where_it_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path))
    sound = Audio(np.ones(RATE_HZ, np.float32), RATE_HZ)
    with pytest.raises(
        WeightsError, match=r"fetch cmudict moonshine segmentation whisper-base whisper-small piper swift-f0$"
    ):
        hide(sound, prosody="coarse")
    with pytest.raises(WeightsError, match=r"fetch cmudict moonshine segmentation whisper-base whisper-small piper$"):
        hide(sound)
    with pytest.raises(ConfigError, match="prosody: 'fine' is not allowed; Known: coarse, own"):
        anonymizer("cascade", prosody="fine")


@pytest.mark.models
def test_the_default_measures_nothing_and_sounds_as_without_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    audio = three_phrases(4.0, 8.0)
    default = hide(audio)
    monkeypatch.setattr(cascade_anonymizer, "coarse_prosody", lambda *_, text_words: (NEUTRAL,) * len(text_words))
    assert np.array_equal(hide(audio, prosody="coarse"), default)
    monkeypatch.setattr(cascade_anonymizer, "coarse_prosody", None)
    monkeypatch.setattr(coarse, "integrated_lufs", None)
    assert np.array_equal(hide(audio), default)


@pytest.mark.models
@pytest.mark.parametrize("parameters", [{}, {"pauses": "even"}, {"timing": "phrases"}], ids=str)
def test_one_phrase_is_spoken_as_without(parameters: dict[str, object]) -> None:
    audio = three_phrases(0.0, 0.0)
    first = find_phrases(audio.samples)[0]
    one = Audio(audio.samples[: first.end], RATE_HZ)
    assert np.array_equal(hide(one, prosody="coarse", **parameters), hide(one, **parameters))


@pytest.mark.models
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("timing", ["free", "phrases"])
def test_a_phrase_goes_where_the_source_went(sign: int, timing: str) -> None:
    audio = three_phrases(4.0 * sign, 8.0 * sign)
    own, moved = (hide(audio, timing=timing, prosody=prosody) for prosody in ("own", "coarse"))
    assert loudness(moved, RATE_HZ) == pytest.approx(LOUDNESS_LUFS, abs=1.0)
    assert len(moved) == pytest.approx(len(own), abs=20), "it lasts as long"
    before, after = (_differences(samples) for samples in (own, moved))
    assert sign * (after[0] - before[0]) == pytest.approx(2.0, abs=0.4), "semitones of the second against the others"
    assert sign * (after[1] - before[1]) == pytest.approx(4.0, abs=0.5), "dB of the second against the others"
    how = Recognizing("moonshine")
    phrases = transcribe(moved, how=how, speaker=NOTHING_KNOWN, method="cascade").spoken
    heard = [word.text for phrase in phrases for word in phrase.words]
    assert "kitchen door" in " ".join(heard)
    quiet = Audio(audio.samples * np.float32(1 / 32), RATE_HZ)  # rounds nothing, so that the words stay the same
    assert np.array_equal(hide(quiet, timing=timing, prosody="coarse"), moved), "levels of recordings never pass"


def _differences(samples: Floats) -> NDArray[np.float64]:
    """How far the second of three phrases lies above the others, in semitones and dB."""
    phrases = [samples[one.start : one.end] for one in find_phrases(samples)]
    first, second, third = np.array([(12 * np.log2(phrase_f0_hz(one)), phrase_lufs(one)) for one in phrases])
    difference: NDArray[np.float64] = second - (first + third) / 2
    return difference


@pytest.mark.models
def test_sentences_with_even_pauses_are_moved_too() -> None:
    audio = three_phrases(4.0, 8.0)
    own, moved = (hide(audio, pauses="even", prosody=prosody) for prosody in ("own", "coarse"))
    assert not np.array_equal(own, moved)
    assert loudness(moved, RATE_HZ) == pytest.approx(LOUDNESS_LUFS, abs=1.0)
