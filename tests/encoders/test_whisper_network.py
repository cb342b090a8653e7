"""Whisper's rewritten networks against the shipped ones: the same states to the bit, the same logits up to rounding."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from personare.core.byte_products import multiplies_exactly, with_signed_weights
from personare.core.onnx_format import FLOAT, OnnxNetwork, OnnxValue, decode_model, encode_model, make_node, make_tensor
from personare.core.sessions import open_session
from personare.core.weights import files_of
from personare.encoders.whisper_network import POSITIONS, WhisperDecoder, open_decoder, open_encoder

Floats = NDArray[np.float32]
MODEL, FRAMES = "whisper-base", 200
PROMPT, PIECES = [50258, 50261, 50359, 50363], [300, 4000, 17]


def file(name: str) -> Path:
    return files_of(MODEL)[name]


@cache
def states() -> Floats:
    encoder, positions = open_encoder(file("encoder_model_quantized.onnx"), where=MODEL)
    features = np.random.default_rng(1).normal(0, 0.5, (1, 80, 2 * FRAMES)).astype(np.float32)
    (result,) = encoder.run(None, {"input_features": features, POSITIONS: positions[:FRAMES]})
    return np.asarray(result, np.float32)


@cache
def decoder() -> WhisperDecoder:
    return open_decoder(file("decoder_model_merged_quantized.onnx"), where=MODEL)


@pytest.mark.models
def test_signed_weights_change_no_bit() -> None:
    shipped = decode_model(file("encoder_model_quantized.onnx").read_bytes())
    positions = next(one for one in shipped.constants if one.name == POSITIONS).array().astype(np.float32)
    inputs = [*shipped.inputs, OnnxValue(POSITIONS, ("frames", positions.shape[1]), FLOAT)]
    constants = [one for one in shipped.constants if one.name != POSITIONS]
    network = OnnxNetwork(shipped.nodes, inputs, shipped.outputs[:1], constants, shipped.name)
    features = np.random.default_rng(1).normal(0, 0.5, (1, 80, 2 * FRAMES)).astype(np.float32)
    session = open_session(encode_model(network, opsets={"": 11}, ir_version=6))
    (before,) = session.run(None, {"input_features": features, POSITIONS: positions[:FRAMES]})
    assert np.array_equal(before, states())


def test_only_weights_of_products_become_signed() -> None:
    weight, zero = np.arange(12, dtype=np.uint8).reshape(3, 4), np.array(7, np.uint8)
    constants = [make_tensor("w", weight), make_tensor("z", zero), make_tensor("other", weight)]
    nodes = [
        make_node("MatMulInteger", ["x", "w", "x_zero", "z"], ["y"]),
        make_node("Cast", ["other"], ["float"], to=FLOAT),
    ]
    found = {one.name: one.array() for one in with_signed_weights(OnnxNetwork(nodes, [], [], constants))}
    assert np.array_equal(found["other"], weight)
    difference = found["w"].astype(int) - int(found["z"])
    assert np.array_equal(difference, weight.astype(int) - 7)
    assert found["w"].dtype == (np.int8 if multiplies_exactly() else np.uint8)


@pytest.mark.models
def test_logits_are_those_of_the_shipped_decoder() -> None:
    shipped = open_session(file("decoder_model_merged_quantized.onnx"))
    names = [one.name for one in shipped.get_inputs() if one.name.startswith("past_key_values")]
    empty = np.zeros((1, 8, 0, 64), np.float32)
    inputs = {"encoder_hidden_states": states(), **dict.fromkeys(names, empty)}
    first = {"input_ids": np.array([PROMPT]), "use_cache_branch": np.array([False])}
    logits, *present = shipped.run(None, {**inputs, **first})
    memory = decoder().start(states())
    found, memory = decoder().read(PROMPT, memory, rows=4)
    assert np.abs(found - logits[0]).max() < 0.02
    kept = dict(zip(names, present[: len(names)], strict=True))
    for piece in PIECES:
        step = {"input_ids": np.array([[piece]]), "use_cache_branch": np.array([True])}
        logits, *present = shipped.run(None, {**inputs, **kept, **step})
        later = dict(zip(names, present[: len(names)], strict=True))
        kept |= {name: value for name, value in later.items() if ".decoder." in name}
        found, memory = decoder().read([piece], memory, rows=1)
        assert np.abs(found - logits[0]).max() < 0.02
    assert memory.length == len(PROMPT) + len(PIECES)


@pytest.mark.models
def test_pieces_read_together_see_only_those_before_them() -> None:
    memory = decoder().read(PROMPT, decoder().start(states()), rows=1)[1]
    together, after = decoder().read(PIECES, memory, rows=3)
    others, _ = decoder().read([*PIECES[:2], 9000], memory, rows=3)
    assert np.abs(together[:2] - others[:2]).max() < np.abs(together[2] - others[2]).max() / 4
    cut = after.cut(len(PROMPT) + 1)
    assert cut.length == len(PROMPT) + 1 and cut.sound is memory.sound
    again, _ = decoder().read(PIECES[1:], cut, rows=2)
    assert np.corrcoef(again.ravel(), together[1:].ravel())[0, 1] > 0.99, "rows share the scale of their bytes"
