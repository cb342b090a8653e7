"""The paper's residual vector quantizer: C0 for what is said, C1-C5 for the rest, all factorized and L2-normalised.

z_q = sum over k < n of VQ_k(z_e - sum over i < k of VQ_i)                                    (zeghidour2021soundstream)
Quantizer dropout keeps n levels of a sample; a sample that keeps C0 alone sends no gradient of the sound to the encoder
(turavecino2025usc, sec. 2.4), so that the sound teaches decoder and codebook only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import nn

from personare.core.errors import ConfigError
from personare.training.usc.semantic_quantizer import SemanticQuantizer

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class QuantizerDropout:
    """Keep all levels with probability 1 - p, else a number of levels drawn evenly from 1 to all (DAC's rule)."""

    p: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.p <= 1:
            raise ConfigError(f"the probability of quantizer dropout must be 0 to 1, not {self.p}")

    def draw(self, rng: np.random.Generator, count: int, levels: int) -> NDArray[np.int64]:
        """Draw how many levels each of ``count`` samples keeps: [count], 1 to ``levels``."""
        drawn = rng.integers(1, levels + 1, count)
        return np.where(rng.random(count) < self.p, drawn, levels).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Quantized:
    """The sum over the kept levels, C0's part, indices per level, both losses, and the variance left per level."""

    total: Any
    z_0: Any
    indices: list[Any]
    codebook: Any
    commitment: Any
    left: list[float]


class ResidualQuantizer(nn.Module):
    """A stack of quantizers; ``codes`` gives the size of each book, the first being C0's."""

    def __init__(self, width: int, dims: int, codes: Sequence[int], *, noise: Any = None, patience: int = 500) -> None:
        super().__init__()
        self.levels = nn.ModuleList(
            SemanticQuantizer(width, dims, count, noise=noise if level == 0 else None, patience=patience)
            for level, count in enumerate(codes)
        )

    def forward(self, z_e: Any, used: Any, *, stop_alone: bool = True, generator: Any | None = None) -> Quantized:
        """Quantize [batch, frames, width]; sample i keeps ``used[i]`` levels. A generator restarts dead codes."""
        residual, total = z_e, 0.0
        codebook, commitment = 0.0, 0.0
        indices, left = [], [_variance(z_e)]
        z_0: Any = None
        for k, level in enumerate(self.levels):
            if generator is not None:  # before the codes are used: the backward pass needs them as they were
                level.restart(residual, generator)
            out, chosen, book, commit = level(residual, stopped=(used == 1) if k == 0 and stop_alone else None)
            total = total + out * (used > k)[:, None, None]
            residual = residual - out.detach()
            z_0 = out if k == 0 else z_0
            codebook, commitment = codebook + book, commitment + commit
            indices.append(chosen)
            left.append(_variance(residual))
        return Quantized(total, z_0, indices, codebook, commitment, left)

    def looked_up(self, indices: Any) -> Any:
        """What the decoder gets for indices [batch, frames, levels given]: [batch, frames, width]."""
        return sum(self.levels[k].looked_up(indices[..., k]) for k in range(indices.shape[-1]))


def _variance(residual: Any) -> float:
    return float(residual.detach().square().sum(-1).mean())
