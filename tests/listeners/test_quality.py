"""Quality: the original itself scores best, noise lowers each score step by step, what cannot be judged is refused."""

from __future__ import annotations

import importlib
import itertools
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from conftest import hum
from personare.core.audio import Audio, read_mono, resample
from personare.core.errors import AudioError, MissingExtraError, UnknownNameError, WeightsError
from personare.listeners import dnsmos, listener, visqol
from personare.listeners.dnsmos import Dnsmos

for library in ("pesq", "pystoi", "visqol"):
    pytest.importorskip(library, reason="needs the extra 'quality'")


def comparison(name: str) -> Any:
    """A listener that compares, called by itself: a batch of (original, anonymized) in, one score each out."""
    assert listener(name).compares
    return listener(name)


BEST = {"pesq": 4.644, "stoi": 1.0, "estoi": 1.0, "visqol": 5.0}


def noisy(audio: Audio, snr_db: float) -> Audio:
    noise = np.random.default_rng(5).standard_normal(len(audio.samples))
    scale = np.sqrt(np.mean(audio.samples.astype(np.float64) ** 2) / 10 ** (snr_db / 10))
    return Audio((audio.samples + scale * noise).astype(np.float32), audio.rate_hz)


@pytest.fixture(scope="module")
def speech(shared_folder: Path) -> Audio:
    manifest = pl.read_csv(shared_folder / "corpus" / "manifest.tsv", separator="\t", quote_char=None)
    row = manifest.filter((pl.col("corpus") == "librispeech-mini") & (pl.col("seconds") < 4)).row(0, named=True)
    return read_mono(shared_folder / "corpus" / row["audio"])


@pytest.mark.shared
@pytest.mark.parametrize("name", BEST)
def test_the_original_scores_best_and_noise_lowers_it_step_by_step(name: str, speech: Audio) -> None:
    pairs = [(speech, speech)] + [(speech, noisy(speech, snr_db)) for snr_db in (20, 10, 0)]
    scores = comparison(name)(pairs)
    assert scores[0] == pytest.approx(BEST[name], abs=1e-3)
    assert all(better > worse for better, worse in itertools.pairwise(scores))


@pytest.mark.shared
def test_dnsmos_falls_with_noise(speech: Audio) -> None:
    heard = Dnsmos()([speech, noisy(speech, 20), noisy(speech, 5)])
    assert heard[0].overall > heard[1].overall > heard[2].overall
    assert heard[0].background > heard[1].background > heard[2].background
    assert all(1 <= score <= 5 for one in heard for score in (one.speech, one.background, one.overall))


@pytest.mark.shared
def test_any_rate_is_resampled(speech: Audio) -> None:
    for name in BEST:
        same = comparison(name)([(speech, resample(speech, 48_000))])[0]
        assert same > 0.95 * BEST[name]
    assert Dnsmos()([resample(speech, 48_000)])[0].overall == pytest.approx(Dnsmos()([speech])[0].overall, abs=0.1)


@pytest.mark.shared
def test_the_wrapped_libraries_give_the_same_numbers(speech: Audio) -> None:
    """Each adapter compared once with the library it wraps."""
    from pesq import pesq
    from pystoi import stoi
    from visqol import VisqolApi

    bad = noisy(speech, 15)
    x, y = speech.samples, bad.samples
    assert comparison("pesq")([(speech, bad)])[0] == pesq(16_000, x, y, "wb")
    assert comparison("stoi")([(speech, bad)])[0] == pytest.approx(stoi(x, y, 16_000), abs=5e-3)
    assert comparison("estoi")([(speech, bad)])[0] == pytest.approx(stoi(x, y, 16_000, extended=True), abs=5e-3)
    api = VisqolApi()
    api.create(mode="speech", use_lattice_model=False)
    theirs = api.measure_from_arrays(x.astype(np.float64), y.astype(np.float64), 16_000).moslqo
    assert comparison("visqol")([(speech, bad)])[0] == pytest.approx(theirs)


