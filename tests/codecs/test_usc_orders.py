"""What the trained codec must show on real speech: more levels keep more, C0 alone is harder to link (slow)."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import personare as pn
import personare.codecs.usc
from benchmark_modules import benchmark
from conftest import hum
from personare.codecs.usc.codec import Usc
from personare.core.audio import Audio

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = Path(personare.codecs.usc.__file__).parent / "shipped"
trained = pytest.mark.skipif(not SHIPPED.is_dir(), reason="the codec's weights are not shipped in this copy")


@pytest.fixture(scope="module")
def bench() -> Any:
    """benchmarks/codec.py, which is no package."""
    return benchmark("codec")


@trained
@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.models
def test_all_levels_are_easier_to_link_than_c0(bench: Any, shared_folder: Path, tmp_path: Path) -> None:
    bench.chosen(shared_folder / "corpus", tmp_path / "privacy", speakers=20, utterances=6)
    choice = bench.CodecChoice()
    systems = {bench.label(levels): choice.system(levels) for levels in (1, bench.ALL)}
    result = pn.run_study(bench.privacy_study(tmp_path / "privacy", systems), tmp_path / "run")
    c0, full = bench.label(1), bench.label(bench.ALL)
    for metric, attacker in (
        ("eer", bench.LAZY),
        ("eer", bench.IGNORANT),
        ("rank_link_p50", ""),
        ("rank_single_p50", ""),
    ):
        assert bench.value(result, metric, c0, attacker) > bench.value(result, metric, full, attacker), metric
    assert bench.value(result, "sim", c0) < bench.value(result, "sim", full)


@trained
@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.models
def test_more_levels_keep_more_of_the_sound_and_of_the_words(bench: Any, shared_folder: Path, tmp_path: Path) -> None:
    spoken = bench.chosen(shared_folder / "corpus", tmp_path / "words", speakers=6, utterances=3, only="librispeech")
    mels, _ = bench.sound(Usc(), spoken)
    assert mels[1] > mels[2] > mels[3] >= mels[bench.ALL] - 0.01
    choice = bench.CodecChoice()
    systems = {bench.label(levels): choice.system(levels) for levels in bench.FIDELITY}
    result = pn.run_study(bench.words_study(tmp_path / "words", systems, "moonshine"), tmp_path / "run")
    estoi = [bench.value(result, "estoi", bench.label(levels)) for levels in (1, 2, 3)]
    assert all(a < b for a, b in itertools.pairwise(estoi))
    assert bench.value(result, "wer", bench.label(bench.ALL)) < bench.value(result, "wer", bench.label(1))


@pytest.mark.slow
@pytest.mark.models
def test_ten_minutes_are_coded_and_come_back(tiny_codec: Path) -> None:
    minute = hum(1, duration_s=60.0, rate_hz=8_000)
    audio = Audio(np.tile(minute.samples, 10), 8_000)
    codec = Usc(weights=str(tiny_codec))
    tokens = codec.encode(audio)
    assert tokens.codes.shape == (15_000, 6)
    for levels in (1, 6):
        back = codec.decode(tokens.kept(levels), rng=np.random.default_rng(0))
        assert len(back.samples) == len(audio.samples) and np.isfinite(back.samples).all()


@trained
@pytest.mark.models
def test_the_shipped_codec_is_what_its_card_and_the_issue_say() -> None:
    codec = Usc()
    assert [codec.bit_rate(levels) for levels in (1, 6)] == [350, 1600]
    assert codec.code_counts == (16_384, *[1_024] * 5)
    assert codec.voices and sum(path.stat().st_size for path in SHIPPED.iterdir()) <= 25e6


@trained
@pytest.mark.models
@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 48_000])
def test_the_shipped_codec_takes_any_rate_short_sounds_and_silence(rate_hz: int) -> None:
    codec = Usc()
    for samples in (hum(1, duration_s=1.0, rate_hz=rate_hz).samples, hum(1, duration_s=0.1, rate_hz=rate_hz).samples,
                    np.zeros(rate_hz, np.float32)):  # fmt: skip
        one, two = (Usc(threads=threads).encode(Audio(samples, rate_hz)) for threads in (1, 2))
        assert np.array_equal(one.codes, two.codes)
        for levels in (1, 6):
            back = codec.decode(one.kept(levels), rng=np.random.default_rng(0))
            assert (len(back.samples), back.rate_hz) == (len(samples), rate_hz) and np.isfinite(back.samples).all()
