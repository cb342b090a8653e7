"""The decoder of Moonshine made fit for batches: every row is rounded by itself, so neighbours cannot change words.

The shipped decoder has 8-bit weights and rounds what it multiplies them with to 8 bits too, by one scale for the whole
input (x = s (q - z), q in 0..255). With several utterances in one input the loudest would set the scale of all, and
words would depend on what else is in the batch. Here the part of the network that continues a sentence (the branch
with memory) is taken out and each of its products A W is written with one scale s_r and zero z_r for each row r of A:

    (A W)_rj = s_r s_W ( sum_k q_rk (W_kj - z_W) - z_r sum_k (W_kj - z_W) )

The sums are whole numbers and therefore exact: one row in, and the numbers are those of the shipped decoder to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from personare.core.errors import WeightsError
from personare.core.onnx_format import (
    FLOAT,
    INT32,
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
from personare.core.sessions import to_onnx

HEAD_PADDED = (
    40  # the network widens heads of 36 numbers to 40; the encoder's keys and values are widened once, outside
)
_OPSET, _IR_VERSION = 18, 9


def step_network(decoder: Path) -> bytes:
    """Rewrite the shipped decoder: an ONNX network for one further word piece of several utterances."""
    whole = decode_model(to_onnx(decoder))
    choice = next((node for node in whole.nodes if node.op == "If"), None)
    branch = subgraph(choice, "then_branch") if choice else None
    if branch is None:
        raise WeightsError(f"{decoder}: not the decoder this version knows; run: personare models fetch moonshine")
    rewrite = _Rewrite({tensor.name: tensor for tensor in [*whole.constants, *branch.constants]})
    for node in branch.nodes:
        rewrite.add(node)
    return rewrite.encode(whole.inputs, [output for output in branch.outputs if ".encoder." not in output.name])


@dataclass
class _Rewrite:
    """Nodes so far; ``kept`` are the weights; ``rounded`` maps a rounded input to the names of its parts."""

    kept: dict[str, OnnxTensor]
    nodes: list[OnnxNode] = field(default_factory=list)
    rounded: dict[str, str] = field(default_factory=dict)
    same: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, value in (("0", np.float32(0)), ("1", np.float32(1)), ("255", np.float32(255))):
            self._constant(f"rows/{name}", np.asarray(value))
        self._constant("rows/last", np.array([-1], np.int64))

    def add(self, node: OnnxNode) -> None:
        """Take a node over, or put its row by row version in its place."""
        names = [self.same.get(name, name) for name in node.inputs]
        bias = names[-1] if node.op.startswith(("Dynamic", "MatMulInteger")) and len(names) in (5, 7) else ""
        if node.op == "DynamicQuantizeLinear":
            self.rounded[node.outputs[0]] = self._round(names[0], node.outputs[0])
        elif node.op == "DynamicQuantizeMatMul":
            rows = self._round(names[0], node.outputs[0])
            self._product(rows, names[1], names[2], names[3], bias, node.outputs[0])
        elif node.op == "MatMulIntegerToFloat":
            self._product(self.rounded[names[0]], names[1], names[3], names[5], bias, node.outputs[0])
        elif node.op == "Pad" and names[0].startswith("past_key_values") and ".encoder." in names[0]:
            self.same[node.outputs[0]] = names[0]
        else:
            self.nodes.append(replace(node, inputs=tuple(names)))

    def encode(self, inputs: Sequence[OnnxValue], outputs: Sequence[OnnxValue]) -> bytes:
        """Put together what the outputs need."""
        needed = {output.name for output in outputs}
        used = []
        for node in reversed(self.nodes):
            if needed.intersection(node.outputs):
                used.append(node)
                needed.update(node.inputs)
        inputs = [_widened(value) for value in inputs if value.name in needed]
        weights = [tensor for name, tensor in self.kept.items() if name in needed]
        network = OnnxNetwork(used[::-1], inputs, outputs, weights, "step")
        return encode_model(network, opsets={"": _OPSET, "com.microsoft": 1}, ir_version=_IR_VERSION)

    def _constant(self, name: str, value: np.ndarray) -> str:
        self.kept[name] = make_tensor(name, value)
        return name

    def _node(self, op: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self.nodes.append(make_node(op, inputs, [output], **attributes))
        return output

    def _round(self, values: str, name: str) -> str:
        """Write q, s and z of every row; the range always holds zero, as ONNX defines DynamicQuantizeLinear."""
        at = f"{name}/rows"
        high = self._node("Max", [self._node("ReduceMax", [values, "rows/last"], f"{at}/max"), "rows/0"], f"{at}/high")
        low = self._node("Min", [self._node("ReduceMin", [values, "rows/last"], f"{at}/min"), "rows/0"], f"{at}/low")
        span = self._node("Sub", [high, low], f"{at}/span")
        flat = self._node("Equal", [span, "rows/0"], f"{at}/flat")
        scale = self._node("Div", [span, "rows/255"], f"{at}/scale_or_0")
        scale = self._node("Where", [flat, "rows/1", scale], f"{at}/s")
        zero = self._node("Neg", [self._node("Div", [low, scale], f"{at}/low_s")], f"{at}/z_raw")
        zero = self._node("Round", [zero], f"{at}/z_float")
        steps = self._node("Round", [self._node("Div", [values, scale], f"{at}/q_raw")], f"{at}/q_round")
        steps = self._node("Add", [steps, zero], f"{at}/q_moved")
        steps = self._node("Clip", [steps, "rows/0", "rows/255"], f"{at}/q_float")
        self._node("Cast", [steps], f"{at}/q", to=UINT8)
        self._node("Cast", [zero], f"{at}/z", to=INT32)
        return at

    def _product(self, rows: str, weight: str, scale: str, zero: str, bias: str, output: str) -> None:
        """Write A W, in whole numbers until the end."""
        at = f"{output}/product"
        centred = self.kept[weight].array().astype(np.int64) - int(self.kept[zero].array())
        sums = self._constant(f"{at}/sums", centred.sum(axis=0).astype(np.int32))
        whole = self._node("MatMulInteger", [f"{rows}/q", weight, "", zero], f"{at}/raw")
        whole = self._node("Sub", [whole, self._node("Mul", [f"{rows}/z", sums], f"{at}/shift")], f"{at}/whole")
        value = self._node("Cast", [whole], f"{at}/float", to=FLOAT)
        both = self._node("Mul", [f"{rows}/s", scale], f"{at}/scale")
        product = self._node("Mul", [value, both], f"{at}/value" if bias else output)
        if bias:
            self._node("Add", [product, bias], output)


def _widened(value: OnnxValue) -> OnnxValue:
    """Give the encoder's keys and values, which come in with the heads' padded width, their shape."""
    if ".encoder." not in value.name:
        return value
    return replace(value, shape=(*value.shape[:3], HEAD_PADDED))
