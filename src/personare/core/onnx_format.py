"""Reads and writes ONNX model files without the onnx package: the few messages of the format that our networks need.

Numbers of fields and types are those of the standard (onnx.proto). Records are written in the order of their numbers,
attributes in the order of their names, hence the same graph gives the same bytes as with the onnx package.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import WeightsError
from personare.core.protobuf import Message, decode, record

if TYPE_CHECKING:
    from numpy.typing import NDArray

FLOAT, UINT8, INT8, INT32, INT64, BOOL, FLOAT16, DOUBLE = 1, 2, 3, 6, 7, 9, 10, 11  # TensorProto.DataType
_DTYPES = {
    FLOAT: "<f4",
    UINT8: "|u1",
    INT8: "|i1",
    INT32: "<i4",
    INT64: "<i8",
    BOOL: "|b1",
    FLOAT16: "<f2",
    DOUBLE: "<f8",
}
_LISTED = ("|u1", "|i1", "<i4")  # may also be kept as a list of whole numbers (int32_data)
_A_FLOAT, _AN_INT, _A_STRING, _INTS = 1, 2, 3, 7  # AttributeProto.AttributeType


@dataclass(frozen=True)
class OnnxNode:
    """One operation (NodeProto); ``attributes`` are encoded AttributeProto messages."""

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[bytes, ...] = ()
    name: str = ""
    domain: str = ""

    def encode(self) -> bytes:
        """Write the message."""
        fields: list[tuple[int, str | bytes]] = [(1, name) for name in self.inputs]
        fields += [(2, name) for name in self.outputs]
        fields += [(3, self.name)] if self.name else []
        fields += [(4, self.op), *((5, attribute) for attribute in self.attributes)]
        fields += [(7, self.domain)] if self.domain else []
        return b"".join(record(number, value) for number, value in fields)


@dataclass(frozen=True, eq=False)
class OnnxTensor:
    """A named constant, as an encoded TensorProto."""

    name: str
    encoded: bytes

    def array(self) -> NDArray[Any]:
        """Give its numbers."""
        message = decode(self.encoded)
        dtype, shape, raw = _DTYPES.get(message.integer(2)), message.integers(1), message.part(9)
        if dtype in _LISTED and not raw:
            raw = np.array(message.packed_integers(5), np.int64).astype(dtype).tobytes()
        if dtype == "<f4" and not raw:  # or as a list of floats (float_data)
            raw = b"".join(message.parts(4))
        if dtype is None or len(raw) != math.prod(shape) * np.dtype(dtype).itemsize or min(shape, default=0) < 0:
            raise WeightsError(f"tensor '{self.name}' is not kept as raw numbers of a type we know")
        return np.frombuffer(raw, dtype=dtype).reshape(shape)


@dataclass(frozen=True)
class OnnxValue:
    """An input or output (ValueInfoProto): its type, and its shape with names for the sizes that vary."""

    name: str
    shape: tuple[int | str, ...]
    kind: int = FLOAT

    def encode(self) -> bytes:
        """Write the message."""
        sizes = (record(1 if isinstance(size, int) else 2, size) for size in self.shape)
        shape = b"".join(record(1, size) for size in sizes)
        return record(1, self.name) + record(2, record(1, record(1, self.kind) + record(2, shape)))


@dataclass(frozen=True, eq=False)
class OnnxNetwork:
    """A graph (GraphProto)."""

    nodes: Sequence[OnnxNode]
    inputs: Sequence[OnnxValue]
    outputs: Sequence[OnnxValue]
    constants: Sequence[OnnxTensor]
    name: str = "personare"

    def encode(self) -> bytes:
        """Write the message."""
        parts = [record(1, node.encode()) for node in self.nodes]
        parts += [record(2, self.name), *(record(5, constant.encoded) for constant in self.constants)]
        parts += [record(11, value.encode()) for value in self.inputs]
        parts += [record(12, value.encode()) for value in self.outputs]
        return b"".join(parts)


def make_node(op: str, inputs: Iterable[str], outputs: Iterable[str], **attributes: Any) -> OnnxNode:
    """Make a node; an attribute is a whole number, a float, a text or a list of whole numbers."""
    encoded = tuple(_attribute(name, value) for name, value in sorted(attributes.items()))
    return OnnxNode(op, tuple(inputs), tuple(outputs), encoded)


def integers_of(node: OnnxNode, attribute: str) -> list[int]:
    """Read a whole number or a list of them from a node's attributes; nothing if there is none of that name."""
    for message in map(decode, node.attributes):
        if message.text(1) == attribute:
            return message.integers(8) or message.integers(3)
    return []


