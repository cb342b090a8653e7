"""The semantic quantizer C0: projections to a few dimensions, codes of length 1, the nearest by cosine.

p = W_in z / |W_in z|,   k = argmax_j p . e_j / |e_j|,   z_q = W_out e_k      (yu2022vectorquantized, sec. 3.2)
losses: codebook |sg(p) - e_k|^2, commitment |p - sg(e_k)|^2                  (oord2017neural, eq. 3)
The straight-through output is e_k + p - sg(p): the gradient of the sound reaches the encoder through p, and the codes.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

_EPSILON = 1e-6


class SemanticQuantizer(nn.Module):
    """A factorized, L2-normalised vector quantizer with restart of codes that nothing chooses any more.

    Parameters
    ----------
    width : channels of z; ``dims`` of the codes; ``codes`` in the book.
    patience : training steps without use after which a code is restarted on a vector of the batch.
    noise : a module put on W_in z while training (the Laplace block); None leaves it out.
    """

    def __init__(self, width: int, dims: int, codes: int, *, patience: int = 500, noise: Any = None) -> None:
        super().__init__()
        self.enter = nn.Linear(width, dims)
        self.leave = nn.Linear(dims, width)
        self.codes = nn.Parameter(nn.functional.normalize(torch.randn(codes, dims), dim=1))
        self.register_buffer("idle", torch.zeros(codes))
        self.patience = patience
        self.noise = noise

    def projected(self, z: Any) -> Any:
        """Unit vectors in the space of the codes: [..., dims]."""
        p = self.enter(z)
        if self.noise is not None:
            p = self.noise(p)
        return nn.functional.normalize(p, dim=-1, eps=_EPSILON)

    def book(self) -> Any:
        """The codes with length 1: [codes, dims]."""
        return nn.functional.normalize(self.codes, dim=1, eps=_EPSILON)

    def nearest(self, p: Any) -> Any:
        """Indices of the nearest codes: [...]."""
        with torch.no_grad():
            return (p @ self.book().t()).argmax(dim=-1)

    def looked_up(self, indices: Any) -> Any:
        """What the decoder gets for code indices: [..., width]."""
        return self.leave(nn.functional.embedding(indices, self.book()))

    def forward(self, z: Any, *, stopped: Any = None) -> tuple[Any, Any, Any, Any]:
        """Quantize [batch, frames, width]: output, indices, codebook loss, commitment loss.

        ``stopped`` (bool [batch]) marks samples whose gradient must not reach the encoder through the output.
        """
        p = self.projected(z)
        indices = self.nearest(p)
        chosen = nn.functional.embedding(indices, self.book())
        codebook = (p.detach() - chosen).square().sum(-1).mean()
        commitment = (p - chosen.detach()).square().sum(-1).mean()
        through = p if stopped is None else torch.where(stopped[:, None, None], p.detach(), p)
        if self.training:
            self._count(indices)
        return self.leave(chosen + through - through.detach()), indices, codebook, commitment

    def _count(self, indices: Any) -> None:
        with torch.no_grad():
            self.idle += 1
            self.idle[indices.reshape(-1)] = 0

    def restart(self, z: Any, generator: Any) -> int:
        """Put codes that were idle too long on vectors of this batch, chosen by ``generator``; gives how many."""
        with torch.no_grad():
            dead = (self.idle > self.patience).nonzero()[:, 0]
            if not len(dead):
                return 0
            p = self.projected(z).reshape(-1, self.codes.shape[1])
            order = torch.randperm(len(p), generator=generator)[: len(dead)]
            dead = dead[torch.randperm(len(dead), generator=generator)[: len(order)]]
            jitter = torch.randn(len(order), p.shape[1], generator=generator)
            self.codes[dead] = nn.functional.normalize(p[order] + 0.02 * jitter, dim=1)
            self.idle[dead] = 0
            return len(dead)


def perplexity(indices: Any) -> float:
    """How many codes the indices are spread over: e to the entropy of their shares.

    >>> round(perplexity(torch.tensor([0, 0, 5, 5])), 6)
    2.0
    """
    counts = torch.bincount(indices.reshape(-1)).double()
    shares = counts[counts > 0] / counts.sum()
    return float((-(shares * shares.log()).sum()).exp())