@pytest.mark.shared
def test_dnsmos_gives_the_numbers_of_the_wrapped_package(speech: Audio, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its second network (P.808, not offered here) needs librosa, which is not installed, and is fed zeros."""
    mels = types.SimpleNamespace(melspectrogram=lambda **_: np.zeros((120, 900), np.float32))
    monkeypatch.setitem(
        sys.modules, "librosa", types.SimpleNamespace(feature=mels, power_to_db=lambda power, **_: power)
    )
    monkeypatch.setitem(sys.modules, "requests", types.SimpleNamespace(session=None))
    theirs = importlib.import_module("speechmos.dnsmos")
    told = theirs.run(speech.samples, sr=16_000)
    (ours,) = Dnsmos()([speech])
    for name, value in (("sig_mos", ours.speech), ("bak_mos", ours.background), ("ovrl_mos", ours.overall)):
        assert value == pytest.approx(told[name], abs=1e-3)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["pesq", "stoi", "estoi", pytest.param("visqol", marks=pytest.mark.slow)])
def test_thirty_seconds_are_judged(name: str, speech: Audio) -> None:
    long = Audio(np.tile(speech.samples, 12)[: 30 * 16_000], 16_000)
    best, worse = comparison(name)([(long, long), (long, noisy(long, 5))])
    assert best == pytest.approx(BEST[name], abs=2e-3)
    assert worse < best


@pytest.mark.shared
@pytest.mark.parametrize("name", BEST)
def test_one_word_is_judged(name: str, speech: Audio) -> None:
    """Three quarters of a second; ViSQOL says that it needs a whole one, and judges 1.1 s."""
    word = Audio(speech.samples[16_000 : 16_000 + 12_000], 16_000)
    if name == "visqol":
        with pytest.raises(AudioError, match="needs 1 s"):
            comparison(name)([(word, word)])
        word = Audio(speech.samples[16_000 : 16_000 + 17_600], 16_000)
    best, worse = comparison(name)([(word, word), (word, noisy(word, 5))])
    assert best == pytest.approx(BEST[name], abs=2e-3)
    assert worse < best


@pytest.mark.shared
def test_dnsmos_judges_one_word(speech: Audio) -> None:
    word = Audio(speech.samples[16_000 : 16_000 + 9_600], 16_000)
    clean, worse = Dnsmos()([word, noisy(word, 0)])
    assert 1 <= worse.overall < clean.overall <= 5


@pytest.mark.parametrize("name", BEST)
def test_what_cannot_be_judged_is_refused(name: str) -> None:
    sound, silence = hum(1), Audio(np.zeros(16_000, np.float32), 16_000)
    for pair in ((sound, silence), (silence, sound), (silence, silence)):
        with pytest.raises(AudioError, match="silent"):
            comparison(name)([pair])
    with pytest.raises(AudioError, match="5 %"):
        comparison(name)([(sound, hum(1, duration_s=0.8))])
    short = hum(1, duration_s=0.1)
    with pytest.raises(AudioError, match="too short"):
        comparison(name)([(short, short)])


def test_pesq_and_stoi_say_when_there_is_no_speech() -> None:
    click = np.zeros(16_000, np.float32)
    click[-200:] = hum(1).samples[:200]
    sound = Audio(click, 16_000)
    with pytest.raises(AudioError, match="STOI needs"):
        comparison("stoi")([(sound, sound)])
    with pytest.raises(AudioError, match=r"PESQ cannot judge this pair \(No utterances detected\)"):
        comparison("pesq")([(sound, sound)])


def test_dnsmos_refuses_silence_and_takes_thirty_seconds() -> None:
    with pytest.raises(AudioError, match="silent"):
        Dnsmos()([Audio(np.zeros(160_000, np.float32), 16_000)])
    long = Audio(np.tile(hum(1).samples, 12), 16_000)
    assert 1 <= Dnsmos()([long])[0].overall <= 5


def test_unknown_names_are_one_line() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'pesq'"):
        listener("peqs")


@pytest.mark.parametrize(("module", "name"), [("pesq", "pesq"), ("pystoi", "stoi"), ("visqol", "visqol")])
def test_a_missing_extra_says_what_to_install(module: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    visqol._judge.cache_clear()
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"\.\[quality\]"):
        comparison(name)([(hum(1), hum(1))])


def test_a_missing_dnsmos_says_what_to_fetch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    dnsmos._network.cache_clear()
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path))
    tested: Any = listener("dnsmos")
    with pytest.raises(WeightsError, match="personare models fetch dnsmos"):
        tested([hum(1)])
    dnsmos._network.cache_clear()
