"""The network of the neural synthesizer: content, prosody and a speaker vector in, the levels of spectral bands out.

ConvNeXt blocks over time; the speaker vector scales and shifts every block (FiLM). Arrays are [batch, frames,
channels]. For each frame of 12 ms the network gives, twice, the levels of 80 bands of the harmonic part and 40 bands
of the noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from personare.core.errors import ConfigError
from personare.core.seeding import Key, rng_for
from personare.training.torch_extra import torch_for

Tensors = dict[str, Any]
NORM_EPSILON = 1e-5
VOICE_SCALE = 16.0  # a vector of length 1 in 256 dimensions has numbers around 1/16


@dataclass(frozen=True)
class SynthesizerShape:
    """The sizes of the network.

    Parameters
    ----------
    content, prosody, voice : numbers that come in per frame, per frame, and per utterance; ``prosody`` may be 0.
    bands : numbers that go out per frame.
    width, blocks, expansion : of the ConvNeXt blocks; ``reach`` frames to either side are seen by each.
    voice_width : of the layer between the speaker vector and the blocks.
    """

    content: int = 288
    prosody: int = 6
    voice: int = 256
    bands: int = 240
    width: int = 384
    blocks: int = 6
    expansion: int = 2
    reach: int = 3
    voice_width: int = 128

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < (least := 0 if name == "prosody" else 1):
                raise ConfigError(f"the synthesizer's {name} must be at least {least}, not {value}")


def new_tensors(shape: SynthesizerShape, *, key: Key, start_log: float = -6.0) -> Tensors:
    """Draw the tensors of a new network; ``start_log`` is the level of every band before training."""
    torch = torch_for("a new network")
    sizes: dict[str, tuple[int, ...]] = {
        "content.weight": (shape.content, shape.width),
        **({"prosody.weight": (shape.prosody, shape.width)} if shape.prosody else {}),
        "voice.weight": (shape.voice, shape.voice_width),
        "head.weight": (shape.width, shape.bands),
    }
    for block in range(shape.blocks):
        sizes[f"block{block}.time.weight"] = (2 * shape.reach + 1, shape.width)
        sizes[f"block{block}.up.weight"] = (shape.width, shape.expansion * shape.width)
        sizes[f"block{block}.down.weight"] = (shape.expansion * shape.width, shape.width)
    for block in range(shape.blocks + 1):
        sizes[f"film{block}.weight"] = (shape.voice_width, 2 * shape.width)
    tensors: Tensors = {}
    for name, size in sizes.items():
        spread = (0.1 if name.startswith(("film", "head")) or ".down." in name else 1.0) / np.sqrt(size[0])
        values = rng_for(key, "weights", name).normal(0.0, spread, size)
        tensors[name] = torch.from_numpy(values.astype(np.float32)).requires_grad_(True)
        bias = np.full(size[1], start_log if name.startswith("head") else 0.0, np.float32)
        tensors[name.replace("weight", "bias")] = torch.from_numpy(bias).requires_grad_(True)
    return tensors


def band_levels(tensors: Tensors, content: Any, prosody: Any, voice: Any, *, blocks: int, there: Any = None) -> Any:
    """Give the level of every band, in natural logarithms: [batch, frames, bands]; ``prosody`` None: no such input.

    ``there`` [batch, frames] is 0 behind the end of what is shorter than the rest: no frame sees beyond its end.
    """
    functional = torch_for("the synthesizer's network").nn.functional
    x = _linear(tensors, "content", content)
    if prosody is not None:
        x = x + _linear(tensors, "prosody", prosody)
    speaker = functional.silu(_linear(tensors, "voice", voice * VOICE_SCALE))
    for block in range(blocks):
        name = f"block{block}"
        x = x if there is None else x * there.unsqueeze(2)
        y = _film(tensors, f"film{block}", _over_time(tensors, f"{name}.time", x), speaker)
        x = x + _linear(tensors, f"{name}.down", functional.silu(_linear(tensors, f"{name}.up", y)))
    return _linear(tensors, "head", _film(tensors, f"film{blocks}", x, speaker))


def _linear(tensors: Tensors, name: str, x: Any) -> Any:
    return x @ tensors[f"{name}.weight"] + tensors[f"{name}.bias"]


def _over_time(tensors: Tensors, name: str, x: Any) -> Any:
    """Convolve each channel over time, zeros beyond the ends."""
    functional = torch_for("the synthesizer's network").nn.functional
    weight = tensors[f"{name}.weight"].t().unsqueeze(1)
    reach = (weight.shape[2] - 1) // 2
    y = functional.conv1d(x.transpose(1, 2), weight, tensors[f"{name}.bias"], padding=reach, groups=x.shape[2])
    return y.transpose(1, 2)


def _film(tensors: Tensors, name: str, x: Any, speaker: Any) -> Any:
    """Normalise each frame over its channels, then scale and shift it as the speaker vector says."""
    torch = torch_for("the synthesizer's network")
    scale, shift = _linear(tensors, name, speaker).unsqueeze(1).chunk(2, dim=2)
    return torch.nn.functional.layer_norm(x, x.shape[-1:], eps=NORM_EPSILON) * (1 + scale) + shift
