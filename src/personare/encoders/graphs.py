"""Pretrained networks as ONNX graphs: written once from checked weights, kept in the cache, opened on one thread."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core import weights
from personare.core.checkpoint import load_tensors
from personare.core.errors import WeightsError
from personare.core.files import write_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

OPSET = 18
IR_VERSION = 9


@dataclass(frozen=True)
class OnnxGraph:
    """A graph being written: nodes in order, and the constants they use."""

    nodes: list[Any] = field(default_factory=list)
    constants: dict[str, NDArray[Any]] = field(default_factory=dict)

    def add(self, op: str, *inputs: str, **attributes: Any) -> str:
        """Add one node with one output; give the output's name."""
        from onnx import helper

        output = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [output], **attributes))
        return output

    def constant(self, values: NDArray[Any]) -> str:
        """Add a constant; give its name."""
        name = f"constant_{len(self.constants)}"
        self.constants[name] = np.ascontiguousarray(values)
        return name

    def whole(self, *values: int) -> str:
        """Add a constant list of whole numbers, as axes, sizes and paddings are given."""
        return self.constant(np.array(values, dtype=np.int64))

    def encode(
        self,
        source: str,
        source_shape: Sequence[int | str],
        result: str,
        result_shape: Sequence[Any],
        *,
        also: Mapping[str, Sequence[int | str]] | None = None,
    ) -> bytes:
        """Write the model file: float32 in, float32 out; ``also`` names further inputs and their shapes."""
        import onnx
        from onnx import helper, numpy_helper

        kind = onnx.TensorProto.FLOAT
        graph = helper.make_graph(
            self.nodes,
            "personare",
            [
                helper.make_tensor_value_info(name, kind, list(shape))
                for name, shape in {source: source_shape, **(also or {})}.items()
            ],
            [helper.make_tensor_value_info(result, kind, list(result_shape))],
            [numpy_helper.from_array(values, name) for name, values in self.constants.items()],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
        onnx.checker.check_model(model)
        encoded: bytes = model.SerializeToString()
        return encoded


def fingerprint_of(name: str, version: int) -> str:
    """Name the exact model: its weights' SHA-256 and the version of what is computed from them.

    >>> fingerprint_of("ge2e", 3)
    'ge2e-39373b86598fa3da-v3'
    """
    (sha256,) = weights.known(name).files.values()
    return f"{name}-{sha256[:16]}-v{version}"


@functools.lru_cache(maxsize=8)
def session(
    name: str, version: int, build: Callable[[dict[str, NDArray[Any]]], bytes], threads: int, cache: Path
) -> Any:
    """Open the network of a carrier's weights; the graph is written on first use.

    ``cache`` is the cache folder (``weights.home()``), an argument so that a changed folder is never served stale.
    """
    place = cache / "graphs" / f"{fingerprint_of(name, version)}.graph"
    encoded = _kept(place)
    if encoded is None:
        (checkpoint,) = weights.files_of(name).values()
        encoded = build(load_tensors(checkpoint))
        write_bytes(place, hashlib.sha256(encoded).digest() + encoded)
    return opened(encoded, threads)


def _kept(place: Path) -> bytes | None:
    """Read a kept graph; one that does not fit the checksum before it is made anew from the checked weights."""
    try:
        content = place.read_bytes()
    except OSError:
        return None
    encoded = content[32:]
    return encoded if content[:32] == hashlib.sha256(encoded).digest() else None


def opened(encoded: bytes, threads: int) -> Any:
    """Open a graph from its bytes."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.enable_mem_pattern = False  # lengths differ from call to call: patterns would only pile up
    try:
        return onnxruntime.InferenceSession(encoded, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the runtime's exceptions share no public type
        raise WeightsError(f"onnxruntime cannot open a graph ({' '.join(str(error).split())})") from None
