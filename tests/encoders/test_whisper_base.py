"""Whisper base: which language is spoken, and which words; and which samples the segmentation takes for speech."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from personare.core.audio import read_mono, resample
from personare.encoders import whisper
from personare.encoders.segmentation import Segmentation
from personare.encoders.whisper import LANGUAGES, language_probabilities, transcribe
from personare.voices.piper import Piper

Floats = NDArray[np.float32]
RATE_HZ = 16_000
SENTENCE = "The old dog was sleeping in front of the kitchen door."


@cache
def spoken() -> Floats:
    return resample(Piper()(SENTENCE, voice=3, rate=1.0, rng=np.random.default_rng(1)), RATE_HZ).samples


def named(samples: Floats) -> str:
    return LANGUAGES[int(language_probabilities(samples).argmax())]


def test_every_language_of_the_model_has_its_place() -> None:
    assert len(LANGUAGES) == len(set(LANGUAGES)) == 99, "their order is that of the model's tokens"
    assert LANGUAGES[:4] == ("en", "zh", "de", "es") and LANGUAGES[-1] == "su"


@pytest.mark.models
@pytest.mark.parametrize("seconds", [0.1, 3.0, 30.0, 45.0])
def test_probabilities_sum_to_one_whatever_the_length(seconds: float) -> None:
    shares = language_probabilities(np.resize(spoken(), round(seconds * RATE_HZ)))
    assert shares.shape == (99,) and shares.dtype == np.float32
    assert shares.sum() == pytest.approx(1.0, abs=1e-5) and shares.min() >= 0


@pytest.mark.models
def test_an_answer_is_remembered_and_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    three_s = np.resize(spoken(), 3 * RATE_HZ)
    first = language_probabilities(three_s).copy()
    text = transcribe(three_s, language="en")
    monkeypatch.setattr(whisper, "_known", {})
    assert np.array_equal(language_probabilities(three_s), first) and transcribe(three_s, language="en") == text
    monkeypatch.setattr(whisper, "_networks", None)  # whoever asks it again fails
    assert np.array_equal(language_probabilities(three_s.copy()), first)
    assert transcribe(three_s.copy(), language="en") == text
    with pytest.raises(TypeError):
        language_probabilities(three_s[1:])


def test_no_more_is_remembered_than_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whisper, "_known", {})
    keys = [("whisper-base", "identify", Path("models"), bytes([n % 256, n // 256])) for n in range(600)]
    for n, key in enumerate(keys):
        whisper._remember(key, n)
    assert list(whisper._known) == keys[-512:], "the oldest goes first"


@pytest.mark.models
def test_english_is_named_and_its_words_are_written() -> None:
    assert named(spoken()) == "en"
    written = transcribe(spoken(), language="en").lower()
    assert "sleeping in front of the kitchen door" in written


@pytest.mark.models
def test_transcription_ends_also_where_there_are_no_words() -> None:
    noise = np.random.default_rng(1).normal(0, 0.05, 2 * RATE_HZ).astype(np.float32)
    pieces = 2 * 8 + 8
    assert len(transcribe(noise, language="en").split()) <= pieces
    assert len(transcribe(np.zeros(RATE_HZ, np.float32), language="en").split()) <= pieces


@pytest.mark.models
@pytest.mark.shared
@pytest.mark.parametrize(("corpus", "language"), [("emodb-de", "de"), ("drt-de", "de"), ("ravdess-en", "en")])
def test_real_speech_is_named_correctly(shared_folder: Path, corpus: str, language: str) -> None:
    assert longest_of(shared_folder, corpus) == [language] * 4


@pytest.mark.models
@pytest.mark.shared
@pytest.mark.parametrize("corpus", ["drt-fr", "drt-es"])
def test_single_words_of_other_languages_are_not_english(shared_folder: Path, corpus: str) -> None:
    assert "en" not in longest_of(shared_folder, corpus)


def longest_of(shared: Path, corpus: str) -> list[str]:
    """Name the language of the four longest recordings of a corpus."""
    table = pl.read_csv(shared / "corpus-world" / "manifest.tsv", separator="\t", quote_char=None)
    longest = table.filter(corpus=corpus).sort("seconds", descending=True).head(4)
    sounds = [read_mono(shared / "corpus-world" / path) for path in longest["audio"]]
    return [named(resample(sound, RATE_HZ).samples) for sound in sounds]


@pytest.mark.models
def test_speech_is_told_from_silence_noise_and_tones() -> None:
    tell = Segmentation().speech
    silence = np.zeros(4 * RATE_HZ, np.float32)
    noise = np.random.default_rng(1).normal(0, 0.05, 4 * RATE_HZ).astype(np.float32)
    tone = (0.3 * np.sin(2 * np.pi * 440 * np.arange(4 * RATE_HZ) / RATE_HZ)).astype(np.float32)
    for sound in (silence, noise, tone):
        assert tell(sound).shape == sound.shape and tell(sound).mean() < 0.05
    assert tell(spoken()).mean() > 0.8
    between = np.concatenate([silence, spoken(), silence, spoken()])  # over more than one window of 10 s
    found, length = tell(between), len(spoken())
    begin = len(silence)
    assert found[begin : begin + length].mean() > 0.8 and found[2 * begin + length :].mean() > 0.8
    assert found[: begin - RATE_HZ // 4].mean() < 0.05
    assert not tell(np.zeros(0, np.float32)).size
