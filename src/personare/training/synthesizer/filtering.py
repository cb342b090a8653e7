"""The source-filter model of the neural synthesizer in torch, so that gradients of the sound reach the network.

The same arithmetic as ``core.bands``, for whole batches: a test holds the two against each other.
"""

from __future__ import annotations

from typing import Any

from personare.core import bands
from personare.training.torch_extra import torch_for


def synthesize(harmonic: Any, noise: Any, logs: Any) -> Any:
    """Filter sources [batch, 96 frames] by log levels [batch, frames, 120]: samples [batch, 96 frames]."""
    torch = torch_for("the synthesizer's sound")
    split = bands.HARMONIC_BANDS
    tonal, hiss = logs[..., :split], logs[..., split:]
    loud = (tonal @ torch.from_numpy(bands.mel_interpolation(split))).exp()
    phase = tonal @ torch.from_numpy(bands.minimum_phase(split))
    spectrum = _transformed(harmonic) * torch.polar(loud, phase)
    spectrum = (
        spectrum + _transformed(noise) * (hiss @ torch.from_numpy(bands.mel_interpolation(bands.NOISE_BANDS))).exp()
    )
    return _added(torch.fft.irfft(spectrum, bands.TRANSFORM, dim=2))


def _transformed(source: Any) -> Any:
    torch = torch_for("the synthesizer's sound")
    front, margin = (bands.WINDOW - bands.HOP) // 2, (bands.TRANSFORM - bands.WINDOW) // 2
    views = torch.nn.functional.pad(source, (front, front)).unfold(1, bands.WINDOW, bands.HOP)
    framed = torch.nn.functional.pad(views * torch.from_numpy(bands.window()), (margin, margin))
    return torch.fft.rfft(framed, dim=2)


def _added(parts: Any) -> Any:
    """Add overlapping frames [batch, frames, 768] to samples [batch, 96 frames]."""
    torch = torch_for("the synthesizer's sound")
    overlaps, frames = bands.TRANSFORM // bands.HOP, parts.shape[1]
    total = sum(
        torch.nn.functional.pad(parts[..., k * bands.HOP : (k + 1) * bands.HOP], (0, 0, k, overlaps - 1 - k))
        for k in range(overlaps)
    )
    return bands.trim(total.reshape(len(parts), -1).T, frames).T
