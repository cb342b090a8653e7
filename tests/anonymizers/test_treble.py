"""Treble above 8 kHz: there in an s, hardly in a vowel, not in silence; and nothing else of the sound changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import signal

from anonymizers.bs1770 import loudness
from anonymizers.contract import hide, sound_for
from personare.anonymizers import anonymizer
from personare.anonymizers.neural.xvector import treble
from personare.anonymizers.neural.xvector.weights import shipped_folder
from personare.core.audio import Audio, resample
from personare.core.errors import WeightsError
from personare.core.fingerprint import models_of
from personare.corpora.voices.reading_aloud import READERS, read_aloud
from personare.corpora.voices.text import sentences

METHODS: dict[str, dict[str, object]] = {"cascade": {"language": "en"}, "xvector": {"energy": "predicted"}}
NARROW_HZ = 16_000
HELD_OUT = 121  # of our sentences, the first 120 are fitted


def noise(seconds: float, *, band_hz: tuple[float, float]) -> Audio:
    """Make noise in a band with gentle slopes, at 16 kHz."""
    white = np.random.default_rng(0).normal(size=round(seconds * NARROW_HZ))
    sound = signal.sosfilt(signal.butter(2, band_hz, "bandpass", fs=NARROW_HZ, output="sos"), white)
    return Audio((0.1 * sound).astype(np.float32), NARROW_HZ)


def with_treble(sound: Audio, rate_hz: int, seed: int = 1) -> NDArray[np.float32]:
    return treble.add_treble(sound, rate_hz, rng=np.random.default_rng(seed)).samples


def band_db(samples: NDArray[np.float32], rate_hz: int, band_hz: tuple[float, float]) -> float:
    frequencies, power = signal.welch(samples.astype(np.float64), rate_hz, nperseg=min(1024, len(samples)))
    inside = (frequencies >= band_hz[0]) & (frequencies <= band_hz[1])
    return float(10 * np.log10(power[inside].sum() * frequencies[1] + 1e-20))


@pytest.mark.parametrize("rate_hz", [24_000, 44_100, 48_000])
@pytest.mark.parametrize("count", [1, 95, 96, 97, 5_000, 16_000])
def test_the_length_is_that_of_resampling(rate_hz: int, count: int) -> None:
    sound = Audio(noise(1.0, band_hz=(4000, 7500)).samples[:count], NARROW_HZ)
    result = with_treble(sound, rate_hz)
    assert len(result) == len(resample(sound, rate_hz).samples)
    assert np.isfinite(result).all()


@pytest.mark.parametrize("rate_hz", [24_000, 44_100, 48_000])
def test_hissing_gets_treble_and_humming_hardly_any(rate_hz: int) -> None:
    """Loud humming and then soft hissing, as a vowel and an s."""
    hum, hiss = noise(0.3, band_hz=(100, 1000)).samples, noise(0.3, band_hz=(4000, 7500)).samples / 10
    both = with_treble(Audio(np.concatenate([hum, hiss]), NARROW_HZ), rate_hz)
    above = []
    for first_s in (0.05, 0.35):
        middle = both[round(first_s * rate_hz) : round((first_s + 0.2) * rate_hz)]
        above.append(band_db(middle, rate_hz, (8200, 11_000)) - band_db(middle, rate_hz, (100, 7500)))
    assert above[0] < -35
    assert above[1] > above[0] + 20  # how much an s has of it is asked of speech, below


@pytest.mark.parametrize("rate_hz", [24_000, 48_000])
def test_what_is_added_lies_between_8_and_12_khz(rate_hz: int) -> None:
    sound = noise(2.0, band_hz=(3000, 7500))
    plain = resample(sound, rate_hz).samples
    added = with_treble(sound, rate_hz) - plain
    assert band_db(added, rate_hz, (0, 7900)) < band_db(plain, rate_hz, (0, 7900)) - 40
    if rate_hz > 24_000:
        assert band_db(added, rate_hz, (12_100, rate_hz / 2)) < band_db(added, rate_hz, (8000, 12_000)) - 40


def test_the_same_key_gives_the_same_samples() -> None:
    sound = noise(0.5, band_hz=(3000, 7500))
    assert np.array_equal(with_treble(sound, 48_000), with_treble(sound, 48_000))
    assert not np.array_equal(with_treble(sound, 48_000), with_treble(sound, 48_000, seed=2))


def test_silence_stays_silent() -> None:
    assert not with_treble(Audio(np.zeros(16_000, np.float32), NARROW_HZ), 48_000).any()
    assert not len(with_treble(Audio(np.zeros(0, np.float32), NARROW_HZ), 48_000))
    loud = noise(0.5, band_hz=(3000, 7500)).samples
    between = with_treble(Audio(np.concatenate([loud, np.zeros(8000, np.float32), loud]), NARROW_HZ), 24_000)
    assert np.abs(between[12_000 + 1200 : 24_000 - 1200]).max() < 1e-6


@pytest.mark.parametrize("gain", [1e-3, 0.1, 8.0])
def test_law_loud_and_soft_sound_get_the_same_treble(gain: float) -> None:
    sound = noise(0.5, band_hz=(1000, 7500))
    louder = with_treble(Audio(sound.samples * np.float32(gain), NARROW_HZ), 24_000)
    np.testing.assert_allclose(louder, with_treble(sound, 24_000) * gain, atol=gain * 1e-4)


def test_closed_form_noise_has_the_levels_it_is_given() -> None:
    levels = np.tile(np.log(np.array([0.01, 0.04, 0.01, 0.04, 0.01, 0.04], np.float32)), (4000, 1))
    made = treble.treble_noise(levels, np.full(4000, 0.25, np.float32), rng=np.random.default_rng(0))
    powers = treble.treble_powers(made).mean(axis=0)
    assert (powers[[1, 3]] > 1.5 * powers[[2, 4]]).all()
    flat = treble.treble_noise(levels * 0, np.full(4000, 0.25, np.float32), rng=np.random.default_rng(0))
    np.testing.assert_allclose(treble.treble_powers(flat).mean(axis=0)[1:], 0.25, rtol=0.05)


def test_long_sound_is_made_in_blocks_that_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = noise(1.0, band_hz=(2000, 7500))
    whole = with_treble(sound, 24_000)
    monkeypatch.setattr(treble, "_BLOCK", 7)
    np.testing.assert_allclose(with_treble(sound, 24_000), whole, atol=1e-6)


def test_the_shipped_map_is_small_and_part_of_the_fingerprint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    content = (shipped_folder() / treble.FILE).read_bytes()
    assert len(content) < 200_000
    assert models_of(anonymizer("xvector"))[f"shipped/{treble.FILE}"] == treble.SHA256
    (tmp_path / treble.FILE).write_bytes(content[:-1])
    monkeypatch.setattr(treble, "shipped_folder", lambda: tmp_path)
    with pytest.raises(WeightsError, match="not the treble that the neural voice is shipped with"):
        treble.shipped_map.__wrapped__()


def test_a_map_that_does_not_fit_is_one_line(tmp_path: Path) -> None:
    arrays = dict(np.load(shipped_folder() / treble.FILE))
    np.savez(tmp_path / "cut.npz", **{**arrays, "mean": arrays["mean"][:-1]})
    np.savez(tmp_path / "less.npz", **{name: one for name, one in arrays.items() if name != "output"})
    (tmp_path / "none.npz").write_bytes(b"nothing")
    for name, wrong in (("cut", r"mean is float32 \(266,\)"), ("less", "KeyError"), ("none", "ValueError")):
        with pytest.raises(WeightsError, match=wrong) as refused:
            treble.read_map((tmp_path / f"{name}.npz").read_bytes(), where=name)
        assert "\n" not in str(refused.value)


@pytest.mark.models
@pytest.mark.parametrize("rate_hz", [24_000, 48_000])
def test_an_s_gets_treble_and_a_vowel_hardly_any(rate_hz: int) -> None:
    """A sentence and a voice that were not fitted, cut to 16 kHz: the treble it is given is where its own was."""
    spoken, _ = read_aloud(sentences()[HELD_OUT].american, reader=READERS.index("af_sarah"), rate_hz=24_000)
    power = treble.treble_powers(spoken.samples).sum(axis=1)
    below = treble.low_levels(resample(spoken, NARROW_HZ).samples)[1]
    frame_s, guessed = 0.006, with_treble(resample(spoken, NARROW_HZ), rate_hz)
    level = {}
    for name, frame in (("s", power.argmax()), ("vowel", below.argmax())):
        middle = guessed[round((frame - 2) * frame_s * rate_hz) : round((frame + 3) * frame_s * rate_hz)]
        level[name] = band_db(middle, rate_hz, (8200, 11_000)) - band_db(middle, rate_hz, (100, 7500))
    assert level["s"] > -6
    assert level["vowel"] < -20


@pytest.mark.models
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 22_050])
def test_below_24_khz_nothing_changes(rate_hz: int, name: str) -> None:
    audio = sound_for(anonymizer(name), 1.0, rate_hz=rate_hz)
    with_it, without = (hide(anonymizer(name, treble=choice, **METHODS[name]), audio) for choice in (True, False))
    assert np.array_equal(with_it, without)


@pytest.mark.models
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("rate_hz", [24_000, 44_100])
def test_speech_gets_treble_and_keeps_all_below(rate_hz: int, name: str) -> None:
    method = anonymizer(name, **METHODS[name])
    audio = sound_for(anonymizer("cascade"), 3.0, rate_hz=rate_hz)
    with_it, without = (hide(anonymizer(name, treble=choice, **METHODS[name]), audio) for choice in (True, False))
    assert len(with_it) == len(without)
    assert band_db(with_it - without, rate_hz, (0, 7900)) < band_db(without, rate_hz, (0, 7900)) - 40
    assert band_db(with_it, rate_hz, (8200, 11_000)) > band_db(without, rate_hz, (8200, 11_000)) + 20
    assert np.array_equal(with_it, hide(method, audio))
    assert abs(loudness(with_it, rate_hz) - (-23.0)) < 1.0
    assert np.abs(with_it).max() <= 1.0
