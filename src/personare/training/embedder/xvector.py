"""The x-vector network: the classic speaker embedder, small and quick, of any width; in torch, and as an ONNX graph.

Five time-delay layers that see 15 frames, the mean and standard deviation over time, one affine layer whose output is
the vector [snyder2018xvectors, table 1].
Deviations: reflect padding keeps the number of frames; segment7 is left out, because a margin softmax classifies the
vector itself, after one normalisation that centres it; 80 decibel mels stand in for 24 filter banks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from personare.encoders import ecapa_graph
from personare.encoders.graphs import OnnxGraph
from personare.training.embedder.layers import Conv, Norm, Tensors, convolved, normed, statistics, tdnn, tdnn_layers

if TYPE_CHECKING:
    from numpy.typing import NDArray

# width and dilation of frame1..frame5: t-2..t+2; t-2, t, t+2; t-3, t, t+3; t; t
CONTEXTS = ((5, 1), (3, 2), (3, 3), (1, 1), (1, 1))


def xvector_layers(*, channels: int, frame_channels: int, dimensions: int = 512, mels: int = 80) -> list[Conv | Norm]:
    """List the layers."""
    sizes = [mels, *[channels] * (len(CONTEXTS) - 1), frame_channels]
    layers: list[Conv | Norm] = []
    for i, (width, _) in enumerate(CONTEXTS):
        layers += tdnn_layers(f"frame{i + 1}", sizes[i], sizes[i + 1], width)
    return [*layers, Conv("segment6.conv", 2 * frame_channels, dimensions), Norm("segment6.norm", dimensions)]


def xvector(tensors: Tensors, mels: Any, *, training: bool) -> Any:
    """Turn mel frames [batch, 80, frames] into vectors [batch, dimensions]."""
    hidden = mels
    for i, (_, dilation) in enumerate(CONTEXTS):
        hidden = tdnn(tensors, f"frame{i + 1}", hidden, dilation=dilation, training=training)
    vector = convolved(tensors, "segment6.conv", statistics(hidden))
    return normed(tensors, "segment6.norm", vector, training=training)[:, :, 0]


def build(tensors: Mapping[str, NDArray[Any]], *, metadata: Mapping[str, str] | None = None) -> bytes:
    """Write the graph: mels [batch, 80, frames] -> vector [batch, dimensions]."""
    layers, graph = ecapa_graph.Layers(tensors), OnnxGraph()
    hidden = ecapa_graph.in_two_dimensions(graph, "mels")
    for i, (_, dilation) in enumerate(CONTEXTS):
        name = f"frame{i + 1}"
        hidden = ecapa_graph.tdnn(graph, layers, name, hidden, dilation)
        hidden = ecapa_graph.normed(graph, hidden, layers.norm(f"{name}.norm"))
    weight, bias = layers.conv("segment6.conv")
    last = layers.norm("segment6.norm")  # merged into the affine layer before it
    weight, bias = weight * last.scale[:, None, None], bias * last.scale + last.shift
    vector = ecapa_graph.conv(graph, ecapa_graph.statistics(graph, hidden, None), weight, bias)
    shape: list[int | str] = ["batch", ecapa_graph.N_MELS, "frames"]
    flat = graph.add("Flatten", vector, axis=1)
    return graph.encode("mels", shape, flat, ["batch", len(bias)], metadata=metadata)
