"""Kokoro's network with its convolutions written as matrix products, which processors of today compute twice as fast.

The shipped network has 8-bit weights. What it convolves is rounded to 8 bits too, and the sums are whole numbers:

    y_ot = sum_c sum_j (w_ocj - z_w) (x_c,t+jd - z_x)

The same sum is one product of the shifted inputs, side by side, [frames, kernel x channels], with the weights
[kernel x channels, out]. For such a product, but not for a convolution, the runtime has instructions that multiply
unsigned by signed bytes (see ``core.byte_products``). Whole numbers do not round: the sound is the same to the bit. On
processors without these instructions the network is taken as it was shipped.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from personare.core.byte_products import lowered, multiplies_exactly
from personare.core.onnx_format import (
    OnnxNetwork,
    OnnxNode,
    OnnxTensor,
    OnnxValue,
    decode_model,
    encode_model,
    integers_of,
    make_node,
    make_tensor,
)

OPSETS, IR_VERSION = {"": 20, "com.microsoft": 1}, 9  # of the shipped file
F0_HZ, F0_FACTOR = "f0_hz", "f0_factor"
_F0_CURVE = "/encoder/F0_proj/Conv_output_0"  # of the shipped file: the predicted F0 in Hz, [1, 1, frames]
_END = np.iinfo(np.int64).max


def with_products(encoded: bytes) -> bytes:
    """Rewrite the model file, where this processor multiplies bytes exactly; otherwise give it as it is."""
    if not multiplies_exactly():
        return encoded
    shipped = decode_model(encoded)
    rewrite = _ProductRewrite({tensor.name: tensor for tensor in shipped.constants})
    for node in shipped.nodes:
        rewrite.add(node)
    used = {name for node in rewrite.nodes for name in node.inputs}
    constants = [tensor for name, tensor in rewrite.constants.items() if name in used]
    network = OnnxNetwork(rewrite.nodes, shipped.inputs, shipped.outputs, constants, shipped.name)
    return encode_model(network, opsets=OPSETS, ir_version=IR_VERSION)


def with_f0_factor(encoded: bytes) -> bytes:
    """Give the network an output ``f0_hz`` [1, 1, frames], its predicted F0, and an input ``f0_factor`` to multiply it.

    The factor has as many frames, or one for all. Asked for ``f0_hz`` alone, the runtime computes no sound. A factor of
    1 gives the sound of the shipped network to the bit.
    """
    shipped = decode_model(encoded)
    multiplied = f"{_F0_CURVE}/multiplied"
    nodes: list[OnnxNode] = []
    for node in shipped.nodes:
        inputs = tuple(multiplied if name == _F0_CURVE else name for name in node.inputs)
        nodes.append(replace(node, inputs=inputs))
        if _F0_CURVE in node.outputs:
            nodes.append(make_node("Mul", [_F0_CURVE, F0_FACTOR], [multiplied]))
            nodes.append(make_node("Identity", [_F0_CURVE], [F0_HZ]))
    inputs_of = [*shipped.inputs, OnnxValue(F0_FACTOR, (1, 1, "f0_frames"))]
    outputs = [*shipped.outputs, OnnxValue(F0_HZ, (1, 1, "frames"))]
    network = OnnxNetwork(nodes, inputs_of, outputs, shipped.constants, shipped.name)
    return encode_model(network, opsets=OPSETS, ir_version=IR_VERSION)


@dataclass
class _ProductRewrite:
    """Nodes so far, and the constants they use."""

    constants: dict[str, OnnxTensor]
    nodes: list[OnnxNode] = field(default_factory=list)

    def add(self, node: OnnxNode) -> None:
        """Take a node over, or write a convolution as a product."""
        if node.op == "ConvInteger" and integers_of(node, "strides") == [1] and integers_of(node, "group") == [1]:
            self._product(node)
        else:
            self.nodes.append(node)

    def _product(self, node: OnnxNode) -> None:
        values, weight, values_zero, weight_zero = node.inputs
        (output,) = node.outputs
        kernel = self.constants[weight].array()  # [out, channels, width]
        (width,), (step,), pads = (integers_of(node, name) for name in ("kernel_shape", "dilations", "pads"))
        matrix = lowered(kernel).transpose(2, 1, 0).reshape(-1, len(kernel))
        zero = lowered(self.constants[weight_zero].array())
        frames = self._node("Transpose", [values], f"{output}/frames", perm=[0, 2, 1])
        if any(pads):
            around = self._constant(f"{output}/pads", np.array([0, pads[0], 0, 0, pads[1], 0], np.int64))
            frames = self._node("Pad", [frames, around, values_zero], f"{output}/padded")
        if width > 1:
            shifted = [self._shifted(frames, index * step, (width - 1 - index) * step) for index in range(width)]
            frames = self._node("Concat", shifted, f"{output}/beside", axis=2)
        factors = [self._constant(f"{output}/weight", matrix), values_zero, self._constant(f"{output}/zero", zero)]
        product = self._node("MatMulInteger", [frames, *factors], f"{output}/product")
        self._node("Transpose", [product], output, perm=[0, 2, 1])

    def _shifted(self, frames: str, before: int, after: int) -> str:
        """Leave out so many frames at the beginning and at the end."""
        start = self._constant(f"slice/{before}", np.array([before], np.int64))
        end = self._constant(f"slice/-{after}", np.array([-after if after else _END], np.int64))
        axis = self._constant("slice/axis", np.array([1], np.int64))
        return self._node("Slice", [frames, start, end, axis], f"{frames}/{before}")

    def _constant(self, name: str, values: np.ndarray[Any, Any]) -> str:
        self.constants[name] = make_tensor(name, values)
        return name

    def _node(self, op: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self.nodes.append(make_node(op, inputs, [output], **attributes))
        return output