def _attribute(name: str, value: float | str | Sequence[int]) -> bytes:
    if isinstance(value, int):
        number, kind, values = 3, _AN_INT, [value]
    elif isinstance(value, float):
        return record(1, name) + record(2, value) + record(20, _A_FLOAT)
    elif isinstance(value, str):
        return record(1, name) + record(4, value) + record(20, _A_STRING)
    else:
        number, kind, values = 8, _INTS, list(value)
    return record(1, name) + b"".join(record(number, int(one)) for one in values) + record(20, kind)


def make_tensor(name: str, values: NDArray[Any]) -> OnnxTensor:
    """Make a constant."""
    raw = values.astype(values.dtype.newbyteorder("<"), copy=False)
    kind = next((number for number, dtype in _DTYPES.items() if np.dtype(dtype) == raw.dtype), None)
    if kind is None:
        raise WeightsError(f"constant '{name}' has type {values.dtype}; an ONNX file of ours holds no such numbers")
    dims = b"".join(record(1, size) for size in values.shape)
    return OnnxTensor(name, dims + record(2, kind) + record(8, name) + record(9, raw.tobytes()))


def encode_model(
    network: OnnxNetwork, *, opsets: Mapping[str, int], ir_version: int, metadata: Mapping[str, str] | None = None
) -> bytes:
    """Write a model file (ModelProto); ``opsets`` gives the version of each domain of operations."""
    parts = [record(1, ir_version), record(7, network.encode())]
    parts += [record(8, record(1, domain) + record(2, version)) for domain, version in opsets.items()]
    parts += [record(14, record(1, key) + record(2, value)) for key, value in (metadata or {}).items()]
    return b"".join(parts)


def decode_model(encoded: bytes) -> OnnxNetwork:
    """Read the graph of a model file."""
    return _network(decode(encoded).part(7))


def subgraph(node: OnnxNode, attribute: str) -> OnnxNetwork | None:
    """Read the graph inside a node, such as a branch of an If; None if there is none of that name."""
    for message in map(decode, node.attributes):
        if message.text(1) == attribute and 6 in message:
            return _network(message.part(6))
    return None


def _network(encoded: bytes) -> OnnxNetwork:
    graph = decode(encoded)
    return OnnxNetwork(
        [_node(decode(part)) for part in graph.parts(1)],
        [_value(decode(part)) for part in graph.parts(11)],
        [_value(decode(part)) for part in graph.parts(12)],
        [OnnxTensor(decode(part).text(8), part) for part in graph.parts(5)],
        graph.text(2),
    )


def _node(message: Message) -> OnnxNode:
    attributes = tuple(message.parts(5))
    return OnnxNode(message.text(4), message.texts(1), message.texts(2), attributes, message.text(3), message.text(7))


def _value(message: Message) -> OnnxValue:
    tensor = decode(decode(message.part(2)).part(1))
    sizes = [decode(part) for part in decode(tensor.part(2)).parts(1)]
    shape = tuple(size.integer(1) if 1 in size else size.text(2) for size in sizes)
    return OnnxValue(message.text(1), shape, tensor.integer(1))


def name_subgraphs(encoded: bytes) -> bytes:
    """Give every graph inside a node (a branch of an If) a name; the runtime writes none, and opens none without."""
    model = decode(encoded)
    return _with_parts(model, 7, [_with_named_branches(model.part(7))])


def _with_named_branches(graph: bytes) -> bytes:
    message = decode(graph)
    return _with_parts(message, 1, [_with_names(decode(node)) for node in message.parts(1)])


def _with_names(node: Message) -> bytes:
    attributes = []
    for encoded in node.parts(5):
        attribute = decode(encoded)
        if 6 in attribute:  # its graph, whose field 2 is the name
            branch = _with_named_branches(attribute.part(6)) + record(2, attribute.text(1))
            encoded = _with_parts(attribute, 6, [branch])
        attributes.append(encoded)
    return _with_parts(node, 5, attributes)


def _with_parts(message: Message, number: int, parts: Sequence[bytes]) -> bytes:
    """Write a message again with other values of one field; it must have no floats of its own."""
    fields = {**message.fields, **({number: parts} if parts else {})}
    return b"".join(record(field, value) for field, values in fields.items() for value in values)
