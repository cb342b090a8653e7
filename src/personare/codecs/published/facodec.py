"""FaCodec (ju2024naturalspeech, appendix B): prosody, content and residual tokens, and one vector for the timbre.

Tensors have the names of the published checkpoints (one file for the encoder, one for the decoder). The timbre vector
is made by a small transformer whose position code, as published, is that of the first position everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from personare.codecs.published.residual_wave import (
    FactorizedBook,
    SnakeWithoutAliases,
    decoder_layers,
    encode_levels,
    encoder_layers,
)

UNUSED = (
    "f0_predictor.",
    "phone_predictor.",
    "res_f0_predictor.",
    "res_phone_predictor.",
    "content_f0_predictor.",
    "prosody_phone_predictor.",
    "x_timbre_predictor.",
)
_POSITIONS = 5000


class _FacodecLayer(nn.Module):
    """A transformer layer with a convolution in its feed-forward part; normalised first."""

    def __init__(self, width: int, heads: int, inner: int) -> None:
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.self_attn = nn.MultiheadAttention(width, heads, batch_first=True)
        self.ffn = nn.ModuleDict({"ffn_1": nn.Conv1d(width, inner, 5, padding=2), "ffn_2": nn.Linear(inner, width)})

    def forward(self, x: Any) -> Any:
        """[batch, frames, width] -> the same shape."""
        y = self.ln_1(x)
        x = x + self.self_attn(y, y, y, need_weights=False)[0]
        y = self.ffn["ffn_1"](self.ln_2(x).transpose(1, 2)).transpose(1, 2)
        return x + self.ffn["ffn_2"](nn.functional.relu(y))


class TimbreEncoder(nn.Module):
    """The transformer that hears the timbre."""

    def __init__(self, width: int, *, heads: int, inner: int, layers: int) -> None:
        super().__init__()
        self.position_emb = nn.Module()
        self.position_emb.register_buffer("pe", positions(width))
        self.layers = nn.ModuleList(_FacodecLayer(width, heads, inner) for _ in range(layers))
        self.last_ln = nn.LayerNorm(width)

    def forward(self, x: Any) -> Any:
        """[1, frames, width] -> the same shape."""
        x = x + self.position_emb.pe[0]
        for layer in self.layers:
            x = layer(x)
        return self.last_ln(x)


def positions(width: int) -> Any:
    """Sines and cosines of positions: [5000, 1, width]."""
    angles = torch.arange(_POSITIONS)[:, None] * torch.exp(torch.arange(0, width, 2) * (-math.log(10_000.0) / width))
    code = torch.zeros(_POSITIONS, 1, width)
    code[:, 0, 0::2], code[:, 0, 1::2] = angles.sin(), angles.cos()
    return code


class FacodecEncoder(nn.Module):
    """The encoder's file: tensors ``block.*``."""

    def __init__(self, width: int, strides: Sequence[int], latent: int) -> None:
        super().__init__()
        self.block = encoder_layers(width, strides, latent, SnakeWithoutAliases)

    def forward(self, x: Any) -> Any:
        """[1, 1, n] -> [1, latent, n / hop]."""
        return self.block(x)


class FacodecDecoder(nn.Module):
    """The decoder's file: quantizers, timbre encoder and decoder."""

    def __init__(
        self,
        *,
        latent: int,
        width: int,
        strides: Sequence[int],
        levels: Sequence[int],
        codes: int,
        dims: int,
        heads: int = 4,
        inner: int = 1024,
        layers: int = 4,
    ) -> None:
        super().__init__()
        self.groups = tuple(levels)  # of prosody, content, residual
        self.quantizer = nn.ModuleList(
            nn.ModuleDict({"layers": nn.ModuleList(FactorizedBook(latent, codes, dims, linear=True) for _ in range(n))})
            for n in levels
        )
        self.model = decoder_layers(width, strides, latent, SnakeWithoutAliases)
        self.timbre_encoder = TimbreEncoder(latent, heads=heads, inner=inner, layers=layers)
        self.timbre_linear = nn.Linear(latent, 2 * latent)
        self.timbre_norm = nn.LayerNorm(latent, elementwise_affine=False)

    @property
    def books(self) -> list[Any]:
        """All levels in the order of the tokens."""
        return [book for group in self.quantizer for book in group["layers"]]

    def encode(self, z: Any) -> Any:
        """[frames, latent] -> [frames, levels]: prosody and content of z, the residual of what both leave over."""
        prosody, content, residual = (group["layers"] for group in self.quantizer)
        first, a = encode_levels(prosody, z)
        second, b = encode_levels(content, z)
        third, _ = encode_levels(residual, z - (a + b))
        return torch.cat([first, second, third], dim=1)

    def timbre(self, z: Any) -> Any:
        """[frames, latent] -> [latent]."""
        return self.timbre_encoder(z[None])[0].mean(0)

    def decode(self, codes: Any, timbre: Any) -> Any:
        """Codes [frames, levels given] and a timbre vector [latent] -> [frames x hop]."""
        total = sum(self.books[level].decode(codes[:, level]) for level in range(codes.shape[1]))
        scale, shift = self.timbre_linear(timbre).chunk(2)
        return self.model((self.timbre_norm(total) * scale + shift).t()[None])[0, 0]
