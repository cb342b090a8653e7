"""HuBERT (hsu2021hubert) as the teacher of C0, from a user's local weights: frames of a middle layer, 50 per second.

Tensors have the names of the checkpoints on the model hub (base size and multilingual relatives; pytorch_model.bin).
The paper distils from the ninth layer of a multilingual HuBERT. Output of layer n: after n transformer layers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from personare.codecs.published import checkpoint
from personare.core.errors import ConfigError, WeightsError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

STRIDES = (5, 2, 2, 2, 2, 2, 2)
KERNELS = (10, 3, 3, 3, 3, 2, 2)
PAPER_LAYER = 9
HEAD_WIDTH = 64
_UNUSED = ("masked_spec_embed", "lm_head.", "classifier.", "projector.")
_SHORTEST = 400  # samples that give one frame


class _Front(nn.Module):
    """A convolution without bias; the first is normalised per channel over time."""

    def __init__(self, source: int, width: int, kernel: int, stride: int, *, normed: bool) -> None:
        super().__init__()
        self.conv = nn.Conv1d(source, width, kernel, stride=stride, bias=False)
        self.layer_norm = nn.GroupNorm(width, width) if normed else nn.Identity()

    def forward(self, x: Any) -> Any:
        return nn.functional.gelu(self.layer_norm(self.conv(x)))


class _HubertLayer(nn.Module):
    """A transformer layer, normalised after each part."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        projections = {name: nn.Linear(width, width) for name in ("k_proj", "v_proj", "q_proj", "out_proj")}
        self.attention = nn.ModuleDict(projections)
        self.layer_norm = nn.LayerNorm(width)
        dense = {"intermediate_dense": nn.Linear(width, inner), "output_dense": nn.Linear(inner, width)}
        self.feed_forward = nn.ModuleDict(dense)
        self.final_layer_norm = nn.LayerNorm(width)
        self.heads = max(1, width // HEAD_WIDTH)

    def forward(self, x: Any) -> Any:
        batch, frames, width = x.shape
        q, k, v = (
            self.attention[name](x).reshape(batch, frames, self.heads, -1).transpose(1, 2)
            for name in ("q_proj", "k_proj", "v_proj")
        )
        mixed = nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, frames, width)
        x = self.layer_norm(x + self.attention["out_proj"](mixed))
        inner = nn.functional.gelu(self.feed_forward["intermediate_dense"](x))
        return self.final_layer_norm(x + self.feed_forward["output_dense"](inner))


class HubertNetwork(nn.Module):
    """The front end and the first ``layers`` transformer layers."""

    def __init__(self, *, front: int, width: int, inner: int, layers: int, positions: int, groups: int) -> None:
        super().__init__()
        sources = [1, *[front] * (len(STRIDES) - 1)]
        convolutions = nn.ModuleList(
            _Front(source, front, kernel, stride, normed=index == 0)
            for index, (source, kernel, stride) in enumerate(zip(sources, KERNELS, STRIDES, strict=True))
        )
        self.feature_extractor = nn.ModuleDict({"conv_layers": convolutions})
        self.feature_projection = nn.ModuleDict(
            {"layer_norm": nn.LayerNorm(front), "projection": nn.Linear(front, width)}
        )
        place = nn.Conv1d(width, width, positions, padding=positions // 2, groups=groups)
        self.encoder = nn.ModuleDict(
            {
                "pos_conv_embed": nn.ModuleDict({"conv": place}),
                "layer_norm": nn.LayerNorm(width),
                "layers": nn.ModuleList(_HubertLayer(width, inner) for _ in range(layers)),
            }
        )

    def forward(self, samples: Any) -> Any:
        """[n] -> [frames, width]."""
        x = samples[None, None]
        for convolution in self.feature_extractor["conv_layers"]:
            x = convolution(x)
        x = x.transpose(1, 2)
        x = self.feature_projection["projection"](self.feature_projection["layer_norm"](x))
        place = self.encoder["pos_conv_embed"]["conv"](x.transpose(1, 2))
        place = nn.functional.gelu(place[..., : x.shape[1]]).transpose(1, 2)
        x = self.encoder["layer_norm"](x + place)
        for layer in self.encoder["layers"]:
            x = layer(x)
        return x[0]


@dataclass(frozen=True)
class Hubert:
    """A teacher: 16 kHz samples in, frames [n, width] at 50 Hz out.

    Parameters
    ----------
    weights : your copy of a HuBERT checkpoint (pytorch_model.bin).
    layer : after how many transformer layers the frames are taken.
    normalize : bring each recording to mean 0 and variance 1 first, as the published models expect.
    """

    weights: str = ""
    layer: int = PAPER_LAYER
    normalize: bool = True

    def __post_init__(self) -> None:
        if self.layer < 1:
            raise ConfigError(f"layer must be at least 1, not {self.layer}")

    @property
    def fingerprint(self) -> str:
        """The exact weights and layer."""
        _opened(self.weights, self.layer)
        return f"hubert-{checkpoint.digest_of(self.weights)}-{self.layer}-{int(self.normalize)}"

    def __call__(self, samples: Floats) -> Floats:
        """Listen to one recording."""
        padded = np.pad(samples, (0, max(0, _SHORTEST - len(samples))))
        if self.normalize:
            padded = (padded - padded.mean()) / np.sqrt(padded.var() + 1e-7)
        with torch.no_grad():
            found: Floats = _opened(self.weights, self.layer)(torch.from_numpy(padded.astype(np.float32))).numpy()
        return found


@lru_cache(maxsize=1)
def _opened(path: str, layer: int) -> Any:
    """Open the network up to a layer; sizes are read from the tensors."""
    state, _ = checkpoint.read_state(path, codec="the teacher HuBERT", published="pytorch_model.bin of HuBERT base")
    state = {name.removeprefix("hubert."): value for name, value in state.items()}
    try:
        place = state["encoder.pos_conv_embed.conv.weight"]
        inner, width = state["encoder.layers.0.feed_forward.intermediate_dense.weight"].shape
        there = len({name.split(".")[2] for name in state if name.startswith("encoder.layers.")})
        front = state["feature_projection.projection.weight"].shape[1]
    except (KeyError, ValueError) as error:
        raise WeightsError(f"{path}: not HuBERT's weights ({error})") from None
    if layer > there:
        raise ConfigError(f"{path}: has {there} layers; layer {layer} is not among them")
    network = HubertNetwork(
        front=front, width=width, inner=inner, layers=layer, positions=place.shape[2], groups=width // place.shape[1]
    )
    later = tuple(f"encoder.layers.{index}." for index in range(layer, there))
    checkpoint.fill(network, state, where=path, unused=(*_UNUSED, *later))
    return network
