"""The default recognizer: hears words well, says nothing for silence, never crashes on odd lengths."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from personare.core.audio import Audio, read_mono, resample
from personare.core.errors import ConfigError, WeightsError
from personare.encoders import moonshine as networks
from personare.encoders.word_pieces import read_pieces
from personare.listeners import listener
from personare.listeners.moonshine import Moonshine
from personare.listeners.normalize import WhisperEnglish

RATE_HZ = 16_000


def librispeech(shared: Path, *, part: str = "eval") -> pl.DataFrame:
    manifest = pl.read_csv(shared / "corpus" / "manifest.tsv", separator="\t", quote_char=None)
    return manifest.filter((pl.col("corpus") == "librispeech-mini") & (pl.col("part") == part))


def speech(shared: Path, row: int) -> tuple[Audio, str]:
    entry = librispeech(shared).row(row, named=True)
    return read_mono(shared / "corpus" / entry["audio"]), entry["text"]


def plain(text: str) -> set[str]:
    return {word.strip(".,?!;:\"'").lower() for word in text.split()}


@pytest.mark.models
@pytest.mark.parametrize("frames", [0, 1, 100, 1_599, 1_600, RATE_HZ, 31 * RATE_HZ])
def test_silence_of_any_length_is_no_words(frames: int) -> None:
    assert Moonshine()([Audio(np.zeros(frames, np.float32), RATE_HZ)]) == [""]


@pytest.mark.models
@pytest.mark.parametrize("frames", [1, 700, 1_600, 2_000])
def test_short_noise_gives_at_most_the_capped_number_of_pieces(frames: int) -> None:
    noise = np.random.default_rng(1).standard_normal(frames).astype(np.float32) * 0.1
    (heard,) = Moonshine()([Audio(noise, RATE_HZ)])
    assert len(heard.split()) <= 6.5 * frames / RATE_HZ + 8


@pytest.mark.models
@pytest.mark.shared
def test_hears_most_words_at_any_rate(shared_folder: Path) -> None:
    audio, text = speech(shared_folder, 3)
    heard = Moonshine()([audio, resample(audio, 44_100), resample(audio, 8_000)])
    for one in heard[:2]:
        assert len(plain(one) & plain(text)) > 0.8 * len(plain(text))
    assert len(heard) == 3


@pytest.mark.models
@pytest.mark.shared
def test_what_is_heard_does_not_depend_on_the_batch(shared_folder: Path) -> None:
    """Six utterances of different lengths: together, alone, in another order, with a loud neighbour."""
    rows = librispeech(shared_folder).filter(pl.col("seconds") < 5).sort("seconds").head(6)
    batch = [read_mono(shared_folder / "corpus" / audio) for audio in rows["audio"]]
    loud = Audio(np.clip(batch[0].samples * 30, -1, 1), RATE_HZ)
    together = Moonshine()(batch)
    networks._known.clear()
    assert together == [Moonshine()([audio])[0] for audio in batch]
    networks._known.clear()
    assert together == Moonshine()([loud, *batch[::-1]])[:0:-1]


@pytest.mark.models
@pytest.mark.shared
def test_speech_beyond_thirty_seconds_is_heard_to_its_end(shared_folder: Path) -> None:
    parts = [speech(shared_folder, row) for row in range(3)]
    joined = Audio(np.concatenate([audio.samples for audio, _ in parts]), RATE_HZ)
    assert joined.duration_s > 30
    words = plain(Moonshine()([joined])[0])
    for _, text in parts:
        assert len(words & plain(text)) > 0.75 * len(plain(text))


@pytest.mark.models
@pytest.mark.shared
def test_one_word_is_one_word(shared_folder: Path) -> None:
    """The first 0.6 s of an utterance: a word or two, no loop."""
    audio, _ = speech(shared_folder, 3)
    (heard,) = Moonshine()([Audio(audio.samples[: int(0.6 * RATE_HZ)], RATE_HZ)])
    assert len(heard.split()) <= 4


def word_error_rate(shared: Path, rows: pl.DataFrame) -> float:
    from personare.metrics.utility.wer import wer, word_errors

    words = WhisperEnglish()
    batch = [read_mono(shared / "corpus" / audio) for audio in rows["audio"]]
    heard = [words(text) for text in Moonshine()(batch)]
    return wer(word_errors([words(text) for text in rows["text"]], heard))


@pytest.mark.models
@pytest.mark.shared
def test_fewer_than_one_word_in_ten_is_wrong(shared_folder: Path) -> None:
    """One utterance of each of the six evaluation speakers."""
    rows = librispeech(shared_folder).group_by("speaker", maintain_order=True).head(1)
    assert word_error_rate(shared_folder, rows) < 0.10


@pytest.mark.models
@pytest.mark.shared
def test_noise_at_falling_snr_loses_words_step_by_step(shared_folder: Path) -> None:
    from personare.metrics.utility.wer import wer, word_errors

    rows = librispeech(shared_folder).filter(pl.col("seconds") < 9).group_by("speaker", maintain_order=True).head(1)
    batch = [read_mono(shared_folder / "corpus" / audio) for audio in rows["audio"]]
    words, tested = WhisperEnglish(), Moonshine()
    rates = []
    for snr_db in (30, 3, -10):
        heard = [words(text) for text in tested([noisy(audio, snr_db) for audio in batch])]
        rates.append(wer(word_errors([words(text) for text in rows["text"]], heard)))
    assert rates[0] < rates[1] < rates[2]


def noisy(audio: Audio, snr_db: float) -> Audio:
    noise = np.random.default_rng(5).standard_normal(len(audio.samples))
    scale = np.sqrt(np.mean(audio.samples.astype(np.float64) ** 2) / 10 ** (snr_db / 10))
    return Audio((audio.samples + scale * noise).astype(np.float32), audio.rate_hz)


@pytest.mark.models
@pytest.mark.shared
@pytest.mark.slow
def test_fewer_than_one_word_in_ten_is_wrong_in_all_of_librispeech_mini(shared_folder: Path) -> None:
    rows = pl.concat([librispeech(shared_folder), librispeech(shared_folder, part="train")])
    assert word_error_rate(shared_folder, rows) < 0.10


def test_catalog_makes_it_and_refuses_unknown_parameters() -> None:
    assert listener("moonshine", window_s=10.0) == Moonshine(window_s=10.0)
    with pytest.raises(ConfigError, match="did you mean 'window_s'"):
        listener("moonshine", windows_s=10.0)
    with pytest.raises(ConfigError, match="window_s >= 1"):
        listener("moonshine", window_s=0.0)


def test_settings_that_change_words_change_the_fingerprint() -> None:
    assert Moonshine().fingerprint != Moonshine(window_s=10.0).fingerprint
    assert Moonshine().fingerprint == Moonshine(normalizer="letters").fingerprint


def test_missing_model_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path))
    networks._networks.cache_clear()
    networks._known.clear()
    noise = np.random.default_rng(1).standard_normal(RATE_HZ).astype(np.float32) * 0.1
    with pytest.raises(WeightsError, match="personare models fetch moonshine"):
        Moonshine()([Audio(noise, RATE_HZ)])


def test_word_pieces_are_read_with_short_and_long_lengths(tmp_path: Path) -> None:
    path = tmp_path / "pieces.bin"
    path.write_bytes(b"\x02ab" + b"\x00" + bytes([128 + 2, 1]) + b"x" * 130)
    assert read_pieces(path) == (b"ab", b"", b"x" * 130)
    path.write_bytes(b"\x05ab")
    with pytest.raises(WeightsError, match="word piece 0"):
        read_pieces(path)
