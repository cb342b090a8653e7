"""Products of 8-bit matrices: whether this processor computes them exactly with signed weights, and signed weights.

Processors with VNNI multiply unsigned by signed bytes twice as fast as unsigned by unsigned ones. Weights and their
zero point lowered by 128 are signed bytes with the same differences, so that every sum of products stays the same whole
number. On processors without these instructions the runtime adds neighbouring products in 16 bits, where large ones do
not fit; there weights stay unsigned.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.onnx_format import (
    INT32,
    UINT8,
    OnnxNetwork,
    OnnxTensor,
    OnnxValue,
    encode_model,
    make_node,
    make_tensor,
)
from personare.core.sessions import open_session

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SIGNED = 128


@lru_cache(maxsize=1)
def multiplies_exactly() -> bool:
    """Whether sums of the largest products of unsigned and signed bytes come out right here."""
    size = 64
    network = OnnxNetwork(
        [make_node("MatMulInteger", ["x", "w"], ["y"])],
        [OnnxValue("x", (size, size), UINT8)],
        [OnnxValue("y", (size, size), INT32)],
        [make_tensor("w", np.where(np.arange(size) % 2, -128, 127).astype(np.int8) * np.ones((size, 1), np.int8))],
    )
    (products,) = open_session(encode_model(network, opsets={"": 20}, ir_version=9)).run(
        None, {"x": np.full((size, size), 255, np.uint8)}
    )
    largest = size * 255 * np.where(np.arange(size) % 2, -128, 127)
    return bool((products == largest).all())


def lowered(weights: NDArray[Any]) -> NDArray[np.int8]:
    """Lower unsigned bytes by 128.

    >>> lowered(np.array([0, 128, 255], np.uint8)).tolist()
    [-128, 0, 127]
    """
    return (weights.astype(np.int16) - _SIGNED).astype(np.int8)


def with_signed_weights(network: OnnxNetwork) -> Sequence[OnnxTensor]:
    """Give a network's constants with the unsigned weights of matrix products lowered, where that is exact here."""
    if not multiplies_exactly():
        return network.constants
    products = [node.inputs for node in network.nodes if node.op == "MatMulInteger"]
    weights = {inputs[1] for inputs in products if len(inputs) == 4} | {i[3] for i in products if len(i) == 4}
    others = {name for node in network.nodes if node.op != "MatMulInteger" for name in node.inputs}
    constants = []
    for constant in network.constants:
        if constant.name in weights - others and (array := constant.array()).dtype == np.uint8:
            constants.append(make_tensor(constant.name, lowered(array)))
        else:
            constants.append(constant)
    return constants
