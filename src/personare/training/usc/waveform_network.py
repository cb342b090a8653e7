"""The paper's encoder and decoder: strided convolutions from the wave to 25 Hz and back, with Snake-beta activations.

The layout is DAC's (kumar2023highfidelity, sec. 3.1 and appendix): residual units with dilations 1, 3, 9 before every
change of rate. Snake-beta on a log scale, x + sin^2(alpha x) / beta, and no final tanh (turavecino2025usc, sec. 2.1).
Sounds are [batch, channels, samples].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm

_DILATIONS = (1, 3, 9)
_EPSILON = 1e-9


class SnakeBeta(nn.Module):
    """x + sin^2(e^a x) / e^b, with a and b learnt per channel; both begin at 0 (ziyin2020neural on a log scale)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.log_alpha = nn.Parameter(torch.zeros(channels))
        self.log_beta = nn.Parameter(torch.zeros(channels))

    def forward(self, x: Any) -> Any:
        """[batch, channels, samples] -> the same shape."""
        alpha, beta = self.log_alpha.exp()[:, None], self.log_beta.exp()[:, None]
        return x + torch.sin(alpha * x).square() / (beta + _EPSILON)


def _conv(source: int, target: int, kernel: int, **options: Any) -> Any:
    return weight_norm(nn.Conv1d(source, target, kernel, **options))


class ResidualUnit(nn.Module):
    """Two convolutions (7 wide and dilated, 1 wide) beside the identity."""

    def __init__(self, channels: int, dilation: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            SnakeBeta(channels),
            _conv(channels, channels, 7, dilation=dilation, padding=3 * dilation),
            SnakeBeta(channels),
            _conv(channels, channels, 1),
        )

    def forward(self, x: Any) -> Any:
        """[batch, channels, samples] -> the same shape."""
        return x + self.layers(x)


class WaveEncoder(nn.Module):
    """Waves [batch, 1, n] -> z_e [batch, width, n / product of the strides]; n must be a multiple of the product."""

    def __init__(self, channels: int, strides: Sequence[int], width: int) -> None:
        super().__init__()
        layers: list[Any] = [_conv(1, channels, 7, padding=3)]
        for stride in strides:
            layers += [ResidualUnit(channels, dilation) for dilation in _DILATIONS]
            layers += [
                SnakeBeta(channels),
                _conv(channels, 2 * channels, 2 * stride, stride=stride, padding=stride // 2),
            ]
            channels *= 2
        self.layers = nn.Sequential(*layers, SnakeBeta(channels), _conv(channels, width, 3, padding=1))
        self.hop = math.prod(strides)

    def forward(self, x: Any) -> Any:
        """Encode."""
        return self.layers(x)


class WaveDecoder(nn.Module):
    """z_q [batch, width, frames] -> waves [batch, 1, frames x product of the strides]; no tanh at the end."""

    def __init__(self, channels: int, strides: Sequence[int], width: int) -> None:
        super().__init__()
        layers: list[Any] = [_conv(width, channels, 7, padding=3)]
        for stride in strides:
            options = {"stride": stride, "padding": math.ceil(stride / 2), "output_padding": stride % 2}
            up = weight_norm(nn.ConvTranspose1d(channels, channels // 2, 2 * stride, **options))
            channels //= 2
            layers += [SnakeBeta(2 * channels), up]
            layers += [ResidualUnit(channels, dilation) for dilation in _DILATIONS]
        self.layers = nn.Sequential(*layers, SnakeBeta(channels), _conv(channels, 1, 7, padding=3))
        self.hop = math.prod(strides)

    def forward(self, z: Any) -> Any:
        """Decode."""
        return self.layers(z)
