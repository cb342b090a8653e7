"""The SEANet networks of EnCodec (defossez2023high) and SpeechTokenizer (zhang2024speechtokenizer), with quantizer.

Tensors have the names of the published checkpoints. Both codecs share the layout; EnCodec is causal, SpeechTokenizer
looks both ways and has a bidirectional recurrent layer in its encoder.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn


class SeanetConv(nn.Module):
    """A convolution that pads by reflection so that n samples give ceil(n / stride) frames."""

    def __init__(self, source: int, target: int, kernel: int, *, stride: int = 1, causal: bool) -> None:
        super().__init__()
        self.conv = nn.ModuleDict({"conv": nn.Conv1d(source, target, kernel, stride=stride)})
        self.kernel, self.stride, self.causal = kernel, stride, causal

    def forward(self, x: Any) -> Any:
        """[batch, channels, n] -> [batch, channels, ceil(n / stride)]."""
        total = self.kernel - self.stride
        missing = -x.shape[-1] % self.stride
        right = 0 if self.causal else total // 2
        left, right = total - right, right + missing
        room = max(0, max(left, right) + 1 - x.shape[-1])  # reflection needs more samples than it adds
        padded = nn.functional.pad(nn.functional.pad(x, (0, room)), (left, right), mode="reflect")
        return self.conv["conv"](padded[..., : padded.shape[-1] - room])


class UpConv(nn.Module):
    """A transposed convolution, cut so that n frames give n x stride samples."""

    def __init__(self, source: int, target: int, kernel: int, *, stride: int, causal: bool) -> None:
        super().__init__()
        self.convtr = nn.ModuleDict({"convtr": nn.ConvTranspose1d(source, target, kernel, stride=stride)})
        self.total, self.causal = kernel - stride, causal

    def forward(self, x: Any) -> Any:
        """[batch, channels, n] -> [batch, channels, n x stride]."""
        y = self.convtr["convtr"](x)
        right = self.total if self.causal else self.total // 2
        return y[..., self.total - right : y.shape[-1] - right]


class Recurrent(nn.Module):
    """LSTM layers beside the identity (doubled where they run both ways)."""

    def __init__(self, width: int, layers: int, *, both_ways: bool) -> None:
        super().__init__()
        self.lstm = nn.LSTM(width, width, layers, bidirectional=both_ways)
        self.both_ways = both_ways

    def forward(self, x: Any) -> Any:
        """[batch, channels, n] -> [batch, channels or twice as many, n]."""
        x = x.permute(2, 0, 1)
        y, _ = self.lstm(x)
        return (y + (x.repeat(1, 1, 2) if self.both_ways else x)).permute(1, 2, 0)


class SeanetResidual(nn.Module):
    """Two convolutions through half the width, beside a convolution of one sample."""

    def __init__(self, width: int, *, causal: bool) -> None:
        super().__init__()
        self.block = nn.Sequential(
            nn.ELU(),
            SeanetConv(width, width // 2, 3, causal=causal),
            nn.ELU(),
            SeanetConv(width // 2, width, 1, causal=causal),
        )
        self.shortcut = SeanetConv(width, width, 1, causal=causal)

    def forward(self, x: Any) -> Any:
        """[batch, channels, n] -> the same shape."""
        return self.shortcut(x) + self.block(x)


class Seanet(nn.Module):
    """Encoder or decoder: ``down`` makes the encoder."""

    def __init__(
        self, width: int, ratios: Sequence[int], latent: int, *, down: bool, causal: bool, both_ways: bool
    ) -> None:
        super().__init__()
        layers: list[Any] = []
        if down:
            layers.append(SeanetConv(1, width, 7, causal=causal))
            for ratio in reversed(ratios):
                layers += [SeanetResidual(width, causal=causal), nn.ELU()]
                layers.append(SeanetConv(width, 2 * width, 2 * ratio, stride=ratio, causal=causal))
                width *= 2
            layers += [Recurrent(width, 2, both_ways=both_ways), nn.ELU()]
            layers.append(SeanetConv(width * (2 if both_ways else 1), latent, 7, causal=causal))
        else:
            width *= 2 ** len(ratios)
            layers += [SeanetConv(latent, width, 7, causal=causal), Recurrent(width, 2, both_ways=both_ways)]
            for ratio in ratios:
                layers += [nn.ELU(), UpConv(width, width // 2, 2 * ratio, stride=ratio, causal=causal)]
                width //= 2
                layers.append(SeanetResidual(width, causal=causal))
            layers += [nn.ELU(), SeanetConv(width, 1, 7, causal=causal)]
        self.model = nn.Sequential(*layers)

    def forward(self, x: Any) -> Any:
        """Encode or decode."""
        return self.model(x)


class EuclideanQuantizer(nn.Module):
    """Residual quantization by the nearest code in Euclidean space; names as published (layers.N._codebook.embed)."""

    def __init__(self, levels: int, codes: int, width: int) -> None:
        super().__init__()
        books = []
        for _ in range(levels):
            book = nn.Module()
            book.register_buffer("embed", torch.zeros(codes, width))
            books.append(nn.ModuleDict({"_codebook": book}))
        self.vq = nn.ModuleDict({"layers": nn.ModuleList(books)})

    @property
    def books(self) -> list[Any]:
        """The codes of every level: [codes, width]."""
        return [layer["_codebook"].embed for layer in self.vq["layers"]]

    def encode(self, z: Any) -> Any:
        """[frames, width] -> [frames, levels]."""
        columns = []
        for book in self.books:
            chosen = (z @ book.t() - 0.5 * book.square().sum(1)).argmax(1)
            z = z - book[chosen]
            columns.append(chosen)
        return torch.stack(columns, dim=1)

    def decode(self, codes: Any) -> Any:
        """[frames, levels given] -> [frames, width]."""
        return sum(self.books[level][codes[:, level]] for level in range(codes.shape[1]))


class SeanetCodec(nn.Module):
    """Encoder, quantizer and decoder with the published names."""

    def __init__(
        self, *, width: int, ratios: Sequence[int], latent: int, levels: int, codes: int, causal: bool, both_ways: bool
    ) -> None:
        super().__init__()
        self.hop = math.prod(ratios)
        self.encoder = Seanet(width, ratios, latent, down=True, causal=causal, both_ways=both_ways)
        self.quantizer = EuclideanQuantizer(levels, codes, latent)
        self.decoder = Seanet(width, ratios, latent, down=False, causal=causal, both_ways=False)

    def encode(self, samples: Any) -> Any:
        """[n] -> [ceil(n / hop), levels]."""
        return self.quantizer.encode(self.encoder(samples[None, None])[0].t())

    def decode(self, codes: Any) -> Any:
        """[frames, levels given] -> [frames x hop]."""
        return self.decoder(self.quantizer.decode(codes).t()[None])[0, 0]
