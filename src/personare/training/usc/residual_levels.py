"""The acoustic levels C1-C5 of the small codec: residual quantizers in Euclidean space, started by PCA and k-means.

r_1 = LayerNorm(z_a) - A z_0;   p_k = W_in r_k,   c_k the code nearest to p_k,   r_{k+1} = r_k - W_out c_k
Codes follow the running mean of what chooses them (EMA, oord2017neural, appendix A.1).
Deviations from turavecino2025usc: Euclidean instead of L2-normalised codes, a normalised input, a linear prediction
from C0, and a start by PCA and k-means: L2-normalised levels on an unbounded input fell to a few dozen used codes.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

_DECAY = 0.99
_RESTART_AT = 0.02  # running count per step below which a code is dead
_KMEANS_ROUNDS = 12


class ResidualLevel(nn.Module):
    """One residual quantizer."""

    def __init__(self, width: int, dims: int, codes: int) -> None:
        super().__init__()
        self.enter = nn.Linear(width, dims, bias=False)
        self.leave = nn.Linear(dims, width, bias=False)
        self.register_buffer("codes", torch.randn(codes, dims))
        self.register_buffer("counts", torch.ones(codes))
        self.register_buffer("sums", self.codes.clone())

    def nearest(self, p: Any) -> Any:
        """Indices of the nearest codes by Euclidean distance: [...]."""
        with torch.no_grad():
            return (p @ self.codes.t() - 0.5 * self.codes.square().sum(1)).argmax(dim=-1)

    def start(self, residuals: Any, generator: Any) -> Any:
        """Set projections and codes from residuals [n, width]; gives what this level leaves over."""
        with torch.no_grad():
            n_codes, dims = self.codes.shape
            _, _, axes = torch.linalg.svd(residuals - residuals.mean(0), full_matrices=False)
            self.enter.weight.copy_(axes[:dims])
            self.leave.weight.copy_(axes[:dims].t())
            p = self.enter(residuals)
            self.codes.copy_(p[torch.randperm(len(p), generator=generator)[:n_codes]])
            for _ in range(_KMEANS_ROUNDS):
                indices = self.nearest(p)
                counts = torch.zeros(n_codes).index_add_(0, indices, torch.ones(len(p)))
                sums = torch.zeros_like(self.codes).index_add_(0, indices, p)
                self.codes.copy_(torch.where(counts[:, None] > 0, sums / counts[:, None].clamp_min(1), self.codes))
            self.counts.fill_(1.0)
            self.sums.copy_(self.codes)
            return residuals - self.leave(self.codes[self.nearest(p)])

    def follow(self, p: Any, indices: Any, generator: Any | None) -> None:
        """Move the codes to the running mean of what chose them; with a generator, restart dead ones."""
        with torch.no_grad():
            p, indices = p.reshape(-1, p.shape[-1]), indices.reshape(-1)
            self.counts.mul_(_DECAY).index_add_(0, indices, torch.full((len(p),), 1 - _DECAY))
            self.sums.mul_(_DECAY).index_add_(0, indices, p * (1 - _DECAY))
            if generator is not None:
                dead = (self.counts < _RESTART_AT).nonzero()[:, 0]
                order = torch.randperm(len(p), generator=generator)[: len(dead)]
                dead = dead[: len(order)]
                self.counts[dead] = 0.1
                self.sums[dead] = p[order] * 0.1
            self.codes.copy_(self.sums / self.counts[:, None].clamp_min(1e-5))


class ResidualLevels(nn.Module):
    """Levels C1 to C5: what z_a holds beyond what C0 predicts of it, level by level.

    Until ``start`` is called they hand z_a on as it is, so that encoder and decoder have learnt something to quantize.
    """

    def __init__(self, width: int, dims: int, codes: int, levels: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width, elementwise_affine=False)
        self.predict = nn.Linear(width, width)
        self.levels = nn.ModuleList(ResidualLevel(width, dims, codes) for _ in range(levels))
        self.register_buffer("started", torch.zeros((), dtype=torch.bool))

    def rest(self, z_a: Any, z_0: Any) -> Any:
        """What is left to quantize: [batch, frames, width]."""
        return self.norm(z_a) - self.predict(z_0.detach())

    def start(self, residuals: Any, generator: Any) -> None:
        """Start every level on residuals [n, width], each on what the one before left over."""
        for level in self.levels:
            residuals = level.start(residuals, generator)
        self.started.fill_(True)

    def forward(
        self, z_a: Any, z_0: Any, used: Any, *, generator: Any | None = None
    ) -> tuple[Any, list[Any], Any, list[Any]]:
        """Quantize; the output of each sample is the sum over its first ``used`` levels (int [batch], 0 to all).

        Gives the output [batch, frames, width], the indices per level, the loss and the residuals per level.
        """
        residual = self.rest(z_a, z_0)
        loss = self.rest(z_a.detach(), z_0).square().mean()  # fits the prediction from C0, and moves nothing else
        if not bool(self.started):
            return residual * (used > 0)[:, None, None], [], loss, [residual.detach()]
        total: Any = 0.0
        indices, left = [], [residual.detach()]
        for k, level in enumerate(self.levels):
            p = level.enter(residual)
            chosen = level.nearest(p)
            code = nn.functional.embedding(chosen, level.codes)
            if self.training:
                level.follow(p.detach(), chosen, generator)
            loss = loss + 0.25 * (p - code).square().mean()
            loss = loss + (residual.detach() - level.leave(code)).square().mean()
            out = level.leave(p + (code - p).detach())
            total = total + out * (used > k)[:, None, None]
            residual = residual - out.detach()
            indices.append(chosen)
            left.append(residual.detach())
        return total, indices, loss, left

    def looked_up(self, indices: Any) -> Any:
        """What the decoder gets for indices [batch, frames, levels given]: [batch, frames, width]."""
        total: Any = 0.0
        for k in range(indices.shape[-1]):
            level = self.levels[k]
            total = total + level.leave(level.codes[indices[..., k]])
        return total
