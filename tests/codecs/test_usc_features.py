"""What the small codec measures, and the sound it makes; C0 is not given how high or how loud somebody speaks."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import hum
from personare.codecs.usc import features, sound
from personare.training.usc import grid


@pytest.mark.models
def test_measurements_have_one_row_per_token_frame() -> None:
    found = features.measure(hum(0, duration_s=1.01).samples)
    shapes = [found.content.shape, found.prosody.shape, found.mels.shape, found.absolute.shape]
    assert shapes == [(26, 576), (26, 12), (26, 320), (26, 8)]
    assert found.octaves.shape == found.voiced.shape == (130,)


@pytest.mark.models
def test_prosody_for_c0_is_relative_and_that_for_the_other_levels_absolute() -> None:
    low, high = (features.measure(hum(1, f0_hz=f0_hz, duration_s=1.5).samples) for f0_hz in (110.0, 220.0))
    for found in (low, high):
        relative = found.prosody[:, 0::3][found.prosody[:, 1::3] > 0.5]
        assert abs(float(np.median(relative))) < 0.02
    apart = np.median(high.octaves[high.voiced]) - np.median(low.octaves[low.voiced])
    assert float(apart) == pytest.approx(1.0, abs=0.03)


@pytest.mark.models
def test_content_has_mean_0_and_spread_1_over_the_utterance() -> None:
    frames = features.content_frames(hum(2, duration_s=2.0).samples)
    assert np.abs(frames.mean(axis=0)).max() < 1e-3
    assert frames.std(axis=0) == pytest.approx(np.ones(288), abs=1e-2)


@pytest.mark.models
def test_energy_of_silence_is_low_and_of_the_loudest_part_0_db() -> None:
    samples = hum(3, duration_s=2.0).samples.copy()
    samples *= np.float32(features.level_gain(samples))
    samples[16_000:] = 0.0
    energy_db = features.energy_db(samples)
    assert energy_db[110:].max() == -60.0
    assert np.quantile(energy_db, 0.95) == pytest.approx(0, abs=0.01)
    assert features.energy_db(np.zeros(16_000, np.float32)).max() == -60.0


def test_content_frames_are_laid_on_the_time_they_were_heard_at() -> None:
    ramp = np.repeat((448 + 384 * np.arange(60, dtype=np.float32))[:, None], 288, axis=1)  # each frame tells its sample
    laid = features.laid(ramp, 20).reshape(40, 288)[:, 0]
    assert laid[2:] == pytest.approx(320 * np.arange(2, 40) + 160, abs=0.01)
    faster = features.laid(ramp, 20, speed=1.25).reshape(40, 288)[:, 0]
    assert faster[4:] == pytest.approx((320 * np.arange(4, 40) + 160) / 1.25, abs=0.01)


def test_synthesis_gives_the_f0_and_the_level_that_were_asked_for() -> None:
    bands = np.full((125, grid.BANDS), -12.0, np.float32)
    bands[:, : grid.HARMONIC_BANDS] = -3.0
    for f0_hz in (100.0, 250.0):
        octaves = np.full(125, np.log2(f0_hz / grid.MIDDLE_HZ), np.float32)
        made = sound.synthesize(bands, octaves, rng=np.random.default_rng(0))
        assert len(made) == 125 * 128
        middle = made[2000:-2000].astype(np.float64)
        correlation = np.correlate(middle, middle, "full")[len(middle) - 1 :]
        lag = 40 + int(correlation[40:250].argmax())
        assert 16_000 / lag == pytest.approx(f0_hz, rel=0.02)
        # pulses have power 1 at any F0: the filter's strength is the sound's
        assert np.log(np.sqrt(np.mean(np.square(middle)))) == pytest.approx(-3.0, abs=0.1)


def test_noise_alone_has_its_level_and_follows_the_rng() -> None:
    bands = np.full((125, grid.BANDS), -20.0, np.float32)
    bands[:, grid.HARMONIC_BANDS :] = -2.0
    octaves = np.zeros(125, np.float32)
    one, same, other = (sound.synthesize(bands, octaves, rng=np.random.default_rng(seed)) for seed in (0, 0, 1))
    assert np.array_equal(one, same) and not np.array_equal(one, other)
    assert np.log(one[2000:-2000].std()) == pytest.approx(-2.0, abs=0.1)


def test_a_long_sound_is_shaped_in_pieces_without_a_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    bands = rng.normal(-3, 0.3, (90, grid.BANDS)).astype(np.float32)
    octaves = rng.normal(0, 0.1, 90).astype(np.float32)
    whole = sound.synthesize(bands, octaves, rng=np.random.default_rng(1))
    monkeypatch.setattr(sound, "_PIECE", 17)
    assert sound.synthesize(bands, octaves, rng=np.random.default_rng(1)) == pytest.approx(whole, abs=1e-5)
