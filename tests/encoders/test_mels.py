"""Mel frames: pure tones land where the scales say, and the details the embedders were trained with hold."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from conftest import hum
from personare.encoders import mels


def _tone(hz: float, n: int = 16000) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return (0.5 * np.sin(2 * np.pi * hz * np.arange(n) / 16000)).astype(np.float32)


@pytest.mark.parametrize("n", [1, 159, 160, 161, 16000])
def test_one_frame_every_10_ms_the_first_on_the_start(n: int) -> None:
    assert mels.decibel_mels(np.ones(n, np.float32)).shape == (80, mels.frame_count(n))
    assert mels.power_mels(np.ones(n, np.float32)).shape == (mels.frame_count(n), 40)


@pytest.mark.parametrize("hz", [300.0, 1000.0, 3000.0])
def test_a_tone_lands_on_its_mel(hz: float) -> None:
    """2595 log10(1 + f / 700), 80 centres between 0 and 8 kHz."""
    top = 2595 * np.log10(1 + 8000 / 700)
    nearest = 2595 * np.log10(1 + hz / 700) / top * 81 - 1
    frame = mels._filtered(_tone(hz), mels._hamming(), mels._slope_filters(80))[50]
    assert abs(int(frame.argmax()) - nearest) <= 1


def test_slaneys_scale_is_linear_below_1_khz() -> None:
    """15 mels at 1 kHz, then 27 steps for every factor 6.4; 40 centres up to 8 kHz = 45.245 mels."""
    filters = mels._slaney_filters(40)
    bins_hz = np.linspace(0, 8000, 201)
    centre = (bins_hz[:, None] * filters).sum(0) / filters.sum(0)
    expected = 200 / 3 * 45.2456 / 41 * np.arange(1, 13)
    np.testing.assert_allclose(centre[:12], expected, rtol=0.15, atol=20)
    # equal areas: the sum over bins times their width is 1 for every filter
    np.testing.assert_allclose(filters[:, 20:].sum(0) * 40, 1.0, atol=0.1)


def test_decibels_span_80_and_have_no_mean() -> None:
    sound = np.concatenate([hum(1).samples, np.zeros(8000, np.float32)])
    found = mels.decibel_mels(sound)
    np.testing.assert_allclose(found.mean(axis=1), 0, atol=1e-3)
    raw = 10 * np.log10(np.maximum(mels._filtered(sound, mels._hamming(), mels._slope_filters(80)), 1e-10))
    clipped = np.maximum(raw, raw.max() - 80)
    np.testing.assert_allclose(found, (clipped - clipped.mean(0)).T, atol=1e-3)


def test_loudness_does_not_matter_above_the_floor() -> None:
    sound = hum(2).samples
    loud: NDArray[np.float32] = mels.decibel_mels(sound)
    np.testing.assert_allclose(loud, mels.decibel_mels(sound * np.float32(0.25)), atol=1e-2)


def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = hum(3).samples
    whole = mels.power_mels(sound)
    monkeypatch.setattr(mels, "_BLOCK_FRAMES", 7)
    np.testing.assert_allclose(mels.power_mels(sound), whole, rtol=1e-5)
