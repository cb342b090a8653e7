"""Whisper's networks, written anew with the shipped 8-bit weights so that a processor computes them quickly.

The shipped encoder takes exactly 30 s; here its positions are an input, so that a short sound costs its own length. Its
weights become signed bytes (see ``core.byte_products``), which changes no bit of the result.

The shipped decoder turns the 8-bit table of word pieces into floats again at every step, writes out attention maps
and computes hundreds of shapes. Here the keys and values of the encoded sound are one product, computed once; a step
takes any number of word pieces, with a causal mask, so that proposed pieces are read together; and the logits are
products of bytes: the last states are split into two bytes each (h = s (a + b / 254), |a|, |b| <= 127), hence exact to
16 bits. Words and confidences are those of the shipped decoder, up to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.byte_products import lowered, multiplies_exactly, with_signed_weights
from personare.core.onnx_format import (
    FLOAT,
    INT64,
    UINT8,
    OnnxNetwork,
    OnnxNode,
    OnnxTensor,
    OnnxValue,
    decode_model,
    encode_model,
    make_node,
    make_tensor,
    subgraph,
)
from personare.core.sessions import Session, open_session

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

POSITIONS = "embed_positions.weight"
_HEAD = 64  # values of an attention head
_OPSETS, _IR_VERSION = {"": 17, "com.microsoft": 1}, 8
_FUSED = "com.microsoft"
_SECOND = 254.0  # how much finer the second byte of a state is


@dataclass(frozen=True)
class Memory:
    """What a decoder remembers: keys and values of the encoded sound, and those of the word pieces read so far."""

    sound: tuple[Floats, ...]
    pieces: tuple[Floats, ...]

    @property
    def length(self) -> int:
        """Number of word pieces read."""
        return int(self.pieces[0].shape[2])

    def cut(self, length: int) -> Memory:
        """Forget all word pieces but the first ones."""
        return Memory(self.sound, tuple(np.ascontiguousarray(one[:, :, :length]) for one in self.pieces))


@dataclass(frozen=True, eq=False)
class WhisperDecoder:
    """A decoder: the network of the sound's keys and values, that of one step, and the table of word pieces."""

    sound: Session
    step: Session
    table: NDArray[np.uint8]
    table_scale: float
    table_zero: int
    positions: Floats
    layers: int

    def start(self, states: Floats) -> Memory:
        """Begin with an encoded sound [1, frames, width]."""
        empty = np.zeros((1, states.shape[2] // _HEAD, 0, _HEAD), np.float32)
        return Memory(tuple(self.sound.run(None, {"states": states})), (empty,) * (2 * self.layers))

    def read(self, tokens: Sequence[int], memory: Memory, *, rows: int) -> tuple[Floats, Memory]:
        """Read word pieces: logits [rows, vocabulary] after the last ``rows`` of them, and the new memory."""
        bytes_read = self.table[np.array(tokens)].astype(np.float32)
        positions = self.positions[memory.length : memory.length + len(tokens)]
        embedded = (bytes_read - np.float32(self.table_zero)) * np.float32(self.table_scale) + positions
        names = [one.name for one in self.step.get_inputs()]
        inputs: list[NDArray[Any]] = [embedded[None], np.array([len(tokens) - rows]), *memory.pieces, *memory.sound]
        logits, *pieces = self.step.run(None, dict(zip(names, inputs, strict=True)))
        return logits[0], Memory(memory.sound, tuple(pieces))


def open_encoder(path: Path, *, where: str) -> tuple[Session, Floats]:
    """Open the encoder with its positions as an input, and give those of a whole window."""
    shipped = decode_model(path.read_bytes())
    positions = next(one for one in shipped.constants if one.name == POSITIONS).array().astype(np.float32)
    network = OnnxNetwork(
        shipped.nodes,
        [*shipped.inputs, OnnxValue(POSITIONS, ("frames", positions.shape[1]), FLOAT)],
        shipped.outputs[:1],
        [one for one in with_signed_weights(shipped) if one.name != POSITIONS],
        shipped.name,
    )
    return open_session(encode_model(network, opsets={"": 11}, ir_version=6), where=where), positions


def open_decoder(path: Path, *, where: str) -> WhisperDecoder:
    """Open the decoder, written anew with the weights of the shipped one."""
    weights = _weights(path)
    layers = 1 + max(int(name.split(".")[1]) for name in weights.products if name.startswith("layers."))
    table = weights.constants["embed_tokens.weight_quantized"]
    return WhisperDecoder(
        open_session(_sound_network(weights, layers), where=where),
        open_session(_step_network(weights, layers), where=where),
        table,
        float(weights.constants["embed_tokens.weight_scale"]),
        int(weights.constants["embed_tokens.weight_zero_point"]),
        weights.constants["embed_positions.weight"],
        layers,
    )


@dataclass(frozen=True, eq=False)
class _Weights:
    """The shipped constants by their names in the model, and the constant that each product multiplies by."""

    constants: dict[str, NDArray[Any]]
    products: dict[str, str]

    def product(self, *names: str) -> tuple[NDArray[np.int8], Floats, Floats]:
        """Weights [in, out], scales [out] and biases [out] of products with the same input, side by side."""
        parts = []
        for name in names:
            key = self.products[name]
            weight, scale = self.constants[f"{key}_quantized"], self.constants[f"{key}_scale"]
            bias = self.constants.get(f"{name}.bias", np.zeros(weight.shape[1], np.float32))
            parts.append((weight, np.broadcast_to(scale, weight.shape[1:]), bias))
        weights, scales, biases = zip(*parts, strict=True)
        return np.concatenate(weights, axis=1), np.concatenate(scales), np.concatenate(biases)


def _weights(path: Path) -> _Weights:
    shipped = decode_model(path.read_bytes())
    branch = next(graph for node in shipped.nodes if (graph := subgraph(node, "else_branch")) is not None)
    products = {
        node.outputs[0].split("/MatMul_")[0].removeprefix("/model/decoder/").replace("/", "."): _plain(node.inputs[1])
        for node in branch.nodes
        if node.op == "MatMulInteger"
    }
    constants = {_plain(one.name): one.array() for one in shipped.constants}
    return _Weights(constants, {name: key.removesuffix("_quantized") for name, key in products.items()})


def _plain(name: str) -> str:
    return name.replace("_merged_0", "").removeprefix("model.decoder.")


@dataclass
class _Graph:
    """Nodes so far, and the constants they use."""

    nodes: list[OnnxNode] = field(default_factory=list)
    constants: list[OnnxTensor] = field(default_factory=list)

    def add(self, op: str, inputs: Sequence[str], outputs: str | Sequence[str], domain: str = "", **more: Any) -> str:
        """Add a node; gives the name of its first output."""
        names = [outputs] if isinstance(outputs, str) else list(outputs)
        node = make_node(op, inputs, names, **more)
        self.nodes.append(OnnxNode(node.op, node.inputs, node.outputs, node.attributes, node.name, domain))
        return names[0]

    def constant(self, name: str, values: NDArray[Any]) -> str:
        """Add a constant; gives its name."""
        self.constants.append(make_tensor(name, values))
        return name

    def product(self, values: str, output: str, weights: tuple[NDArray[np.int8], Floats, Floats]) -> str:
        """Multiply float values, rounded to bytes, by 8-bit weights, and add a bias."""
        parts: tuple[NDArray[Any], ...] = weights
        names = [self.constant(f"{output}.{n}", w) for n, w in zip(("w", "scale", "bias"), parts, strict=True)]
        return self.add("DynamicQuantizeMatMul", [values, *names[:2], "", names[2]], output, _FUSED)

    def norm(self, values: str, name: str, weights: _Weights) -> str:
        """Normalize a layer's input."""
        names = [self.constant(f"{name}.{kind}", weights.constants[f"{name}.{kind}"]) for kind in ("weight", "bias")]
        return self.add("LayerNormalization", [values, *names], f"{name}.out", axis=-1, epsilon=1e-5)

    def encode(self, inputs: Sequence[OnnxValue], outputs: Sequence[OnnxValue]) -> bytes:
        """Write the model file."""
        network = OnnxNetwork(self.nodes, inputs, outputs, self.constants)
        return encode_model(network, opsets=_OPSETS, ir_version=_IR_VERSION)


def _memory_names(layers: int, kind: str) -> list[str]:
    return [f"{kind}.{layer}.{part}" for layer in range(layers) for part in ("key", "value")]


def _memory_values(names: Sequence[str], heads: int) -> list[OnnxValue]:
    return [OnnxValue(name, (1, heads, f"{name.split('.')[0]}_length", _HEAD)) for name in names]


def _sound_network(weights: _Weights, layers: int) -> bytes:
    """Keys and values of an encoded sound for every layer: one product."""
    graph, names = _Graph(), _memory_names(layers, "sound")
    products = [f"layers.{n}.encoder_attn.{kind}_proj" for n in range(layers) for kind in "kv"]
    width = weights.constants["layer_norm.weight"].size
    heads = width // _HEAD
    product = graph.product("states", "all", weights.product(*products))
    shape = graph.constant("shape", np.array([0, 0, 2 * layers * heads, _HEAD], np.int64))
    apart = graph.add("Transpose", [graph.add("Reshape", [product, shape], "apart")], "by_head", perm=[0, 2, 1, 3])
    sizes = graph.constant("sizes", np.full(2 * layers, heads, np.int64))
    graph.add("Split", [apart, sizes], names, axis=1)
    return graph.encode([OnnxValue("states", (1, "frames", width))], _memory_values(names, heads))


def _step_network(weights: _Weights, layers: int) -> bytes:
    """One step of the decoder: embedded word pieces and memories in, logits and memories out."""
    graph = _Graph()
    width = weights.constants["layer_norm.weight"].size
    heads = width // _HEAD
    values = "embedded"
    for layer in range(layers):
        values = _layer(graph, weights, f"layers.{layer}", layer, values, heads)
    end = graph.constant("end", np.array([np.iinfo(np.int64).max]))
    last = graph.add("Slice", [values, "first_row", end, graph.constant("axis", np.array([1]))], "last")
    _logits(graph, weights, graph.norm(last, "layer_norm", weights))
    past, sound, present = (_memory_names(layers, kind) for kind in ("past", "sound", "present"))
    inputs = [
        OnnxValue("embedded", (1, "pieces", width)),
        OnnxValue("first_row", (1,), INT64),
        *_memory_values([*past, *sound], heads),
    ]
    return graph.encode(inputs, [OnnxValue("logits", (1, "rows", "vocabulary")), *_memory_values(present, heads)])


def _layer(graph: _Graph, weights: _Weights, name: str, layer: int, values: str, heads: int) -> str:
    inner = graph.norm(values, f"{name}.self_attn_layer_norm", weights)
    products = weights.product(*(f"{name}.self_attn.{kind}_proj" for kind in "qkv"))
    own = [f"{name}.{kind}" for kind in "qkv"]
    graph.add("Split", [graph.product(inner, f"{name}.qkv", products)], own, axis=-1)
    past = [f"past.{layer}.{part}" for part in ("key", "value")]
    present = [f"present.{layer}.{part}" for part in ("key", "value")]
    attended = graph.add(
        "MultiHeadAttention",
        [*own, "", "", "", *past],
        [f"{name}.attended", *present],
        _FUSED,
        num_heads=heads,
        unidirectional=1,
    )
    values = _added(graph, weights, f"{name}.self_attn.out_proj", attended, values)
    inner = graph.norm(values, f"{name}.encoder_attn_layer_norm", weights)
    query = graph.product(inner, f"{name}.query", weights.product(f"{name}.encoder_attn.q_proj"))
    sound = [f"sound.{layer}.{part}" for part in ("key", "value")]
    heard = graph.add("MultiHeadAttention", [query, *sound], f"{name}.heard", _FUSED, num_heads=heads)
    values = _added(graph, weights, f"{name}.encoder_attn.out_proj", heard, values)
    inner = graph.norm(values, f"{name}.final_layer_norm", weights)
    hidden = graph.product(inner, f"{name}.hidden", weights.product(f"{name}.fc1"))
    return _added(graph, weights, f"{name}.fc2", graph.add("Gelu", [hidden], f"{name}.gelu", _FUSED), values)


def _added(graph: _Graph, weights: _Weights, name: str, values: str, before: str) -> str:
    return graph.add("Add", [before, graph.product(values, f"{name}.out", weights.product(name))], f"{name}.sum")


def _logits(graph: _Graph, weights: _Weights, states: str) -> None:
    """Multiply states, as two bytes each, by the table of word pieces."""
    table, zero = (weights.constants[f"embed_tokens.weight_{part}"] for part in ("quantized", "zero_point"))
    if multiplies_exactly():
        table, zero = lowered(table), lowered(zero)
    scale = float(weights.constants["embed_tokens.weight_scale"])
    middle, floor = (
        graph.constant("middle", np.array([128], np.float32)),
        graph.constant("floor", np.array([1e-9], np.float32)),
    )
    largest = graph.add("ReduceMax", [graph.add("Abs", [states], "abs")], "largest", axes=[-1], keepdims=1)
    unit = graph.add(
        "Div", [graph.add("Max", [largest, floor], "most"), graph.constant("127", np.array([127], np.float32))], "s"
    )
    units = graph.add("Div", [states, unit], "units")
    first = graph.add("Round", [units], "first_byte")
    finer = graph.add(
        "Mul",
        [graph.add("Sub", [units, first], "rest"), graph.constant("254", np.array([_SECOND], np.float32))],
        "finer",
    )
    both = graph.add("Concat", [first, graph.add("Round", [finer], "second_byte")], "both", axis=0)
    coded = graph.add("Cast", [graph.add("Add", [both, middle], "raised")], "coded", to=UINT8)
    factors = [
        graph.constant("table", np.ascontiguousarray(table.T)),
        graph.constant("zero", np.array(128, np.uint8)),
        graph.constant("table_zero", zero.reshape(())),
    ]
    sums = graph.add("Cast", [graph.add("MatMulInteger", [coded, *factors], "whole")], "sums", to=FLOAT)
    graph.add("Split", [sums], ["sums_a", "sums_b"], axis=0)
    fine = graph.add("Mul", ["sums_b", graph.constant("1/254", np.array([1 / _SECOND], np.float32))], "fine")
    total = graph.add("Add", ["sums_a", fine], "total")
    unit_scale = graph.add("Mul", [unit, graph.constant("table_scale", np.array([scale], np.float32))], "unit_scale")
    graph.add("Mul", [total, unit_scale], "logits")
