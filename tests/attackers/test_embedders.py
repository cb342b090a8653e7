"""What every pretrained embedder must pass: the same vector in any batch, at any rate, for any length."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from conftest import hum
from personare.attackers import embedder
from personare.core.audio import Audio, resample
from personare.core.errors import AudioError, ConfigError, WeightsError
from personare.core.protocols import Embedder
from personare.core.vectors import cosine
from personare.encoders import swift

pytestmark = pytest.mark.models

SIZES = {
    "ecapa": 192,
    "ge2e": 256,
    "wespeaker": 256,
    "wakehubert": 256,
    "energy": 45,
    "rhythm": 26,
    "f0": 23,
    "spectrum": 121,
    "phrases": 78,
    "durations": 15,
    "symbols": 53,
    "ecapa+energy": 237,
}
PREFIXES = {
    "ecapa": "ecapa-0575cb64845e6b9a-",
    "ge2e": "ge2e-39373b86598fa3da-",
    "wespeaker": "wespeaker-5ef208a9da145333-",
    "wakehubert": "wakehubert-7c08cdb068f16bee-",
    "f0": "statistics-f0-6385e8c2ebc3872e-",
    "phrases": "statistics-phrases-6385e8c2ebc3872e-",
    "symbols": "statistics-symbols-6385e8c2ebc3872e-",
    "ecapa+energy": "fused-",
}
NEEDS = {"f0": "swift-f0", "phrases": "swift-f0", "symbols": "swift-f0", "ecapa+energy": "ecapa"}
WITHOUT_MODEL = ("energy", "rhythm", "spectrum", "durations")
STATISTICS = (*WITHOUT_MODEL, "f0", "phrases", "symbols")
COARSE = ("durations", "symbols")  # sounds may have the same vector: without words, or with the same few symbols


@pytest.fixture(params=sorted(SIZES))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def tested(name: str) -> Embedder:
    return embedder(name)


def _alike(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    return float(cosine(a[None], b[None])[0, 0])


def test_it_is_an_embedder_whose_fingerprint_names_the_weights(name: str, tested: Embedder) -> None:
    assert isinstance(tested, Embedder)
    assert tested.fingerprint.startswith(PREFIXES.get(name, f"statistics-{name}-"))


def test_a_vector_does_not_depend_on_its_batch(name: str, tested: Embedder) -> None:
    sounds = [hum(1, duration_s=0.6), hum(2, duration_s=2.0), hum(3, duration_s=0.6), hum(4, duration_s=0.6)]
    together = tested(sounds)
    assert together.shape == (4, SIZES[name])
    assert together.dtype == np.float32
    alone = np.concatenate([tested([sound]) for sound in sounds])
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(tested(sounds[::-1])[::-1], together)


def test_no_sounds_give_no_vectors(name: str, tested: Embedder) -> None:
    assert tested([]).shape == (0, SIZES[name])


def test_different_sounds_give_different_vectors(name: str, tested: Embedder) -> None:
    one, other = tested([hum(1, f0_hz=90), hum(2, f0_hz=220)])
    if name in COARSE:
        assert one.shape == other.shape
    elif name in STATISTICS:  # both sounds have the same rhythm and much the same level: they need not be far apart
        assert not np.array_equal(one, other)
    else:
        assert _alike(one, other) < 0.95


@pytest.mark.parametrize("rate_hz", [8000, 22050, 48000])
def test_any_rate(tested: Embedder, rate_hz: int) -> None:
    sound = hum(5, duration_s=1.5)
    there_and_back = resample(resample(sound, rate_hz), 16000)
    direct = tested([resample(sound, rate_hz)])[0]
    assert _alike(direct, tested([there_and_back])[0]) > 0.999


@pytest.mark.parametrize("samples", [1, 2, 399, 641, 800])
@pytest.mark.parametrize("rate_hz", [8000, 16000, 96000])
def test_very_short_sounds_give_a_finite_vector(tested: Embedder, samples: int, rate_hz: int) -> None:
    assert np.isfinite(tested([Audio(np.full(samples, 0.1, np.float32), rate_hz)])).all()


def test_silence_gives_a_finite_vector(tested: Embedder) -> None:
    assert np.isfinite(tested([Audio(np.zeros(16000, np.float32), 16000)])).all()


def test_the_input_is_left_alone(tested: Embedder) -> None:
    sound = hum(4)
    before = sound.samples.copy()
    tested([sound])
    np.testing.assert_array_equal(sound.samples, before)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_nothing_are_refused(tested: Embedder, bad: float) -> None:
    samples = hum(1).samples.copy()
    samples[5] = bad
    with pytest.raises(AudioError, match="NaN"):
        tested([Audio(samples, 16000)])
    with pytest.raises(AudioError, match="without samples"):
        tested([Audio(np.zeros(0, np.float32), 16000)])


@pytest.mark.parametrize("name", [name for name in SIZES if name not in STATISTICS and "+" not in name])
def test_wrong_parameters(name: str) -> None:
    with pytest.raises(ConfigError, match="threads must be at least 1"):
        embedder(name, threads=0)
    with pytest.raises(ConfigError, match="did you mean 'threads'"):
        embedder(name, thread=2)


@pytest.mark.parametrize("name", [name for name in SIZES if name not in WITHOUT_MODEL])
def test_missing_weights_are_one_line(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    swift._model.cache_clear()
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path))
    with pytest.raises(WeightsError, match=f"personare models fetch {NEEDS.get(name, name)}"):
        embedder(name)([hum(1)])
