"""ConvNeXt blocks over time, bent by a condition (FiLM): what the small codec's encoders and decoder are made of.

Arrays are [batch, frames, channels]. liu2022convnet for the block, perez2018film for the condition.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

_REACH = 3  # frames to either side that a block sees


class ConvNextBlock(nn.Module):
    """One block: each channel over time, normalised (and bent by the condition), then a wider layer and back."""

    def __init__(self, width: int, hidden: int, *, condition: int = 0) -> None:
        super().__init__()
        self.time = nn.Conv1d(width, width, 2 * _REACH + 1, padding=_REACH, groups=width)
        self.norm = nn.LayerNorm(width, elementwise_affine=not condition)
        self.film = nn.Linear(condition, 2 * width) if condition else None
        self.up = nn.Linear(width, hidden)
        self.down = nn.Linear(hidden, width)
        with torch.no_grad():
            self.down.weight.mul_(0.3)
            if self.film is not None:
                self.film.weight.mul_(0.1)
                self.film.bias.zero_()

    def forward(self, x: Any, condition: Any = None) -> Any:
        """[batch, frames, width], condition [batch, c] -> [batch, frames, width]."""
        y = self.norm(self.time(x.transpose(1, 2)).transpose(1, 2))
        if self.film is not None:
            scale, shift = self.film(condition).unsqueeze(1).chunk(2, dim=2)
            y = y * (1 + scale) + shift
        return x + self.down(nn.functional.silu(self.up(y)))


class Stack(nn.Module):
    """A convolution over three frames into the width, then blocks."""

    def __init__(self, source: int, width: int, hidden: int, blocks: int, *, condition: int = 0) -> None:
        super().__init__()
        self.enter = nn.Conv1d(source, width, 3, padding=1)
        self.blocks = nn.ModuleList(ConvNextBlock(width, hidden, condition=condition) for _ in range(blocks))

    def forward(self, x: Any, condition: Any = None) -> Any:
        """[batch, frames, source] -> [batch, frames, width]."""
        x = self.enter(x.transpose(1, 2)).transpose(1, 2)
        for block in self.blocks:
            x = block(x, condition)
        return x
