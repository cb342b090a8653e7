"""What takes the speaker out of C0 while training: gradient reversal, a speaker classifier, and the Laplace block.

Reversal: the identity forward, -weight times the gradient backward  (ganin2016domain, eq. 15)
Classifier: transformer layers over z_0, mean over time, AM-softmax, m = 0.4, s = 30  (turavecino2025usc, sec. 2.2)
Laplace block: clip |x|_1 to C, add n ~ Laplace(0, 2C / epsilon), while training  (turavecino2025usc, sec. 2.5)
The noise is off at use, in the paper too: it is a regularizer, and no guarantee of differential privacy at use.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from personare.training.embedder.margins import margin_loss

MARGIN, SCALE = 0.4, 30.0


class _Reversed(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, weight: float) -> Any:
        ctx.weight = weight
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> tuple[Any, None]:
        return -ctx.weight * gradient, None


def reversed_gradient(x: Any, weight: float = 1.0) -> Any:
    """Hand x on; its gradient comes back times ``-weight``."""
    return _Reversed.apply(x, weight)


class SpeakerClassifier(nn.Module):
    """Tell the speaker from z_0 [batch, frames, width]: transformer encoder layers, mean over time, AM-softmax."""

    def __init__(self, width: int, speakers: int, *, layers: int = 2, inner: int = 128, heads: int = 4) -> None:
        super().__init__()
        self.enter = nn.Linear(width, inner)
        layer = nn.TransformerEncoderLayer(inner, heads, 2 * inner, dropout=0.0, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.directions = nn.Parameter(nn.functional.normalize(torch.randn(speakers, inner), dim=1))

    def embedded(self, z: Any) -> Any:
        """One vector per sample: [batch, inner]."""
        return self.layers(self.enter(z)).mean(dim=1)

    def forward(self, z: Any, labels: Any) -> Any:
        """The loss of guessing the speakers."""
        return margin_loss(self.embedded(z), self.directions, labels, kind="am", margin=MARGIN, scale=SCALE)


class LaplaceNoise(nn.Module):
    """Clip the L1 norm of vectors to C and add Laplace noise of scale 2C / epsilon; does nothing at use.

    ``clip`` is C, the mean L1 norm in a finished variant without this block, as the paper estimates it. Without it, C
    is the running mean of the L1 norms of the first ``warm_up`` batches, during which nothing is clipped or added.
    """

    def __init__(self, epsilon: float, *, clip: float | None = None, warm_up: int = 100) -> None:
        super().__init__()
        if epsilon <= 0:
            raise ValueError(f"epsilon must be above 0, not {epsilon}")
        if clip is not None and clip <= 0:
            raise ValueError(f"the clipping value C must be above 0, not {clip}")
        self.epsilon = epsilon
        self.warm_up = warm_up if clip is None else 0
        self.register_buffer("clip", torch.tensor(0.0 if clip is None else clip))
        self.register_buffer("batches", torch.zeros((), dtype=torch.long))

    @property
    def scale(self) -> float:
        """The scale of the noise."""
        return 2 * float(self.clip) / self.epsilon

    def clipped(self, x: Any) -> Any:
        """Shorten vectors whose L1 norm is above C to C."""
        norms = x.abs().sum(-1, keepdim=True)
        return x * (self.clip / norms.clamp_min(1e-12)).clamp(max=1.0)

    def forward(self, x: Any, *, generator: Any | None = None) -> Any:
        """[..., dims] -> the same shape."""
        if not self.training:
            return x
        if int(self.batches) < self.warm_up:
            with torch.no_grad():
                self.batches += 1
                self.clip += (x.abs().sum(-1).mean() - self.clip) / self.batches
            return x
        # inverse of the Laplace distribution's cumulative function, u in (-1/2, 1/2)
        u = torch.rand(x.shape, generator=generator, dtype=x.dtype) - 0.5
        noise = -self.scale * u.sign() * torch.log1p(-2 * u.abs().clamp(max=0.5 - 1e-7))
        return self.clipped(x) + noise
