"""No edge in the long-term spectrum tells by how much world has warped a voice; a whole band warped down told it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.signal import firwin, lfilter

from personare.anonymizers.signal.band_limit import band_limit_hz
from personare.anonymizers.signal.drift import BLOCK_FRAMES, draw_drift
from personare.anonymizers.signal.formants import _formant_shift
from personare.anonymizers.signal.phrases import FRAMES_PER_S
from personare.anonymizers.signal.vocoder import WorldParameters, resynthesize, warp_frequencies
from personare.anonymizers.signal.world import WorldWarp, stretched
from personare.core.audio import Audio

RATE_HZ = 16_000
FACTORS = np.geomspace(0.8, 0.9, 9)


def speech(seed: int) -> Audio:
    """A second of pulses and hiss through resonances up to the end of the band, another tract for every seed."""
    rng = np.random.default_rng(seed)
    count, tract = RATE_HZ, rng.uniform(0.9, 1.1)
    f0 = rng.uniform(100, 200) * (1 + 0.1 * np.sin(2 * np.pi * 2 * np.arange(count) / RATE_HZ))
    pulses = np.diff(np.floor(np.cumsum(f0) / RATE_HZ), prepend=0.0)
    sound = pulses + 0.05 * rng.normal(size=count)
    for n in range(8):
        pole = np.exp((-np.pi * (90 + 40 * n) + 2j * np.pi * min(7900.0, tract * (500 + 1000 * n))) / RATE_HZ)
        sound = lfilter([1.0], np.poly([pole, pole.conjugate()]).real, sound)
    sound = lfilter([1.0, -0.9], [1.0], sound)
    return Audio((0.3 * sound / np.abs(sound).max()).astype(np.float32), RATE_HZ)


def warped_as_a_whole(audio: Audio, factor: float) -> Audio:
    """What version 1 did: what lies above the end of the band shows its last frequency."""
    return resynthesize(audio, lambda part: warp_frequencies(part, part.frequencies_hz / factor))


def warped_now(audio: Audio, factor: float, seed: int) -> Audio:
    method = WorldWarp(warp=float(factor), either_way=False, f0_hz=150.0, f0_spread=1.0, aperiodicity=1.0)
    return method(audio, rng=np.random.default_rng(seed))


def edge_hz(audio: Audio) -> float:
    """Attack: where a flat top begins, the place from which on the long-term spectrum stays within 1 dB of its end."""
    frames = np.lib.stride_tricks.sliding_window_view(audio.samples.astype(np.float64), 640)[::160] * np.hanning(640)
    power = (np.abs(np.fft.rfft(frames, axis=1)) ** 2).mean(axis=0)[:320].reshape(-1, 2).mean(axis=1)
    level = 10 * np.log10(power + 1e-12)
    smooth = np.convolve(np.pad(level, (2, 1), mode="edge"), np.ones(4) / 4, "valid")[:-2]  # steps of 50 Hz
    off = np.flatnonzero(np.abs(smooth - np.median(smooth[-6:])) > 1.0)
    return float(off[-1] + 1) * 50.0


def test_the_edge_told_the_factor_and_does_not_now() -> None:
    voices = [speech(seed) for seed in range(len(FACTORS))]
    before = [warped_as_a_whole(one, factor) for one, factor in zip(voices, FACTORS, strict=True)]
    after = [warped_now(one, factor, seed) for seed, (one, factor) in enumerate(zip(voices, FACTORS, strict=True))]
    chance = 0.67  # the correlation that one of twenty sets of nine pairs at random reaches, either way
    told, tells = (np.array([edge_hz(one) for one in hidden]) for hidden in (before, after))
    assert np.corrcoef(told, FACTORS)[0, 1] > 0.9
    assert np.median(np.abs(told / 8000 - FACTORS)) < 0.02  # the factor itself, for most within 2 %
    assert abs(np.corrcoef(tells, FACTORS)[0, 1]) < chance
    assert np.abs(tells / 8000 - FACTORS).min() > 0.03


def test_the_end_of_the_band_stays_in_its_place() -> None:
    frequencies = np.linspace(0, 8000, 513)
    for factor in (0.8, 1.0, 1.25):
        shown = stretched(frequencies, factor, knee_hz=5600.0, limit_hz=7000.0)
        assert (np.diff(shown) > 0).all()
        assert np.allclose(shown[frequencies < 4000], frequencies[frequencies < 4000] / factor)
        assert np.allclose(shown[frequencies >= 7000], frequencies[frequencies >= 7000])


def test_formants_leave_the_end_of_the_band_in_its_place_and_show_nothing_of_the_resampling() -> None:
    frequencies = np.linspace(0, 8000, 513)
    own, aimed = np.array([500.0, 1500.0, 2500.0]), np.array([550.0, 1600.0, 2700.0])
    for speed in (0.85, 1.15):
        shown = _formant_shift(frequencies, own, aimed, speed, limit_hz=8000.0)
        assert shown[-1] <= 0.9 * 8000 * min(1.0, speed) + 1e-6
        assert (np.diff(shown) > 0).all()
        telephone = _formant_shift(frequencies, own, aimed, speed, limit_hz=3500.0)
        assert abs(np.interp(3500.0, frequencies, telephone) - 3500 * speed) < 20  # where resampling put its end


@pytest.mark.parametrize("limit_hz", [3400.0, 6500.0])
def test_a_cliff_is_found_and_speech_without_one_fills_the_band(limit_hz: float) -> None:
    whole = speech(3)
    assert band_limit_hz(whole) == 8000.0
    cut = lfilter(firwin(401, limit_hz, fs=RATE_HZ), [1.0], whole.samples)
    assert abs(band_limit_hz(Audio(cut.astype(np.float32), RATE_HZ)) - limit_hz) <= 200
    assert band_limit_hz(Audio(np.zeros(10, np.float32), RATE_HZ)) == 8000.0


def test_drift_stays_within_its_bound_moves_and_is_the_same_in_pieces() -> None:
    drift = draw_drift(0.04, duration_s=20.0, rng=np.random.default_rng(1), factors=3)
    factors = np.array([drift.at(t) for t in np.arange(0, 20, 0.05)])
    assert np.abs(np.log(factors)).max() <= np.log(1.04)
    assert (factors.std(axis=0) > 0.01).all()
    assert np.abs(np.diff(np.log(factors), axis=0)).max() < 0.01  # no jump that could be heard

    def parameters(first: int, count: int) -> WorldParameters:
        rows = np.ones((count, 5))
        return WorldParameters(np.zeros(count), rows, rows, np.arange(count), RATE_HZ, first)

    def change(part: WorldParameters, now: NDArray[np.float64]) -> WorldParameters:
        return WorldParameters(part.f0_hz, part.envelope * now[0], part.aperiodicity, part.source_frames, part.rate_hz)

    whole = drift.apply(parameters(0, 600), change).envelope
    pieces = [drift.apply(parameters(first, last - first), change).envelope for first, last in ((0, 333), (333, 600))]
    assert np.array_equal(np.concatenate(pieces), whole)
    assert len(np.unique(whole[: 10 * FRAMES_PER_S // BLOCK_FRAMES])) > 5


def test_no_drift_is_one_factor() -> None:
    drift = draw_drift(0.0, duration_s=20.0, rng=np.random.default_rng(1))
    assert drift.at(7.3).tolist() == [1.0]
