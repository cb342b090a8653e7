"""The trained x-vector network as a graph: mel frames in, speaker vector out, without torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.attackers import ecapa_graph
from personare.encoders.graphs import Graph
from personare.nn.xvector import CONTEXTS

if TYPE_CHECKING:
    from numpy.typing import NDArray


def build(tensors: Mapping[str, NDArray[Any]]) -> bytes:
    """Write the graph: mels [batch, 80, frames] -> vector [batch, dimensions]."""
    layers, graph = ecapa_graph.Layers(tensors), Graph()
    hidden = "mels"
    for i, (_, dilation) in enumerate(CONTEXTS):
        name = f"frame{i + 1}"
        hidden = ecapa_graph.tdnn(graph, layers, name, hidden, dilation)
        hidden = ecapa_graph.normed(graph, hidden, layers.norm(f"{name}.norm"))
    weight, bias = layers.conv("segment6.conv")
    last = layers.norm("segment6.norm")  # merged into the affine layer before it
    weight, bias = weight * last.scale[:, None, None], bias * last.scale + last.shift
    vector = ecapa_graph.conv(graph, ecapa_graph.statistics(graph, hidden, None), weight, bias)
    shape: list[int | str] = ["batch", ecapa_graph.N_MELS, "frames"]
    return graph.encode("mels", shape, graph.add("Flatten", vector, axis=1), ["batch", int(np.shape(bias)[0])])
