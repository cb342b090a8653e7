"""How far the small codec's sound is from the true one, without making a sound while training.

The power of pulses at the true F0, shaped by the harmonic bands, plus that of noise shaped by the noise bands, is
compared with the power of the speech: |ln M - ln M'| of mel bands (nepers), and 3 |P^(1/8) - P'^(1/8)| per bin. F0 and
voicing are compared with the tracker's. Content is distilled by the DistilHuBERT loss (chang2022distilhubert, eq. 1).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import nn

from personare.training.usc import grid

POWER_FLOOR = 1e-6
_NOISE_POWER = 0.375 * grid.WINDOW  # what white noise of power 1 has under a Hann window


@cache
def _interpolation(bands: int) -> Any:
    return torch.from_numpy(grid.interpolation(bands, grid.WINDOW))


@cache
def _mel_filters() -> Any:
    return torch.from_numpy(grid.mel_filters(grid.N_MELS, grid.WINDOW).T.copy())


def predicted_log_power(bands: Any, pulse_log_power: Any) -> Any:
    """Log-power per bin of shaped pulses plus shaped noise: bands [..., 120], pulses [..., 257] -> [..., 257]."""
    harmonic = bands[..., : grid.HARMONIC_BANDS] @ _interpolation(grid.HARMONIC_BANDS)
    noise = bands[..., grid.HARMONIC_BANDS : grid.BANDS] @ _interpolation(grid.NOISE_BANDS)
    floor = torch.log(torch.tensor(_NOISE_POWER))
    return torch.logaddexp(pulse_log_power + 2 * harmonic, floor + 2 * noise)


def mel_distance(log_power: Any, true_log_power: Any) -> Any:
    """Mean over bands of |ln M - ln M'| in nepers: [..., 257] twice -> [...]."""
    filters = _mel_filters()
    made, true = ((x.exp() @ filters + POWER_FLOOR).log() for x in (log_power, true_log_power))
    return 0.5 * (made - true).abs().mean(-1)


def compressed_distance(log_power: Any, true_log_power: Any) -> Any:
    """Mean over bins of |P^(1/8) - P'^(1/8)|: [..., 257] twice -> [...]."""
    return ((log_power / 8).exp() - (true_log_power / 8).exp()).abs().mean(-1)


def f0_distance(octaves: Any, true_octaves: Any, voiced: Any) -> Any:
    """Mean distance in octaves over voiced frames."""
    weight = voiced.to(octaves.dtype)
    return ((octaves - true_octaves).abs() * weight).sum() / weight.sum().clamp_min(1.0)


def voicing_loss(logits: Any, voiced: Any) -> Any:
    """Cross-entropy of voiced and unvoiced."""
    return nn.functional.binary_cross_entropy_with_logits(logits, voiced.to(logits.dtype))


def distillation_loss(student: Any, teacher: Any, *, cosine_weight: float = 1.0) -> Any:
    """L1 distance minus the log of the sigmoid of the cosine, mean over frames: [batch, frames, d] twice."""
    cosine = nn.functional.cosine_similarity(student, teacher, dim=-1)
    return (student - teacher).abs().mean() - cosine_weight * nn.functional.logsigmoid(cosine).mean()
