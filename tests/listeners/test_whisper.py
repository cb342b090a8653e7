"""The second recognizer: hears the words of the first, says nothing for silence, does not repeat itself."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from personare.core.audio import Audio, read_mono, resample
from personare.core.errors import ConfigError, MissingExtraError
from personare.listeners import listener, whisper
from personare.listeners.normalize import WhisperEnglish
from personare.listeners.whisper import Whisper

RATE_HZ = 16_000


@pytest.mark.models
@pytest.mark.parametrize("frames", [0, 1, 1_599, 31 * RATE_HZ])
def test_silence_of_any_length_is_no_words(frames: int) -> None:
    assert Whisper()([Audio(np.zeros(frames, np.float32), RATE_HZ)]) == [""]


@pytest.mark.models
@pytest.mark.shared
def test_hears_the_words_that_were_said(shared_folder: Path) -> None:
    from personare.metrics.utility.wer import wer, word_errors

    manifest = pl.read_csv(shared_folder / "corpus" / "manifest.tsv", separator="\t", quote_char=None)
    rows = manifest.filter((pl.col("corpus") == "librispeech-mini") & (pl.col("seconds") < 8)).head(2)
    batch = [read_mono(shared_folder / "corpus" / audio) for audio in rows["audio"]]
    batch[0] = resample(batch[0], 22_050)
    words = WhisperEnglish()
    heard = [words(text) for text in Whisper()(batch)]
    assert wer(word_errors([words(text) for text in rows["text"]], heard)) < 0.2


@pytest.mark.models
def test_word_pieces_are_capped() -> None:
    noise = np.random.default_rng(2).standard_normal(RATE_HZ // 2).astype(np.float32) * 0.2
    (heard,) = Whisper(spare_tokens=2)([Audio(noise, RATE_HZ)])
    assert len(heard.split()) <= 6.5 / 2 + 2


def test_settings_are_checked() -> None:
    with pytest.raises(ConfigError, match="window_s <= 30"):
        listener("whisper", window_s=40.0)
    with pytest.raises(ConfigError, match="int8 or float32"):
        listener("whisper", compute="int4")
    with pytest.raises(ConfigError, match="beam"):
        listener("whisper", beam=0)
    assert Whisper().fingerprint != Whisper(beam=1).fingerprint


def test_a_missing_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    whisper._model.cache_clear()
    monkeypatch.setitem(sys.modules, "faster_whisper", None)
    noise = np.random.default_rng(2).standard_normal(RATE_HZ).astype(np.float32) * 0.2
    with pytest.raises(MissingExtraError, match=r"\.\[asr\]"):
        Whisper()([Audio(noise, RATE_HZ)])


@pytest.mark.slow
@pytest.mark.models
@pytest.mark.shared
def test_noise_loses_words_step_by_step_and_long_and_short_speech_is_heard(shared_folder: Path) -> None:
    from personare.metrics.utility.wer import wer, word_errors

    manifest = pl.read_csv(shared_folder / "corpus" / "manifest.tsv", separator="\t", quote_char=None)
    rows = manifest.filter((pl.col("corpus") == "librispeech-mini") & (pl.col("seconds") < 6)).head(3)
    batch = [read_mono(shared_folder / "corpus" / audio) for audio in rows["audio"]]
    words, tested = WhisperEnglish(), Whisper(beam=1)
    rates = []
    for snr_db in (30.0, 0.0, -12.0):
        heard = [words(text) for text in tested([noisy(audio, snr_db) for audio in batch])]
        rates.append(wer(word_errors([words(text) for text in rows["text"]], heard)))
    assert rates[0] < rates[1] < rates[2]
    word = Audio(batch[0].samples[: int(0.6 * RATE_HZ)], RATE_HZ)
    joined = np.concatenate([audio.samples for audio in batch] * 3)
    one, long = tested([word, Audio(joined[: 31 * RATE_HZ], RATE_HZ)])
    assert len(one.split()) <= 6
    assert len(long.split()) > 30


def noisy(audio: Audio, snr_db: float) -> Audio:
    noise = np.random.default_rng(5).standard_normal(len(audio.samples))
    scale = np.sqrt(np.mean(audio.samples.astype(np.float64) ** 2) / 10 ** (snr_db / 10))
    return Audio((audio.samples + scale * noise).astype(np.float32), audio.rate_hz)


@pytest.mark.models
@pytest.mark.shared
def test_the_wrapped_library_gives_the_same_words(shared_folder: Path) -> None:
    """The adapter compared once with faster-whisper called by hand."""
    from faster_whisper import WhisperModel

    from personare.core.weights import files_of

    manifest = pl.read_csv(shared_folder / "corpus" / "manifest.tsv", separator="\t", quote_char=None)
    row = manifest.filter((pl.col("corpus") == "librispeech-mini") & (pl.col("seconds") < 6)).row(0, named=True)
    audio = read_mono(shared_folder / "corpus" / row["audio"])
    model = WhisperModel(str(files_of("whisper")["model.bin"].parent), device="cpu", compute_type="int8", cpu_threads=1)
    segments, _ = model.transcribe(audio.samples, language="en", beam_size=5, temperature=0.0, without_timestamps=True)
    assert Whisper()([audio])[0] == " ".join(" ".join(s.text for s in segments).split())
