"""A trained codec of the paper's layout as files for use: encoder and decoder graphs, quantizers, a card."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.codecs.usc.export import CARD, fingerprint_of
from personare.core.errors import TrainingError
from personare.core.files import write_bytes, write_text
from personare.encoders.graphs import OnnxGraph
from personare.training import checkpoints

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Arrays = Mapping[str, NDArray[Any]]

ENCODER, DECODER, TABLES = "encoder.onnx", "decoder.onnx", "tables.npz"
FILES = (ENCODER, DECODER, TABLES)
_NETWORK = "network."
_DIRECTION, _LENGTH = "parametrizations.weight.original1", "parametrizations.weight.original0"
_EPSILON = 1e-9
_FLOAT32 = 1  # ONNX's number for it


@dataclass(frozen=True)
class _WaveWriter:
    """A graph of convolutions and Snake-beta being written from named tensors; sounds are [1, channels, n]."""

    graph: OnnxGraph
    tensors: Arrays

    def weight(self, values: NDArray[Any]) -> str:
        return self.graph.add("Cast", self.graph.constant(values.astype(np.float16)), to=_FLOAT32)

    def plain(self, name: str) -> NDArray[Any]:
        """The weight of a convolution, its direction and length multiplied out."""
        v, g = self.tensors[f"{name}.{_DIRECTION}"], self.tensors[f"{name}.{_LENGTH}"]
        return np.asarray(g * v / np.sqrt(np.square(v).sum(axis=(1, 2), keepdims=True)))

    def snake(self, name: str, x: str) -> str:
        alpha = self.graph.constant(np.exp(self.tensors[f"{name}.log_alpha"])[:, None].astype(np.float32))
        beta = np.exp(self.tensors[f"{name}.log_beta"])[:, None] + _EPSILON
        wave = self.graph.add("Sin", self.graph.add("Mul", x, alpha))
        square = self.graph.add("Mul", wave, wave)
        return self.graph.add("Add", x, self.graph.add("Div", square, self.graph.constant(beta.astype(np.float32))))

    def conv(self, name: str, x: str, *, stride: int = 1, dilation: int = 1, padding: int = 0) -> str:
        weight, bias = self.weight(self.plain(name)), self.weight(self.tensors[f"{name}.bias"])
        how = {"strides": [stride], "dilations": [dilation], "pads": [padding, padding]}
        return self.graph.add("Conv", x, weight, bias, **how)

    def up(self, name: str, x: str, *, stride: int) -> str:
        weight, bias = self.weight(self.plain(name)), self.weight(self.tensors[f"{name}.bias"])
        padding = -(-stride // 2)
        how = {"strides": [stride], "pads": [padding, padding], "output_padding": [stride % 2]}
        return self.graph.add("ConvTranspose", x, weight, bias, **how)

    def residual(self, name: str, x: str, dilation: int) -> str:
        y = self.conv(f"{name}.layers.1", self.snake(f"{name}.layers.0", x), dilation=dilation, padding=3 * dilation)
        y = self.conv(f"{name}.layers.3", self.snake(f"{name}.layers.2", y))
        return self.graph.add("Add", x, y)


def encoder_graph(tensors: Arrays, strides: Sequence[int]) -> bytes:
    """Waves [1, 1, n] -> z_e [1, width, n / hop]."""
    graph = OnnxGraph()
    write = _WaveWriter(graph, tensors)
    x, place = write.conv("encoder.layers.0", "wave", padding=3), 1
    for stride in strides:
        for dilation in (1, 3, 9):
            x, place = write.residual(f"encoder.layers.{place}", x, dilation), place + 1
        x = write.snake(f"encoder.layers.{place}", x)
        x = write.conv(f"encoder.layers.{place + 1}", x, stride=stride, padding=stride // 2)
        place += 2
    x = write.conv(f"encoder.layers.{place + 1}", write.snake(f"encoder.layers.{place}", x), padding=1)
    width = len(tensors[f"encoder.layers.{place + 1}.bias"])
    return graph.encode("wave", [1, 1, "samples"], x, [1, width, "frames"])


def decoder_graph(tensors: Arrays, strides: Sequence[int]) -> bytes:
    """z_q [1, width, frames] -> waves [1, 1, n]."""
    graph = OnnxGraph()
    write = _WaveWriter(graph, tensors)
    width = tensors[f"decoder.layers.0.{_DIRECTION}"].shape[1]
    x, place = write.conv("decoder.layers.0", "frames_in", padding=3), 1
    for stride in strides:
        x = write.up(f"decoder.layers.{place + 1}", write.snake(f"decoder.layers.{place}", x), stride=stride)
        place += 2
        for dilation in (1, 3, 9):
            x, place = write.residual(f"decoder.layers.{place}", x, dilation), place + 1
    x = write.conv(f"decoder.layers.{place + 1}", write.snake(f"decoder.layers.{place}", x), padding=3)
    return graph.encode("frames_in", [1, width, "frames"], x, [1, 1, "samples"])


def export_paper(checkpoint: Path, settings: Mapping[str, Any], out: Path, *, card: Mapping[str, Any]) -> str:
    """Write a checkpoint as files for use; ``settings`` are those of its training. Gives the fingerprint."""
    moment = checkpoints.load(checkpoint, fingerprint=None)
    tensors = {
        name.removeprefix(_NETWORK): np.asarray(tensor.numpy())
        for name, tensor in moment.tensors.items()
        if name.startswith(_NETWORK)
    }
    shape = settings["shape"]
    if "encoder.layers.0.bias" not in tensors:
        raise TrainingError(f"{checkpoint}: not a training of the paper's layout")
    tables: dict[str, NDArray[Any]] = {}
    for k in range(len(shape["codes"])):
        name = f"quantizer.levels.{k}"
        codes = tensors[f"{name}.codes"]
        tables |= {
            f"enter{k}": tensors[f"{name}.enter.weight"],
            f"enter_bias{k}": tensors[f"{name}.enter.bias"],
            f"codes{k}": codes / np.linalg.norm(codes, axis=1, keepdims=True),
            f"leave{k}": tensors[f"{name}.leave.weight"].T,
            f"leave_bias{k}": tensors[f"{name}.leave.bias"],
        }
    stream = io.BytesIO()
    half = {name: values.astype(np.float16) for name, values in tables.items()}
    np.savez_compressed(stream, **half)  # type: ignore[arg-type]
    contents = {
        ENCODER: encoder_graph(tensors, shape["strides"]),
        DECODER: decoder_graph(tensors, shape["decoder_strides"]),
        TABLES: stream.getvalue(),
    }
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    for name, content in contents.items():
        write_bytes(out / name, content)
    facts = {"config": "paper", "rate_hz": shape["rate_hz"], "steps": moment.step, "sha256": hashes}
    write_text(out / CARD, json.dumps({**card, **facts}, indent=2, sort_keys=True) + "\n")
    return fingerprint_of(hashes)
