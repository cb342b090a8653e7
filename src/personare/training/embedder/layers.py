"""Building blocks of speaker networks: a network is a table of named tensors and a function that uses them.

Inputs are [batch, channels, frames]. ``tensors`` is the whole table; ``name`` says whose weights a layer takes, in the
words of the published checkpoints (``blocks.1.tdnn1.conv.conv.weight``), so that a table can be filled from one of them
and handed to whatever writes a graph from one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from personare.core.seeding import Key, rng_for
from personare.training.torch_extra import torch_for

Tensors = Mapping[str, Any]
BN_EPSILON = 1e-5
STD_EPSILON = 1e-12
MOMENTUM = 0.1  # how fast the running statistics of a normalisation follow the batches
RUNNING = ("running_mean", "running_var")


@dataclass(frozen=True)
class Conv:
    """A convolution over time to be made: its name and sizes."""

    name: str
    source: int
    target: int
    width: int = 1


@dataclass(frozen=True)
class Norm:
    """A normalisation per channel to be made."""

    name: str
    channels: int


def draw(layers: Iterable[Conv | Norm], *, key: Key) -> dict[str, Any]:
    """Make the tensors of new layers; each is drawn from the key and its own name, hence alike on every machine.

    Convolutions are uniform within 1 / sqrt(inputs), as torch draws them; normalisations begin as the identity.
    """
    torch = torch_for("a new network")
    tensors: dict[str, Any] = {}
    for layer in layers:
        for name, values in _values(layer, key).items():
            tensors[name] = torch.from_numpy(values.astype(np.float32)).requires_grad_(not name.endswith(RUNNING))
    return tensors


def _values(layer: Conv | Norm, key: Key) -> dict[str, np.ndarray[Any, Any]]:
    if isinstance(layer, Norm):
        starts = {"weight": 1.0, "bias": 0.0, "running_mean": 0.0, "running_var": 1.0}
        return {f"{layer.name}.norm.{part}": np.full(layer.channels, value) for part, value in starts.items()}
    reach = 1 / np.sqrt(layer.source * layer.width)
    rng = rng_for(key, "weights", layer.name)
    weight = rng.uniform(-reach, reach, (layer.target, layer.source, layer.width))
    return {f"{layer.name}.weight": weight, f"{layer.name}.bias": rng.uniform(-reach, reach, layer.target)}


def convolved(tensors: Tensors, name: str, x: Any, *, dilation: int = 1) -> Any:
    """Convolve over time, reflect-padded to the same length."""
    functional = torch_for("a convolution").nn.functional
    weight = tensors[f"{name}.weight"]
    reach = dilation * (weight.shape[2] - 1) // 2
    if reach:
        x = functional.pad(x, (reach, reach), mode="reflect")
    return functional.conv1d(x, weight, tensors[f"{name}.bias"], dilation=dilation)


def normed(tensors: Tensors, name: str, x: Any, *, training: bool) -> Any:
    """Normalise each channel; in training by the batch, else by the running statistics. A frozen layer stays."""
    functional = torch_for("a normalisation").nn.functional
    weight, bias, mean, var = (tensors[f"{name}.norm.{part}"] for part in ("weight", "bias", *RUNNING))
    by_batch = training and weight.requires_grad
    return functional.batch_norm(x, mean, var, weight, bias, training=by_batch, momentum=MOMENTUM, eps=BN_EPSILON)


def tdnn(tensors: Tensors, name: str, x: Any, *, training: bool, dilation: int = 1) -> Any:
    """One layer of a time-delay network: convolution, ReLU, normalisation."""
    return normed(
        tensors, f"{name}.norm", convolved(tensors, f"{name}.conv.conv", x, dilation=dilation).relu(), training=training
    )


def tdnn_layers(name: str, source: int, target: int, width: int = 1) -> list[Conv | Norm]:
    """What ``tdnn`` needs."""
    return [Conv(f"{name}.conv.conv", source, target, width), Norm(f"{name}.norm", target)]


def statistics(x: Any, attention: Any = None) -> Any:
    """Mean and standard deviation over time, stacked [batch, 2 channels, 1]; weighted by attention that sums to 1."""
    torch = torch_for("pooling over time")
    shares = 1 / x.shape[2] if attention is None else attention
    mean = (x * shares).sum(2, keepdim=True)
    variance = ((x - mean).square() * shares).sum(2, keepdim=True)
    return torch.cat([mean, variance.clamp_min(STD_EPSILON).sqrt()], dim=1)
