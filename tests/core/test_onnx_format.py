"""ONNX files without the onnx package: the same bytes as it writes, its files read, broken ones one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from personare.core import onnx_format as ours
from personare.core import protobuf
from personare.core.checkpoint import load_tensors
from personare.core.errors import WeightsError
from personare.core.sessions import open_session, to_onnx
from personare.core.weights import files_of
from personare.encoders import ecapa_graph, ge2e
from personare.encoders.graphs import OnnxGraph

ATTRIBUTES: list[dict[str, Any]] = [
    {},
    {"axis": 1},
    {"axis": -1, "epsilon": 1e-5},
    {"mode": "reflect"},
    {"pads": [3, 0, -2], "group": 384, "auto_pad": "NOTSET"},
    {"to": TensorProto.FLOAT16, "keepdims": 0},
]


@pytest.mark.parametrize("attributes", ATTRIBUTES)
def test_a_node_is_what_the_onnx_package_writes(attributes: dict[str, Any]) -> None:
    theirs = helper.make_node("Conv", ["x", "w", ""], ["y"], **attributes)
    assert ours.make_node("Conv", ["x", "w", ""], ["y"], **attributes).encode() == theirs.SerializeToString()


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i8", "i4", "i1", "u1", "?", ">f4"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3, 1)])
def test_a_tensor_is_what_the_onnx_package_writes_and_is_read_back(dtype: str, shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(0).normal(0, 3, shape).astype(dtype)
    written = ours.make_tensor("w", values)
    assert (
        written.encoded
        == numpy_helper.from_array(values.astype(values.dtype.newbyteorder("<")), "w").SerializeToString()
    )
    np.testing.assert_array_equal(written.array(), values)


@pytest.mark.parametrize("kind", [TensorProto.UINT8, TensorProto.INT8, TensorProto.INT32])
def test_whole_numbers_kept_as_a_list_are_read(kind: int) -> None:
    values = [3, 100, 7] if kind == TensorProto.UINT8 else [3, -100, 7]
    theirs = helper.make_tensor("z", kind, [3], values)
    assert theirs.int32_data, "a list, no raw numbers"
    assert ours.OnnxTensor("z", theirs.SerializeToString()).array().tolist() == values


def test_attributes_of_whole_numbers_are_read() -> None:
    node = ours.make_node("Conv", ["x", "w"], ["y"], pads=[3, 0, -2], group=384, auto_pad="NOTSET")
    assert [ours.integers_of(node, name) for name in ("pads", "group", "auto_pad", "none")] == [
        [3, 0, -2],
        [384],
        [],
        [],
    ]


def _theirs() -> Any:
    """One small network, written by the onnx package."""
    graph = helper.make_graph(
        [
            helper.make_node("Gemm", ["x", "w", "b"], ["h"], transB=1, alpha=0.5),
            helper.make_node("DynamicQuantizeMatMul", ["h", "q", "s", "z"], ["y"], domain="com.microsoft", name="last"),
        ],
        "personare",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 2])],
        [numpy_helper.from_array(np.arange(6, dtype=np.float32).reshape(2, 3), "w")],
    )
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def test_a_model_is_what_the_onnx_package_writes_and_its_file_is_read() -> None:
    theirs = _theirs()
    network = ours.decode_model(theirs.SerializeToString())
    assert [(node.op, node.inputs, node.outputs, node.name, node.domain) for node in network.nodes] == [
        ("Gemm", ("x", "w", "b"), ("h",), "", ""),
        ("DynamicQuantizeMatMul", ("h", "q", "s", "z"), ("y",), "last", "com.microsoft"),
    ]
    assert network.inputs == [ours.OnnxValue("x", ("batch", 3))]
    np.testing.assert_array_equal(network.constants[0].array(), np.arange(6, dtype=np.float32).reshape(2, 3))
    told = {"format": "personare embedder 1", "speakers": '["ä"]'}
    helper.set_model_props(theirs, told)
    again = ours.encode_model(network, opsets={"": 18, "com.microsoft": 1}, ir_version=9, metadata=told)
    assert again == theirs.SerializeToString()


def test_a_graph_inside_a_node_is_read() -> None:
    branch = _theirs().graph
    node = helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)
    outer = helper.make_graph([node], "outer", [], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])])
    choice = ours.decode_model(helper.make_model(outer).SerializeToString()).nodes[0]
    inner = ours.subgraph(choice, "then_branch")
    assert inner is not None and inner.encode() == branch.SerializeToString()
    assert ours.subgraph(choice, "absent") is None


def test_the_runtime_gives_the_same_numbers_for_both() -> None:
    rng = np.random.default_rng(1)
    weight, bias, x = (rng.normal(size=size).astype(np.float32) for size in ((4, 8), (4,), (5, 8)))
    graph = OnnxGraph()
    y = graph.add("Softmax", graph.add("Gemm", "x", graph.constant(weight), graph.constant(bias), transB=1), axis=-1)
    written = graph.encode("x", ["rows", 8], y, ["rows", 4])
    nodes = [
        helper.make_node("Gemm", ["x", "constant_0", "constant_1"], ["gemm_0"], transB=1),
        helper.make_node("Softmax", ["gemm_0"], ["softmax_1"], axis=-1),
    ]
    theirs = helper.make_graph(
        nodes,
        "personare",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 8])],
        [helper.make_tensor_value_info("softmax_1", TensorProto.FLOAT, ["rows", 4])],
        [numpy_helper.from_array(weight, "constant_0"), numpy_helper.from_array(bias, "constant_1")],
    )
    model = helper.make_model(theirs, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(model)
    assert written == model.SerializeToString()
    first, second = (open_session(encoded).run(None, {"x": x})[0] for encoded in (written, model.SerializeToString()))
    assert first.tobytes() == second.tobytes()


@pytest.mark.models
@pytest.mark.parametrize(("name", "build"), [("ecapa", ecapa_graph.build), ("ge2e", ge2e.build)])
def test_the_embedders_graphs_are_as_the_onnx_package_would_write_them(name: str, build: Any) -> None:
    (checkpoint,) = files_of(name).values()
    encoded = build(load_tensors(checkpoint))
    model = onnx.load_model_from_string(encoded)
    onnx.checker.check_model(model, full_check=True)
    assert model.SerializeToString() == encoded


@pytest.mark.models
def test_the_decoder_of_moonshine_is_read_as_the_onnx_package_reads_it() -> None:
    shipped = files_of("moonshine")["decoder_model_merged.ort"]
    whole = to_onnx(shipped)
    theirs = onnx.load_model_from_string(whole)
    network = ours.decode_model(whole)
    assert [node.op for node in network.nodes] == [node.op_type for node in theirs.graph.node]
    assert [value.encode() for value in network.inputs] == [value.SerializeToString() for value in theirs.graph.input]
    for constant, theirs_constant in zip(network.constants, theirs.graph.initializer, strict=True):
        np.testing.assert_array_equal(constant.array(), numpy_helper.to_array(theirs_constant))


@given(st.lists(st.tuples(st.integers(1, 500), st.one_of(st.integers(-(2**63), 2**63 - 1), st.binary(max_size=300)))))
def test_records_are_read_back_in_order(records: list[tuple[int, int | bytes]]) -> None:
    message = protobuf.decode(b"".join(protobuf.record(number, value) for number, value in records))
    for number in {number for number, _ in records}:
        assert list(message.fields[number]) == [value for n, value in records if n == number]


@given(st.binary(max_size=200))
def test_any_bytes_are_a_network_or_one_line(content: bytes) -> None:
    try:
        network = ours.decode_model(content)
    except WeightsError as error:
        assert "\n" not in str(error)
    else:
        assert isinstance(network, ours.OnnxNetwork)


def test_a_file_cut_anywhere_is_read_or_one_line() -> None:
    whole = _theirs().SerializeToString()
    for length in range(len(whole)):
        try:
            network = ours.decode_model(whole[:length])
        except WeightsError:
            continue
        assert len(network.nodes) in (0, 2), "a graph is read whole, or not at all"


def test_numbers_of_another_kind_are_refused() -> None:
    with pytest.raises(WeightsError, match="constant 'c' has type complex128"):
        ours.make_tensor("c", np.zeros(2, complex))
    short = ours.OnnxTensor(
        "w", ours.make_tensor("w", np.zeros(4, np.float32)).encoded[:-3] + protobuf.record(9, b"123")
    )
    with pytest.raises(WeightsError):
        short.array()


def test_a_missing_or_broken_network_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"absent\.onnx: no such file"):
        open_session(tmp_path / "absent.onnx")
    (tmp_path / "text.onnx").write_text("no network")
    for network, name in ((tmp_path / "text.onnx", r"text\.onnx"), (b"no network", "a network")):
        with pytest.raises(WeightsError, match=f"{name}: onnxruntime cannot open it") as caught:
            open_session(network)
        assert "\n" not in str(caught.value)


def test_graphs_inside_nodes_get_names_and_nothing_else_changes() -> None:
    def branch(value: float) -> onnx.GraphProto:
        constant = onnx.helper.make_tensor("value", onnx.TensorProto.FLOAT, [], [value])
        node = onnx.helper.make_node("Constant", [], ["out"], value=constant)
        return onnx.helper.make_graph([node], "b", [], [onnx.helper.make_tensor_value_info("out", 1, [])])

    choice = onnx.helper.make_node("If", ["condition"], ["y"], then_branch=branch(1.0), else_branch=branch(2.0))
    scale = onnx.helper.make_node("LeakyRelu", ["y"], ["z"], alpha=0.25)
    graph = onnx.helper.make_graph(
        [choice, scale],
        "whole",
        [onnx.helper.make_tensor_value_info("condition", onnx.TensorProto.BOOL, [])],
        [onnx.helper.make_tensor_value_info("z", 1, [])],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)
    expected = onnx.ModelProto.FromString(model.SerializeToString())
    for attribute in expected.graph.node[0].attribute:
        attribute.g.name = attribute.name
    for attribute in model.graph.node[0].attribute:
        attribute.g.ClearField("name")
    assert onnx.ModelProto.FromString(ours.name_subgraphs(model.SerializeToString())) == expected
