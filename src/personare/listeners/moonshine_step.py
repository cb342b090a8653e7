"""The decoder of Moonshine made fit for batches: every row is rounded by itself, so neighbours cannot change words.

The shipped decoder has 8-bit weights and rounds what it multiplies them with to 8 bits too, by one scale for the whole
input (x = s (q - z), q in 0..255). With several utterances in one input the loudest would set the scale of all, and
words would depend on what else is in the batch. Here the part of the network that continues a sentence (the branch
with memory) is taken out and each of its products A W is written with one scale s_r and zero z_r for each row r of A:

    (A W)_rj = s_r s_W ( sum_k q_rk (W_kj - z_W) - z_r sum_k (W_kj - z_W) )

The sums are whole numbers and therefore exact: one row in, and the numbers are those of the shipped decoder to the bit.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from personare.core.errors import WeightsError

HEAD_PADDED = (
    40  # the network widens heads of 36 numbers to 40; the encoder's keys and values are widened once, outside
)
_OPSET, _IR_VERSION = 18, 9


def step_network(decoder: Path) -> bytes:
    """Rewrite the shipped decoder: an ONNX network for one further word piece of several utterances."""
    import onnx

    whole = _as_onnx(decoder)
    choice = next((node for node in whole.graph.node if node.op_type == "If"), None)
    if choice is None:
        raise WeightsError(f"{decoder}: not the decoder this version knows; run: personare models fetch moonshine")
    branch = next(attribute.g for attribute in choice.attribute if attribute.name == "then_branch")
    kept = {tensor.name: tensor for tensor in [*whole.graph.initializer, *branch.initializer]}
    rewrite = _Rewrite(kept)
    for node in branch.node:
        rewrite.add(node)
    model = rewrite.model(whole.graph.input, [output for output in branch.output if ".encoder." not in output.name])
    onnx.checker.check_model(model)
    encoded: bytes = model.SerializeToString()
    return encoded


def _as_onnx(decoder: Path) -> Any:
    """Let onnxruntime write its own format as ONNX, unchanged."""
    import onnx
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "decoder.onnx"
        options.optimized_model_filepath = str(place)
        onnxruntime.InferenceSession(decoder, options, providers=["CPUExecutionProvider"])
        return onnx.load(place)


@dataclass
class _Rewrite:
    """Nodes so far; ``kept`` are the weights; ``rounded`` maps a rounded input to the names of its parts."""

    kept: dict[str, Any]
    nodes: list[Any] = field(default_factory=list)
    rounded: dict[str, str] = field(default_factory=dict)
    same: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, value in (("0", np.float32(0)), ("1", np.float32(1)), ("255", np.float32(255))):
            self._constant(f"rows/{name}", np.asarray(value))
        self._constant("rows/last", np.array([-1], np.int64))

    def add(self, node: Any) -> None:
        """Take a node over, or put its row by row version in its place."""
        names = [self.same.get(name, name) for name in node.input]
        bias = names[-1] if node.op_type.startswith(("Dynamic", "MatMulInteger")) and len(names) in (5, 7) else ""
        if node.op_type == "DynamicQuantizeLinear":
            self.rounded[node.output[0]] = self._round(names[0], node.output[0])
        elif node.op_type == "DynamicQuantizeMatMul":
            rows = self._round(names[0], node.output[0])
            self._product(rows, names[1], names[2], names[3], bias, node.output[0])
        elif node.op_type == "MatMulIntegerToFloat":
            self._product(self.rounded[names[0]], names[1], names[3], names[5], bias, node.output[0])
        elif node.op_type == "Pad" and names[0].startswith("past_key_values") and ".encoder." in names[0]:
            self.same[node.output[0]] = names[0]
        else:
            del node.input[:]
            node.input.extend(names)
            self.nodes.append(node)

    def model(self, inputs: Any, outputs: list[Any]) -> Any:
        """Put together what the outputs need."""
        from onnx import helper

        needed = {output.name for output in outputs}
        used = []
        for node in reversed(self.nodes):
            if needed.intersection(node.output):
                used.append(node)
                needed.update(node.input)
        inputs = [value for value in inputs if value.name in needed]
        for value in inputs:
            if ".encoder." in value.name:
                value.type.tensor_type.shape.dim[3].dim_value = HEAD_PADDED
        weights = [tensor for name, tensor in self.kept.items() if name in needed]
        graph = helper.make_graph(used[::-1], "step", inputs, outputs, weights)
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)

    def _constant(self, name: str, value: np.ndarray) -> str:
        from onnx import numpy_helper

        self.kept[name] = numpy_helper.from_array(value, name)
        return name

    def _node(self, op: str, inputs: list[str], output: str, **attributes: Any) -> str:
        from onnx import helper

        self.nodes.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    def _round(self, values: str, name: str) -> str:
        """Write q, s and z of every row; the range always holds zero, as ONNX defines DynamicQuantizeLinear."""
        from onnx import TensorProto

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
        self._node("Cast", [steps], f"{at}/q", to=TensorProto.UINT8)
        self._node("Cast", [zero], f"{at}/z", to=TensorProto.INT32)
        return at

    def _product(self, rows: str, weight: str, scale: str, zero: str, bias: str, output: str) -> None:
        """Write A W, in whole numbers until the end."""
        from onnx import TensorProto, numpy_helper

        at = f"{output}/product"
        centred = numpy_helper.to_array(self.kept[weight]).astype(np.int64) - int(
            numpy_helper.to_array(self.kept[zero])
        )
        sums = self._constant(f"{at}/sums", centred.sum(axis=0).astype(np.int32))
        whole = self._node("MatMulInteger", [f"{rows}/q", weight, "", zero], f"{at}/raw")
        whole = self._node("Sub", [whole, self._node("Mul", [f"{rows}/z", sums], f"{at}/shift")], f"{at}/whole")
        value = self._node("Cast", [whole], f"{at}/float", to=TensorProto.FLOAT)
        both = self._node("Mul", [f"{rows}/s", scale], f"{at}/scale")
        product = self._node("Mul", [value, both], f"{at}/value" if bias else output)
        if bias:
            self._node("Add", [product, bias], output)
