"""A tiny universal speech codec with random weights, exported as a trained one is: enough to test all plumbing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from personare.training.usc.small_network import SmallCodec, SmallShape

VOICES = ("a", "b")


def tiny_shape() -> SmallShape:
    """Sizes of a network that costs nothing."""
    from personare.training.usc.small_network import SmallShape

    return SmallShape(
        width=24, hidden=32, content_blocks=1, mel_blocks=1, decoder_width=24, decoder_hidden=32, decoder_blocks=2,
        sound_width=16, sound_blocks=1, semantic_codes=256, acoustic_codes=32, dims=4, condition=8,
    )  # fmt: skip


def tiny_network(shape: SmallShape, *, seed: int = 0) -> SmallCodec:
    """A network whose residual levels have started."""
    torch = pytest.importorskip("torch")
    from personare.training.usc.small_network import SmallCodec

    torch.manual_seed(seed)
    network = SmallCodec(shape)
    network.acoustic.start(torch.randn(600, shape.width), torch.Generator().manual_seed(seed))
    network.eval()
    return network


def write_tiny_codec(folder: Path, *, seed: int = 0) -> Path:
    """Export it; skips where torch is not installed."""
    pytest.importorskip("torch")
    from personare.codecs.usc import export
    from personare.training.usc import grid

    network = tiny_network(tiny_shape(), seed=seed)
    tensors = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    voices = {name: np.random.default_rng(n).normal(0, 1 / 16, 256).astype(np.float32) for n, name in enumerate(VOICES)}
    export.write_codec(folder, tensors, sounds=grid.SOUNDS, voices=voices, card={"front": "split", "seed": seed})
    return folder
