"""ECAPA-TDNN as a graph: how SpeechBrain's published VoxCeleb weights turn mel frames into a speaker vector.

The architecture is that of desplanques2020ecapa (1024 channels, three SE-Res2 blocks with dilations 2, 3, 4, Res2Net
scale 8, attention over time and channels with global context), with SpeechBrain's order inside a layer (convolution,
ReLU, batch normalisation) and its reflect padding.
Deviations: none in what is computed; batch normalisations are merged into their neighbours where that is exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.encoders.graphs import OnnxGraph

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_MELS = 80
N_DIMENSIONS = 192
DILATIONS = (2, 3, 4)  # of the three SE-Res2 blocks
SCALE = 8  # Res2Net: the channels are cut into so many parts
TIME = 3  # [batch, channels, 1, frames]: the runtime convolves over two dimensions a quarter faster than over one
_BN_EPSILON = 1e-5
_STD_EPSILON = 1e-12
_NOTHING = 1e-30


@dataclass(frozen=True, eq=False)
class Affine:
    """Batch normalisation at rest: x -> scale x + shift, per channel."""

    scale: NDArray[np.float64]
    shift: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Layers:
    """The checkpoint's tensors by layer."""

    tensors: Mapping[str, NDArray[Any]]

    def conv(self, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weight [out, in, width] and bias [out]."""
        return self.tensors[f"{name}.weight"].astype(np.float64), self.tensors[f"{name}.bias"].astype(np.float64)

    def norm(self, name: str) -> Affine:
        """The normalisation as scale and shift."""
        weight, bias, mean, var = (
            self.tensors[f"{name}.norm.{part}"].astype(np.float64)
            for part in ("weight", "bias", "running_mean", "running_var")
        )
        scale = weight / np.sqrt(var + _BN_EPSILON)
        return Affine(scale, bias - mean * scale)


def build(tensors: Mapping[str, NDArray[Any]], *, metadata: Mapping[str, str] | None = None) -> bytes:
    """Write the graph: mels [batch, 80, frames] -> vector [batch, 192], or as long as the weights make it."""
    layers, graph = Layers(tensors), OnnxGraph()
    vector = graph.add("Flatten", _embedded(graph, layers, _aggregated(graph, layers)), axis=1)
    size = len(tensors["fc.conv.bias"])
    return graph.encode("mels", ["batch", N_MELS, "frames"], vector, ["batch", size], metadata=metadata)


def build_pooled(tensors: Mapping[str, NDArray[Any]]) -> bytes:
    """Write the graph without its last layer: mels [batch, 80, frames] -> what that layer takes, [batch, 6144]."""
    layers, graph = Layers(tensors), OnnxGraph()
    pooled = _attended(graph, layers, _aggregated(graph, layers))
    vector = graph.add("Flatten", normed(graph, pooled, _before_last(layers)), axis=1)
    return graph.encode("mels", ["batch", N_MELS, "frames"], vector, ["batch", len(_before_last(layers).scale)])


def _aggregated(graph: OnnxGraph, layers: Layers) -> str:
    """Everything that sees frames: [batch, 3072, 1, frames], before its normalisation."""
    first = tdnn(graph, layers, "blocks.0", in_two_dimensions(graph, "mels"))
    hidden = normed(graph, first, layers.norm("blocks.0.norm"))
    outputs = []
    for index, dilation in enumerate(DILATIONS, start=1):
        hidden = _se_res2(graph, layers, f"blocks.{index}", hidden, dilation)
        outputs.append(hidden)
    return tdnn(graph, layers, "mfa", graph.add("Concat", *outputs, axis=1))


def _f32(values: NDArray[Any]) -> NDArray[np.float32]:
    """Round to float32, with what is next to nothing as nothing.

    Channels that died in training left weights around 1e-40: too small to matter, but numbers below float32's normal
    range are computed some hundred times slower, and cost a quarter of the network's time.
    """
    return np.where(np.abs(values) < _NOTHING, 0, values).astype(np.float32)


def in_two_dimensions(graph: OnnxGraph, source: str) -> str:
    """Give [batch, channels, frames] the shape that all layers here take: [batch, channels, 1, frames]."""
    return graph.add("Unsqueeze", source, graph.whole(2))


def conv(graph: OnnxGraph, source: str, weight: NDArray[Any], bias: NDArray[Any], dilation: int = 1) -> str:
    """Convolve over time, reflect-padded to the same length."""
    reach = dilation * (weight.shape[2] - 1) // 2
    if reach:
        source = graph.add("Pad", source, graph.whole(0, 0, 0, reach, 0, 0, 0, reach), mode="reflect")
    weight_name, bias_name = graph.constant(_f32(weight[:, :, None])), graph.constant(_f32(bias))
    return graph.add("Conv", source, weight_name, bias_name, dilations=[1, dilation])


def tdnn(graph: OnnxGraph, layers: Layers, name: str, source: str, dilation: int = 1) -> str:
    """Convolution and ReLU; the layer's normalisation is left to the caller, who may merge it."""
    return graph.add("Relu", conv(graph, source, *layers.conv(f"{name}.conv.conv"), dilation))


def normed(graph: OnnxGraph, source: str, norm: Affine) -> str:
    """Normalise each channel."""
    scaled = graph.add("Mul", source, graph.constant(_f32(norm.scale[:, None, None])))
    return graph.add("Add", scaled, graph.constant(_f32(norm.shift[:, None, None])))


def _se_res2(graph: OnnxGraph, layers: Layers, name: str, source: str, dilation: int) -> str:
    """One SE-Res2 block: 1x1 layer, Res2Net, 1x1 layer, squeeze-excitation, shortcut."""
    hidden = normed(graph, tdnn(graph, layers, f"{name}.tdnn1", source), layers.norm(f"{name}.tdnn1.norm"))
    hidden = _res2(graph, layers, f"{name}.res2net_block", hidden, dilation)
    hidden = tdnn(graph, layers, f"{name}.tdnn2", hidden)
    norm = layers.norm(f"{name}.tdnn2.norm")
    # squeeze: the mean over time passes through the affine norm, so the norm is merged into the first small layer
    weight, bias = layers.conv(f"{name}.se_block.conv1.conv")
    mean = graph.add("ReduceMean", hidden, graph.whole(TIME), keepdims=1)
    small = graph.add("Relu", conv(graph, mean, weight * norm.scale[:, None], bias + weight[:, :, 0] @ norm.shift))
    gate = graph.add("Sigmoid", conv(graph, small, *layers.conv(f"{name}.se_block.conv2.conv")))
    # (scale x + shift) gate + shortcut, with the small products first
    scaled = graph.add("Mul", hidden, graph.add("Mul", gate, graph.constant(_f32(norm.scale[:, None, None]))))
    shifted = graph.add("Add", source, graph.add("Mul", gate, graph.constant(_f32(norm.shift[:, None, None]))))
    return graph.add("Add", scaled, shifted)


def _res2(graph: OnnxGraph, layers: Layers, name: str, source: str, dilation: int) -> str:
    """Res2Net: part 0 passes, part i is convolved together with the result of part i - 1."""
    parts = [f"{source}_part{i}" for i in range(SCALE)]
    graph.add_node("Split", [source], parts, axis=1, num_outputs=SCALE)
    done = [parts[0]]
    for index, part in enumerate(parts[1:]):
        mixed = part if index == 0 else graph.add("Add", part, done[-1])
        hidden = tdnn(graph, layers, f"{name}.blocks.{index}", mixed, dilation)
        done.append(normed(graph, hidden, layers.norm(f"{name}.blocks.{index}.norm")))
    return graph.add("Concat", *done, axis=1)


def _attended(graph: OnnxGraph, layers: Layers, x: str) -> str:
    """Attentive statistics of ``x`` with global context: [batch, 6144, 1, 1].

    ``x`` is the multi-layer aggregate before its normalisation y = a x + b, which is merged into every use:
    mean_y = a mean_x + b, std_y = |a| std_x.
    """
    norm = layers.norm("mfa.norm")
    size, a = len(norm.scale), norm.scale
    weight, bias = layers.conv("asp.tdnn.conv.conv")
    on_x, on_mean, on_std = weight[:, :size], weight[:, size : 2 * size], weight[:, 2 * size :]
    bias = bias + (on_x[:, :, 0] + on_mean[:, :, 0]) @ norm.shift
    # the context is the same at every moment: its share of the product is computed once
    context_weight = np.concatenate([on_mean * a[:, None], on_std * np.abs(a)[:, None]], axis=1)
    context = conv(graph, statistics(graph, x, None), context_weight, bias)
    local = conv(graph, x, on_x * a[:, None], np.zeros(len(bias)))
    hidden = graph.add("Relu", graph.add("Add", local, context))
    hidden = graph.add("Tanh", normed(graph, hidden, layers.norm("asp.tdnn.norm")))
    attention = graph.add("Softmax", conv(graph, hidden, *layers.conv("asp.conv.conv")), axis=TIME)
    return statistics(graph, x, attention)


def _before_last(layers: Layers) -> Affine:
    """Both normalisations that lie between the statistics of ``x`` and the last layer, as one."""
    norm, last = layers.norm("mfa.norm"), layers.norm("asp_bn")
    nothing = np.zeros(len(norm.shift))
    return Affine(
        last.scale * np.concatenate([norm.scale, np.abs(norm.scale)]),
        last.shift + last.scale * np.concatenate([norm.shift, nothing]),
    )


def _embedded(graph: OnnxGraph, layers: Layers, x: str) -> str:
    """The last linear layer on the statistics, with the normalisations before it merged: [batch, 192, 1, 1]."""
    between = _before_last(layers)
    weight, bias = layers.conv("fc.conv")
    bias = bias + weight[:, :, 0] @ between.shift
    return conv(graph, _attended(graph, layers, x), weight * between.scale[:, None], bias)


def statistics(graph: OnnxGraph, x: str, attention: str | None) -> str:
    """Mean and standard deviation over time, stacked; plain, or weighted by attention that sums to 1."""
    time = graph.whole(TIME)

    def average(values: str) -> str:
        if attention is None:
            return graph.add("ReduceMean", values, time, keepdims=1)
        return graph.add("ReduceSum", graph.add("Mul", values, attention), time, keepdims=1)

    mean = average(x)
    away = graph.add("Sub", x, mean)
    variance = average(graph.add("Mul", away, away))
    floor = graph.constant(np.array([_STD_EPSILON], np.float32))
    return graph.add("Concat", mean, graph.add("Sqrt", graph.add("Max", variance, floor)), axis=1)
