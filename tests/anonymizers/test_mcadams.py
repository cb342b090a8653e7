"""McAdams: against the paper's text frame by frame, closed forms, in blocks, and on the faults of public code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import solve_toeplitz
from scipy.signal import lfilter

from anonymizers.contract import hide, voice
from personare.anonymizers import anonymizer
from personare.anonymizers.signal.mcadams import PIVOT_HZ, McAdams
from personare.core.audio import Audio, read_mono
from personare.core.errors import ConfigError
from personare.core.seeding import Key, rng_for


def frame_by_frame(samples: NDArray[np.float32], *, alpha: float, radius: float = 1.0) -> NDArray[np.float64]:
    """B2 as section 3.1 of the VoicePrivacy 2020 paper tells it, at 16 kHz, without any levelling.

    20 ms frames every 10 ms, square-root Hann windows, LPC of order 20 by its normal equations, poles by np.roots,
    "real-valued poles are left unmodified", angles of the others raised to alpha, conjugates in the opposite direction.
    """
    length, hop, order = 320, 160, 20
    window = np.sqrt(0.5 - 0.5 * np.cos(2 * np.pi * np.arange(length) / length))
    x = np.concatenate([np.zeros(hop), samples.astype(np.float64), np.zeros(length)])
    y = np.zeros(len(x))
    for start in range(0, len(x) - length + 1, hop):
        frame = x[start : start + length] * window
        r = np.array([frame[: length - k] @ frame[k:] for k in range(order + 1)])
        if r[0] == 0:
            continue
        a = np.concatenate([[1.0], solve_toeplitz(r[:-1], -r[1:])])
        residual = lfilter(a, [1.0], frame)
        new = []
        for pole in np.roots(a):
            angle, distance = np.angle(pole), abs(pole) * radius
            if pole.imag > 0:
                angle = angle**alpha
            elif pole.imag < 0:
                angle = -((-angle) ** alpha)
            new.append(distance * np.exp(1j * angle))
        y[start : start + length] += window * lfilter([1.0], np.poly(new).real, residual)
    return y[hop : hop + len(samples)]


@pytest.mark.parametrize(("alpha", "radius"), [(0.8, 1.0), (0.5, 1.0), (0.9, 1.0), (0.8, 0.975)])
def test_agrees_with_the_papers_text_frame_by_frame(alpha: float, radius: float) -> None:
    audio = voice(2.0, peak=0.01)
    expected = frame_by_frame(audio.samples, alpha=alpha, radius=radius)
    found = hide(McAdams(alpha=alpha, radius=radius, match_level=False), audio)
    assert np.abs(expected).max() > 0.01
    assert np.abs(expected).max() < 1.0  # not limited
    assert np.abs(found - expected)[320:].max() < 1e-4 * np.abs(expected).max()


@pytest.mark.shared
@pytest.mark.parametrize("alpha", [0.8, 0.5])
def test_agrees_with_the_papers_text_on_real_speech(shared_folder: Path, alpha: float) -> None:
    for path in sorted((shared_folder / "corpus" / "audio").glob("*/*"))[:: 2502 // 4][:4]:
        audio = read_mono(path)
        audio = Audio(audio.samples[:48_000] * np.float32(0.002), audio.rate_hz)
        expected = frame_by_frame(audio.samples, alpha=alpha)
        found = hide(McAdams(alpha=alpha, match_level=False), audio)
        assert np.abs(expected).max() < 1.0
        assert np.abs(found - expected)[320:].max() < 1e-4 * np.abs(expected).max()


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 44_100])
def test_alpha_one_returns_the_input(rate_hz: int) -> None:
    audio = voice(1.0, rate_hz=rate_hz)
    assert np.abs(hide(McAdams(alpha=1.0), audio) - audio.samples).max() < 1e-6


def test_alpha_near_one_is_near_the_input() -> None:
    audio = voice(1.0)
    assert np.abs(hide(McAdams(alpha=1 - 1e-9), audio) - audio.samples).max() < 1e-5


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 48_000])
def test_a_resonance_moves_to_where_the_formula_says_at_any_rate(rate_hz: int) -> None:
    frequency, alpha = 700.0, 0.8
    pole = 0.98 * np.exp(2j * np.pi * frequency / rate_hz)
    noise = np.random.default_rng(4).normal(size=2 * rate_hz)
    sound = lfilter([1.0], np.poly([pole, pole.conjugate()]).real, noise)
    audio = Audio((0.1 * sound / np.abs(sound).max()).astype(np.float32), rate_hz)
    result = hide(McAdams(alpha=alpha, order=2), audio)
    power = np.abs(np.fft.rfft(result.reshape(-1, rate_hz // 20), axis=1)) ** 2
    peak_hz = float(np.argmax(power.mean(axis=0))) * 20
    assert abs(peak_hz - PIVOT_HZ * (frequency / PIVOT_HZ) ** alpha) < 60


def test_the_first_ten_milliseconds_are_like_any_other() -> None:
    audio = Audio(voice(1.0).samples[1600:].copy(), 16_000)
    delayed = Audio(np.concatenate([np.zeros(1600, dtype=np.float32), audio.samples]), 16_000)
    assert np.abs(hide(McAdams(), audio) - hide(McAdams(), delayed)[1600:]).max() < 1e-6


def test_speakers_get_voices_of_their_own_and_runs_differ() -> None:
    method, audio = McAdams(alpha=(0.5, 0.9)), voice(0.5)
    one, two = Key.from_seed(1), Key.from_seed(2)
    anna = method(audio, rng=rng_for(one, "anna")).samples
    assert np.array_equal(anna, method(audio, rng=rng_for(one, "anna")).samples)
    assert not np.array_equal(anna, method(audio, rng=rng_for(one, "bela")).samples)
    assert not np.array_equal(anna, method(audio, rng=rng_for(two, "anna")).samples)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"alhpa": 0.8}, "did you mean 'alpha'"),
        ({"alpha": 0.0}, "alpha must lie between 0.1 and 2, not 0.0"),
        ({"alpha": (0.9, 0.5)}, "from low to high"),
        ({"alpha": "high"}, "alpha: expected a number"),
        ({"radius": 1.5}, "radius must lie between"),
        ({"order": 1}, "order must lie between 2 and 100, not 1"),
        ({"window_ms": float("nan")}, "window_ms must lie"),
    ],
)
def test_wrong_parameters_are_one_clear_line(setting: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        anonymizer("mcadams", **setting)
