"""Kokoro's convolutions as products: the same whole numbers, the same sound to the bit, else the shipped network."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from personare.core.byte_products import multiplies_exactly
from personare.core.onnx_format import decode_model
from personare.core.sessions import open_session
from personare.core.weights import home
from personare.voices import kokoro, kokoro_network
from personare.voices.kokoro_network import with_products

ZERO = 131  # of the weights


def shipped(*, width: int = 1, stride: int = 1, dilation: int = 1, pad: int = 0, groups: int = 1) -> bytes:
    """One convolution of 8 bits, written by the onnx package, the zero as a list of numbers as in Kokoro's file."""
    weight = np.random.default_rng(7).integers(0, 256, (6, 4 // groups, width)).astype(np.uint8)
    node = helper.make_node(
        "ConvInteger",
        ["x", "w", "x_zero", "w_zero"],
        ["y"],
        kernel_shape=[width],
        strides=[stride],
        dilations=[dilation],
        pads=[pad, pad + 1],
        group=groups,
    )
    graph = helper.make_graph(
        [node],
        "one convolution",
        [
            helper.make_tensor_value_info("x", TensorProto.UINT8, [1, 4, "t"]),
            helper.make_tensor_value_info("x_zero", TensorProto.UINT8, []),
        ],
        [helper.make_tensor_value_info("y", TensorProto.INT32, [1, 6, "frames"])],
        [numpy_helper.from_array(weight, "w"), helper.make_tensor("w_zero", TensorProto.UINT8, [], [ZERO])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    return bytes(model.SerializeToString())


@pytest.fixture
def exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor that multiplies exactly, whatever this one is: small numbers are exact everywhere."""
    monkeypatch.setattr(kokoro_network, "multiplies_exactly", lambda: True)


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize(("width", "dilation", "pad"), [(1, 1, 0), (3, 1, 1), (7, 3, 9), (11, 5, 25), (5, 2, 0)])
def test_a_product_gives_the_numbers_of_the_convolution(width: int, dilation: int, pad: int) -> None:
    encoded = shipped(width=width, dilation=dilation, pad=pad)
    written = with_products(encoded)
    assert "ConvInteger" not in {node.op for node in decode_model(written).nodes}
    top = 256 if multiplies_exactly() else 60
    values = np.random.default_rng(1).integers(0, top, (1, 4, 60)).astype(np.uint8)
    inputs = {"x": values, "x_zero": np.array(17, np.uint8)}
    theirs, ours = (open_session(network).run(None, inputs)[0] for network in (encoded, written))
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize("other", [{"stride": 2}, {"groups": 2}])
def test_other_convolutions_stay(other: dict[str, int]) -> None:
    written = with_products(shipped(width=3, **other))
    assert [node.op for node in decode_model(written).nodes] == ["ConvInteger"]


def test_where_products_are_not_exact_the_network_stays_as_shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kokoro_network, "multiplies_exactly", lambda: False)
    encoded = shipped(width=3)
    assert with_products(encoded) is encoded


@pytest.mark.slow
@pytest.mark.models
def test_the_sound_is_that_of_the_shipped_network_to_the_bit() -> None:
    ids = kokoro.symbol_ids("wˈɔtɚ")
    inputs: dict[str, np.ndarray[Any, Any]] = {
        "input_ids": np.array([[0, *ids, 0]], np.int64),
        "style": kokoro.mixed_style(("af_heart",), (1.0,), length=len(ids)),
        "speed": np.ones(1, np.float32),
    }
    plain = open_session(kokoro.network_file())
    theirs, ours = (one.run(["waveform"], inputs)[0] for one in (plain, kokoro.session(home())))
    np.testing.assert_array_equal(ours, theirs)
