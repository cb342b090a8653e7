"""The two discriminators of the paper's perceptual loss and their losses.

MPD: the wave folded by periods 2, 3, 5, 7, 11 (kong2020hifigan). MB-MRSD: complex spectra of three lengths, cut into
five bands with convolutions of their own (kumar2023highfidelity, sec. 3.3). Least squares (mao2017least):
L_D = E[(D(x) - 1)^2] + E[D(G)^2],   L_G = E[(D(G) - 1)^2],   L_FM = sum over all layers l of
mean |D_l(x) - D_l(G)|, as DAC's public program has it (no division by the number of layers).
Waves are [batch, 1, samples].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn
from torch.func import functional_call
from torch.nn.utils.parametrizations import weight_norm

PERIODS = (2, 3, 5, 7, 11)
WINDOWS = (2048, 1024, 512)
BANDS = ((0.0, 0.1), (0.1, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.0))
_LEAK = 0.1


def _conv(source: int, target: int, kernel: tuple[int, int], **options: Any) -> Any:
    return weight_norm(nn.Conv2d(source, target, kernel, **options))


class PeriodDiscriminator(nn.Module):
    """Judges the wave folded by one period: [batch, 1, samples / period, period]."""

    def __init__(self, period: int, channels: int) -> None:
        super().__init__()
        self.period = period
        widths = [1, channels, 4 * channels, 16 * channels, 32 * channels, 32 * channels]
        self.layers = nn.ModuleList(
            _conv(widths[i], widths[i + 1], (5, 1), stride=(3 if i < 4 else 1, 1), padding=(2, 0)) for i in range(5)
        )
        self.last = _conv(widths[-1], 1, (3, 1), padding=(1, 0))

    def forward(self, x: Any) -> list[Any]:
        """The answers of every layer; the last is the verdict (1 for true speech)."""
        missing = -x.shape[-1] % self.period
        x = nn.functional.pad(x, (0, missing), mode="reflect").unflatten(2, (-1, self.period))
        answers = []
        for layer in self.layers:
            x = nn.functional.leaky_relu(layer(x), _LEAK)
            answers.append(x)
        return [*answers, self.last(x)]


class BandDiscriminator(nn.Module):
    """Judges the complex spectrum of one window length, band by band: [batch, 2, frames, bins]."""

    def __init__(self, window: int, channels: int) -> None:
        super().__init__()
        self.window = window
        bins = window // 2 + 1
        self.edges = [(int(low * bins), int(high * bins)) for low, high in BANDS]
        self.bands = nn.ModuleList(self._stack(channels) for _ in BANDS)
        self.last = _conv(channels, 1, (3, 3), padding=(1, 1))
        self.register_buffer("hann", torch.hann_window(window), persistent=False)

    @staticmethod
    def _stack(channels: int) -> Any:
        wide = {"kernel": (3, 9), "padding": (1, 4)}
        return nn.ModuleList(
            [
                _conv(2, channels, **wide),
                *(_conv(channels, channels, stride=(1, 2), **wide) for _ in range(3)),
                _conv(channels, channels, (3, 3), padding=(1, 1)),
            ]
        )

    def forward(self, x: Any) -> list[Any]:
        """The answers of every layer of every band; the last is the verdict."""
        hop = self.window // 4
        spectrum = torch.stft(x[:, 0], self.window, hop, window=self.hann, center=True, return_complex=True)
        picture = torch.view_as_real(spectrum).permute(0, 3, 2, 1)
        answers, ends = [], []
        for (low, high), stack in zip(self.edges, self.bands, strict=True):
            y = picture[..., low:high]
            for layer in stack:
                y = nn.functional.leaky_relu(layer(y), _LEAK)
                answers.append(y)
            ends.append(y)
        return [*answers, self.last(torch.cat(ends, dim=-1))]


class Discriminators(nn.Module):
    """All discriminators together; ``channels`` scales their size (32 in the papers)."""

    def __init__(
        self, channels: int = 32, *, periods: Sequence[int] = PERIODS, windows: Sequence[int] = WINDOWS
    ) -> None:
        super().__init__()
        self.members = nn.ModuleList(
            [
                *(PeriodDiscriminator(period, channels) for period in periods),
                *(BandDiscriminator(window, channels) for window in windows),
            ]
        )

    def forward(self, x: Any) -> list[list[Any]]:
        """The answers of every member."""
        return [member(x) for member in self.members]


def contest(discriminators: Any, made: Any, true: Any) -> tuple[Any, Any, Any]:
    """L_D, L_G and L_FM: the first has a gradient for the discriminators alone, the others for ``made`` alone."""
    fixed = {name: tensor.detach() for name, tensor in discriminators.state_dict(keep_vars=True).items()}
    real, fake = discriminators(true), discriminators(made.detach())
    loss_d = sum((r[-1] - 1).square().mean() + f[-1].square().mean() for r, f in zip(real, fake, strict=True))
    seen = functional_call(discriminators, fixed, (made,))
    loss_g = sum((answers[-1] - 1).square().mean() for answers in seen)
    matching = [
        (r.detach() - f).abs().mean()
        for answers_r, answers_f in zip(real, seen, strict=True)
        for r, f in zip(answers_r[:-1], answers_f[:-1], strict=True)
    ]
    return loss_d, loss_g, sum(matching)
