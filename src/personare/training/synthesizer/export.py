"""The trained synthesizer as an ONNX graph: content, prosody and a speaker vector in, log levels of bands out.

Weights are kept in half precision and widened when the graph is opened: half the size, and a difference far below what
can be heard (``difference`` measures it). Where size counts more they are kept in 8 bits, with a factor for each
column: a quarter of the size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import WeightsError
from personare.core.onnx_format import decode_model
from personare.core.seeding import Key
from personare.core.sessions import open_session
from personare.encoders.graphs import OnnxGraph
from personare.training.synthesizer.network import (
    NORM_EPSILON,
    VOICE_SCALE,
    SynthesizerShape,
    band_levels,
    new_tensors,
)
from personare.training.synthesizer.spectral_losses import DISCRIMINATOR
from personare.training.torch_extra import torch_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FLOAT32 = 1  # ONNX's number for it


@dataclass(frozen=True)
class _SynthesizerGraph:
    """A graph being written from named tensors."""

    graph: OnnxGraph
    tensors: Mapping[str, NDArray[Any]]
    eight_bit: bool = False

    def weight(self, values: NDArray[Any]) -> str:
        """Keep a tensor in half precision, or a matrix in 8 bits, and widen it where it is used."""
        if not self.eight_bit or values.ndim < 2:
            return self.graph.add("Cast", self.graph.constant(values.astype(np.float16)), to=_FLOAT32)
        axes = 0 if values.ndim == 2 else tuple(range(1, values.ndim))  # a factor for each column, or each filter
        factors = np.maximum(np.abs(values).max(axis=axes, keepdims=True), 1e-9).astype(np.float32) / 127
        whole = self.graph.constant(np.rint(values / factors).astype(np.int8))
        return self.graph.add("Mul", self.graph.add("Cast", whole, to=_FLOAT32), self.graph.constant(factors))

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

    def film(self, name: str, x: str, speaker: str, width: int) -> str:
        both = self.graph.add("Unsqueeze", self.linear(name, speaker), self.graph.whole(1))
        parts = [
            self.graph.add("Slice", both, self.graph.whole(first), self.graph.whole(first + width), self.graph.whole(2))
            for first in (0, width)
        ]
        one = self.graph.constant(np.ones(1, np.float32))
        ones = self.graph.constant(np.ones(width, np.float32))
        normed = self.graph.add("LayerNormalization", x, ones, axis=-1, epsilon=NORM_EPSILON)
        return self.graph.add("Add", self.graph.add("Mul", normed, self.graph.add("Add", parts[0], one)), parts[1])


def encode(tensors: Mapping[str, NDArray[Any]], shape: SynthesizerShape, *, eight_bit: bool = False) -> bytes:
    """Write the graph from the network's arrays by name."""
    graph = OnnxGraph()
    write = _SynthesizerGraph(graph, tensors, eight_bit)
    x = write.linear("content", "content")
    if shape.prosody:
        x = graph.add("Add", x, write.linear("prosody", "prosody"))
    scaled = graph.add("Mul", "voice", graph.constant(np.array([VOICE_SCALE], np.float32)))
    speaker = write.silu(write.linear("voice", scaled))
    for block in range(shape.blocks):
        name = f"block{block}"
        y = write.film(f"film{block}", write.over_time(f"{name}.time", x), speaker, shape.width)
        x = graph.add("Add", x, write.linear(f"{name}.down", write.silu(write.linear(f"{name}.up", y))))
    logs = write.linear("head", write.film(f"film{shape.blocks}", x, speaker, shape.width))
    also: dict[str, list[int | str]] = {"prosody": ["batch", "frames", shape.prosody]} if shape.prosody else {}
    also["voice"] = ["batch", shape.voice]
    return graph.encode(
        "content", ["batch", "frames", shape.content], logs, ["batch", "frames", shape.bands], also=also
    )


def read_tensors(encoded: bytes, shape: SynthesizerShape) -> dict[str, NDArray[np.float32]]:
    """Read the network's arrays by name from a graph that ``encode`` wrote for the same sizes.

    A graph of the same sizes is written with the number of every tensor in its place: it says which constant is which.
    """
    names = {name: tuple(tensor.shape) for name, tensor in new_tensors(shape, key=Key.from_seed(0)).items()}
    marks = encode({name: np.full(size, k) for k, (name, size) in enumerate(names.items())}, shape)
    places = [mark for place in decode_model(marks).constants if (mark := place.array()).dtype == np.float16]
    given = _kept_weights([constant.array() for constant in decode_model(encoded).constants])
    if len(places) != len(given):
        raise WeightsError("the graph is no synthesizer of these sizes; use the settings it was trained with")
    found: dict[str, NDArray[np.float32]] = {}
    for mark, values in zip(places, given, strict=True):
        name = list(names)[int(mark.flat[0])]
        if values.shape != mark.shape:
            raise WeightsError(f"the graph's '{name}' has shape {list(values.shape)}, not {list(mark.shape)}")
        found[name] = values[:, 0].T if name.endswith("time.weight") else values
    return found


def _kept_weights(constants: Sequence[NDArray[Any]]) -> list[NDArray[np.float32]]:
    """Widen the weights among a graph's constants; one in 8 bits is followed by its factors."""
    widened = []
    for place, values in enumerate(constants):
        if values.dtype == np.float16:
            widened.append(values.astype(np.float32))
        elif values.dtype == np.int8:
            widened.append((values * constants[place + 1]).astype(np.float32))
    return widened


def export(tensors: Mapping[str, Any], shape: SynthesizerShape, *, eight_bit: bool = False) -> tuple[bytes, float]:
    """Write a trained network and measure how far its graph is from it (natural logarithms of level, at most)."""
    torch = torch_for("exporting the synthesizer")
    network = {name: tensor.detach() for name, tensor in tensors.items() if not name.startswith(DISCRIMINATOR)}
    graph = encode({name: tensor.numpy() for name, tensor in network.items()}, shape, eight_bit=eight_bit)
    rng = np.random.default_rng(0)
    sizes = {"content": (1, 50, shape.content), "prosody": (1, 50, shape.prosody), "voice": (1, shape.voice)}
    inputs = {name: rng.standard_normal(size, dtype=np.float32) for name, size in sizes.items() if size[-1]}
    inputs["voice"] /= np.linalg.norm(inputs["voice"])
    with torch.no_grad():
        given = (torch.from_numpy(inputs[name]) if name in inputs else None for name in sizes)
        expected = band_levels(network, *given, blocks=shape.blocks).numpy()
    levels = open_session(graph).run(None, inputs)[0]
    return graph, float(np.abs(levels - expected).max())
