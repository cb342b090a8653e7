"""The trained voice as an ONNX graph: content, prosody and a speaker vector in, log-strengths of bands out.

Weights are kept in half precision and widened when the graph is opened: half the size, and a difference far below what
can be heard (``difference`` measures it).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.encoders.graphs import Graph, opened
from personare.nn.torch_extra import torch_for
from personare.nn.voice import NORM_EPSILON, VOICE_SCALE, Shape, described

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FLOAT32 = 1  # ONNX's number for it


@dataclass(frozen=True)
class _Writer:
    """A graph being written from named tensors."""

    graph: Graph
    tensors: Mapping[str, NDArray[Any]]

    def weight(self, values: NDArray[Any]) -> str:
        """Keep a tensor in half precision and widen it where it is used."""
        return self.graph.add("Cast", self.graph.constant(values.astype(np.float16)), to=_FLOAT32)

    def linear(self, name: str, x: str) -> str:
        product = self.graph.add("MatMul", x, self.weight(self.tensors[f"{name}.weight"]))
        return self.graph.add("Add", product, self.weight(self.tensors[f"{name}.bias"]))

    def silu(self, x: str) -> str:
        return self.graph.add("Mul", x, self.graph.add("Sigmoid", x))

    def over_time(self, name: str, x: str) -> str:
        weight = self.tensors[f"{name}.weight"].T[:, None]
        reach = (weight.shape[2] - 1) // 2
        inputs = self.graph.add("Transpose", x, perm=[0, 2, 1]), self.weight(weight)
        bias = self.weight(self.tensors[f"{name}.bias"])
        y = self.graph.add("Conv", *inputs, bias, group=len(weight), pads=[reach, reach])
        return self.graph.add("Transpose", y, perm=[0, 2, 1])

    def bent(self, name: str, x: str, who: str, width: int) -> str:
        film = self.graph.add("Unsqueeze", self.linear(name, who), self.graph.whole(1))
        parts = [
            self.graph.add("Slice", film, self.graph.whole(first), self.graph.whole(first + width), self.graph.whole(2))
            for first in (0, width)
        ]
        one = self.graph.constant(np.ones(1, np.float32))
        ones = self.graph.constant(np.ones(width, np.float32))
        normed = self.graph.add("LayerNormalization", x, ones, axis=-1, epsilon=NORM_EPSILON)
        return self.graph.add("Add", self.graph.add("Mul", normed, self.graph.add("Add", parts[0], one)), parts[1])


def encoded(tensors: Mapping[str, NDArray[Any]], shape: Shape) -> bytes:
    """Write the graph from the network's arrays by name."""
    graph = Graph()
    write = _Writer(graph, tensors)
    x = graph.add("Add", write.linear("content", "content"), write.linear("prosody", "prosody"))
    scaled = graph.add("Mul", "voice", graph.constant(np.array([VOICE_SCALE], np.float32)))
    who = write.silu(write.linear("voice", scaled))
    for block in range(shape.blocks):
        name = f"block{block}"
        y = write.bent(f"film{block}", write.over_time(f"{name}.time", x), who, shape.width)
        x = graph.add("Add", x, write.linear(f"{name}.down", write.silu(write.linear(f"{name}.up", y))))
    logs = write.linear("head", write.bent(f"film{shape.blocks}", x, who, shape.width))
    also: dict[str, list[int | str]] = {"prosody": ["batch", "frames", shape.prosody], "voice": ["batch", shape.voice]}
    return graph.encode(
        "content", ["batch", "frames", shape.content], logs, ["batch", "frames", shape.bands], also=also
    )


def exported(tensors: Mapping[str, Any], shape: Shape) -> tuple[bytes, float]:
    """Write a trained network and measure how far its graph is from it (natural logarithms of strength, at most)."""
    torch = torch_for("exporting the voice")
    network = {name: tensor.detach() for name, tensor in tensors.items() if not name.startswith("judge")}
    graph = encoded({name: tensor.numpy() for name, tensor in network.items()}, shape)
    rng = np.random.default_rng(0)
    sizes = {"content": (1, 50, shape.content), "prosody": (1, 50, shape.prosody), "voice": (1, shape.voice)}
    inputs = {name: rng.standard_normal(size, dtype=np.float32) for name, size in sizes.items()}
    inputs["voice"] /= np.linalg.norm(inputs["voice"])
    with torch.no_grad():
        expected = described(network, *(torch.from_numpy(inputs[name]) for name in sizes), blocks=shape.blocks).numpy()
    found = opened(graph, 1).run(None, inputs)[0]
    return graph, float(np.abs(found - expected).max())
