"""The convolutional networks of DAC (kumar2023highfidelity) and FaCodec (ju2024naturalspeech), and their quantizer.

Tensors have the names of the published checkpoints. DAC's activation is Snake; FaCodec's is Snake-beta between up- and
down-sampling by two (lee2023bigvgan), so that it makes no aliases.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

_EPSILON = 1e-9
_TAPS = 12
Activation = Callable[[int], Any]


class Snake(nn.Module):
    """x + sin^2(alpha x) / alpha."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.ones(1, channels, 1))

    def forward(self, x: Any) -> Any:
        """[batch, channels, n] -> the same shape."""
        return x + torch.sin(self.alpha * x).square() / (self.alpha + _EPSILON)


def half_band_filter() -> Any:
    """A low-pass filter of 12 taps at a quarter of the rate: sinc under a Kaiser window, with sum 1."""
    attenuation_db = 2.285 * (_TAPS // 2 - 1) * math.pi * 4 * 0.3 + 7.95
    beta = 0.5842 * (attenuation_db - 21) ** 0.4 + 0.07886 * (attenuation_db - 21)  # Kaiser's rule for 21 to 50 dB
    taps = np.sinc((np.arange(_TAPS) - _TAPS / 2 + 0.5) / 2) * np.kaiser(_TAPS, beta)
    return torch.from_numpy((taps / taps.sum()).astype(np.float32))[None, None]


class SnakeWithoutAliases(nn.Module):
    """Snake-beta on a log scale at twice the rate: up by two, the activation, down by two."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.act = nn.Module()
        self.act.alpha = nn.Parameter(torch.zeros(channels))
        self.act.beta = nn.Parameter(torch.zeros(channels))
        self.upsample, lowpass = nn.Module(), nn.Module()
        self.upsample.register_buffer("filter", half_band_filter())
        lowpass.register_buffer("filter", half_band_filter())
        self.downsample = nn.ModuleDict({"lowpass": lowpass})

    def forward(self, x: Any) -> Any:
        """[batch, channels, n] -> the same shape."""
        channels = x.shape[1]
        up = self.upsample.filter.expand(channels, -1, -1)
        x = nn.functional.pad(x, (5, 5), mode="replicate")
        x = 2 * nn.functional.conv_transpose1d(x, up, stride=2, groups=channels)[..., 15:-15]
        alpha, beta = self.act.alpha.exp()[:, None], self.act.beta.exp()[:, None]
        x = x + torch.sin(alpha * x).square() / (beta + _EPSILON)
        down = self.downsample["lowpass"].filter.expand(channels, -1, -1)
        return nn.functional.conv1d(nn.functional.pad(x, (5, 6), mode="replicate"), down, stride=2, groups=channels)


class WaveResidual(nn.Module):
    """Two convolutions (7 wide and dilated, 1 wide) beside the identity."""

    def __init__(self, width: int, dilation: int, activation: Activation) -> None:
        super().__init__()
        self.block = nn.Sequential(
            activation(width),
            nn.Conv1d(width, width, 7, dilation=dilation, padding=3 * dilation),
            activation(width),
            nn.Conv1d(width, width, 1),
        )

    def forward(self, x: Any) -> Any:
        """[batch, channels, n] -> the same shape."""
        return x + self.block(x)


class WaveStage(nn.Module):
    """A change of rate: residual units then a strided convolution (down), or a transposed one then the units (up)."""

    def __init__(self, source: int, target: int, stride: int, activation: Activation, *, down: bool) -> None:
        super().__init__()
        padding = math.ceil(stride / 2)
        units = [WaveResidual(source if down else target, dilation, activation) for dilation in (1, 3, 9)]
        if down:
            change = nn.Conv1d(source, target, 2 * stride, stride=stride, padding=padding)
            layers = [*units, activation(source), change]
        else:
            options = {"stride": stride, "padding": padding, "output_padding": stride % 2}
            layers = [activation(source), nn.ConvTranspose1d(source, target, 2 * stride, **options), *units]
        self.block = nn.Sequential(*layers)

    def forward(self, x: Any) -> Any:
        """Change the rate."""
        return self.block(x)


def encoder_layers(width: int, strides: Sequence[int], latent: int, activation: Activation) -> Any:
    """[batch, 1, n] -> [batch, latent, n / product of the strides]."""
    layers: list[Any] = [nn.Conv1d(1, width, 7, padding=3)]
    for stride in strides:
        layers.append(WaveStage(width, 2 * width, stride, activation, down=True))
        width *= 2
    return nn.Sequential(*layers, activation(width), nn.Conv1d(width, latent, 3, padding=1))


def decoder_layers(width: int, strides: Sequence[int], latent: int, activation: Activation) -> Any:
    """[batch, latent, frames] -> [batch, 1, frames x product of the strides]."""
    layers: list[Any] = [nn.Conv1d(latent, width, 7, padding=3)]
    for stride in strides:
        layers.append(WaveStage(width, width // 2, stride, activation, down=False))
        width //= 2
    return nn.Sequential(*layers, activation(width), nn.Conv1d(width, 1, 7, padding=3), nn.Tanh())


class FactorizedBook(nn.Module):
    """One level: project, the nearest code by cosine, project back; ``linear`` as FaCodec stores it, else as DAC."""

    def __init__(self, width: int, codes: int, dims: int, *, linear: bool) -> None:
        super().__init__()
        self.in_proj = nn.Linear(width, dims) if linear else nn.Conv1d(width, dims, 1)
        self.out_proj = nn.Linear(dims, width) if linear else nn.Conv1d(dims, width, 1)
        setattr(self, "_codebook" if linear else "codebook", nn.Embedding(codes, dims))
        self.linear = linear

    @property
    def book(self) -> Any:
        """The codes as stored: [codes, dims]."""
        return (self._codebook if self.linear else self.codebook).weight

    def _through(self, layer: Any, x: Any) -> Any:
        return layer(x) if self.linear else layer(x.t()[None])[0].t()

    def encode(self, z: Any) -> tuple[Any, Any]:
        """[frames, width] -> indices [frames] and what is decoded for them [frames, width]."""
        p = nn.functional.normalize(self._through(self.in_proj, z), dim=1)
        chosen = (p @ nn.functional.normalize(self.book, dim=1).t()).argmax(1)
        return chosen, self.decode(chosen)

    def decode(self, chosen: Any) -> Any:
        """[frames] -> [frames, width]."""
        return self._through(self.out_proj, self.book[chosen])


def encode_levels(books: Sequence[Any], z: Any) -> tuple[Any, Any]:
    """Code [frames, width] level by level: indices [frames, levels] and their sum [frames, width]."""
    columns, total = [], torch.zeros_like(z)
    for book in books:
        chosen, made = book.encode(z - total)
        total = total + made
        columns.append(chosen)
    return torch.stack(columns, dim=1), total


class DacCodec(nn.Module):
    """DAC with the published names (encoder.block, quantizer.quantizers, decoder.model)."""

    def __init__(
        self,
        *,
        width: int,
        strides: Sequence[int],
        latent: int,
        decoder_width: int,
        levels: int,
        codes: int,
        dims: int,
    ) -> None:
        super().__init__()
        self.hop = math.prod(strides)
        self.encoder = nn.ModuleDict({"block": encoder_layers(width, strides, latent, Snake)})
        books = nn.ModuleList(FactorizedBook(latent, codes, dims, linear=False) for _ in range(levels))
        self.quantizer = nn.ModuleDict({"quantizers": books})
        self.decoder = nn.ModuleDict({"model": decoder_layers(decoder_width, strides[::-1], latent, Snake)})

    def encode(self, samples: Any) -> Any:
        """[n] -> [ceil(n / hop), levels]."""
        padded = nn.functional.pad(samples, (0, -len(samples) % self.hop))
        return encode_levels(self.quantizer["quantizers"], self.encoder["block"](padded[None, None])[0].t())[0]

    def decode(self, codes: Any) -> Any:
        """[frames, levels given] -> [frames x hop]."""
        books = self.quantizer["quantizers"]
        total = sum(books[level].decode(codes[:, level]) for level in range(codes.shape[1]))
        return self.decoder["model"](total.t()[None])[0, 0]
