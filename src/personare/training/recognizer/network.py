"""A small network that writes letters: mel bands in, one score per symbol and 40 ms out; no alignments are needed.

Two convolutions subsample time by four (or two: quick readers say a letter in 50 ms, and doubled letters need a blank
between them, for which 40 ms are hardly enough), then residual blocks of depthwise and pointwise convolutions follow.
The loss sums over every way to lay the text along the sound                                    [graves2006ctc, eq. 8]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from personare.core.errors import ConfigError
from personare.training.torch_extra import torch_for

SUBSAMPLING = 4


@dataclass(frozen=True)
class RecognizerShape:
    """How large the network is; ``symbols`` counts the blank, which is symbol 0.

    Parameters
    ----------
    subsampling : frames of 10 ms that become one: 4 or 2.
    """

    bands: int = 40
    width: int = 128
    blocks: int = 5
    kernel: int = 11
    symbols: int = 29
    subsampling: int = SUBSAMPLING

    def __post_init__(self) -> None:
        if min(self.bands, self.width, self.blocks, self.kernel) < 1 or self.kernel % 2 == 0 or self.symbols < 2:
            raise ConfigError(f"a network needs positive sizes, an odd kernel and two symbols; not {self}")
        if self.subsampling not in (2, 4):
            raise ConfigError(f"subsampling must be 2 or 4, not {self.subsampling}")


def network(shape: RecognizerShape, *, seed: int) -> Any:
    """Build it, the same numbers for the same seed: float [batch, frames, bands] -> [batch, fewer frames, symbols]."""
    torch = torch_for("the trainable recognizer")
    state = torch.get_rng_state()
    torch.manual_seed(seed)
    try:
        second = shape.subsampling // 2
        layers = [_transposed(), _strided(shape.bands, shape.width, 2), _strided(shape.width, shape.width, second)]
        layers += [_block(shape) for _ in range(shape.blocks)]
        layers += [torch.nn.Conv1d(shape.width, shape.symbols, 1), _transposed()]
        return torch.nn.Sequential(*layers)
    finally:
        torch.set_rng_state(state)


def ctc_loss(scores: Any, frames: Any, texts: Any, lengths: Any) -> Any:
    """Mean over the batch of the CTC loss per symbol; texts that do not fit into their frames count zero."""
    torch = torch_for("the trainable recognizer")
    logs = torch.log_softmax(scores, dim=-1).transpose(0, 1)
    return torch.nn.functional.ctc_loss(logs, texts, frames, lengths, blank=0, reduction="mean", zero_infinity=True)


def _transposed() -> Any:
    """Swap bands and time."""
    torch = torch_for("the trainable recognizer")

    class Transpose(torch.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, x: Any) -> Any:
            return x.transpose(1, 2)

    return Transpose()


def _strided(inside: int, outside: int, stride: int) -> Any:
    torch = torch_for("the trainable recognizer")
    return torch.nn.Sequential(torch.nn.Conv1d(inside, outside, 3, stride=stride, padding=1), torch.nn.GELU())


def _block(shape: RecognizerShape) -> Any:
    """One residual block: layer norm, depthwise convolution, pointwise convolutions."""
    torch = torch_for("the trainable recognizer")
    around = torch.nn.Conv1d(shape.width, shape.width, shape.kernel, padding=shape.kernel // 2, groups=shape.width)

    class RecognizerBlock(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.norm = torch.nn.LayerNorm(shape.width)
            self.around = around
            self.up = torch.nn.Conv1d(shape.width, 2 * shape.width, 1)
            self.down = torch.nn.Conv1d(2 * shape.width, shape.width, 1)

        def forward(self, x: Any) -> Any:
            y = self.around(self.norm(x.transpose(1, 2)).transpose(1, 2))
            return x + self.down(torch.nn.functional.gelu(self.up(y)))

    return RecognizerBlock()
