"""The paper's reconstruction loss: L1 distances of log-mel spectra at seven scales (kumar2023highfidelity, sec. 3.4).

L_f = sum over windows w of mean |log10 M_w(x) - log10 M_w(x')|, with hops of w / 4 and more bands for longer windows.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch

from personare.training.usc import grid

SCALES = ((32, 5), (64, 10), (128, 20), (256, 40), (512, 80), (1024, 160), (2048, 320))  # window, bands
_FLOOR = 1e-5


@cache
def _filters(window: int, bands: int, rate_hz: int) -> Any:
    return torch.from_numpy(grid.mel_filters(bands, window, rate_hz=rate_hz))


@cache
def _hann(window: int) -> Any:
    return torch.hann_window(window)


def log_mels(wave: Any, window: int, bands: int, *, rate_hz: int) -> Any:
    """log10 of mel magnitudes: [batch, samples] -> [batch, bands, frames]."""
    spectrum = torch.stft(wave, window, window // 4, window=_hann(window), center=True, return_complex=True)
    magnitude = (torch.view_as_real(spectrum).square().sum(-1) + _FLOOR * _FLOOR).sqrt()
    return (_filters(window, bands, rate_hz) @ magnitude).clamp_min(_FLOOR).log10()


def multi_scale_mel_loss(made: Any, true: Any, *, rate_hz: int) -> Any:
    """Distance of waves [batch, samples] at all scales that are shorter than they are."""
    total: Any = 0.0
    for window, bands in SCALES:
        if window < made.shape[-1]:
            a, b = (log_mels(x, window, bands, rate_hz=rate_hz) for x in (made, true))
            total = total + (a - b).abs().mean()
    return total
