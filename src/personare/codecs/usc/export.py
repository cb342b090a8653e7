"""A trained small codec as files that onnxruntime and numpy use: three graphs, the quantizers' tables, voices, a card.

Weights are kept in half precision and widened when a graph is opened. The tokens are defined by these files, not by the
checkpoint they were made from: rounding to half precision may move a frame from one code to its neighbour.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.files import write_bytes, write_text
from personare.encoders.graphs import OnnxGraph

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Arrays = Mapping[str, NDArray[Any]]

SEMANTIC, ACOUSTIC, DECODER, TABLES, CARD = "semantic.onnx", "acoustic.onnx", "decoder.onnx", "tables.npz", "card.json"
FILES = (SEMANTIC, ACOUSTIC, DECODER, TABLES)
_FLOAT32 = 1  # ONNX's number for it
_NORM_EPSILON = 1e-5
_UNIT_EPSILON = 1e-6


@dataclass(frozen=True)
class _GraphWriter:
    """A graph being written from named tensors; arrays in it are [1, frames, channels]."""

    graph: OnnxGraph
    tensors: Arrays

    def weight(self, values: NDArray[Any]) -> str:
        return self.graph.add("Cast", self.graph.constant(values.astype(np.float16)), to=_FLOAT32)

    def linear(self, name: str, x: str) -> str:
        product = self.graph.add("MatMul", x, self.weight(self.tensors[f"{name}.weight"].T))
        bias = self.tensors.get(f"{name}.bias")
        return product if bias is None else self.graph.add("Add", product, self.weight(bias))

    def convolved(self, name: str, x: str, *, groups: int = 1) -> str:
        weight = self.tensors[f"{name}.weight"]
        reach = (weight.shape[2] - 1) // 2
        turned = self.graph.add("Transpose", x, perm=[0, 2, 1])
        bias = self.weight(self.tensors[f"{name}.bias"])
        y = self.graph.add("Conv", turned, self.weight(weight), bias, group=groups, pads=[reach, reach])
        return self.graph.add("Transpose", y, perm=[0, 2, 1])

    def normed(self, x: str, width: int, name: str = "") -> str:
        scale = self.weight(self.tensors[f"{name}.weight"]) if name else self.graph.constant(np.ones(width, np.float32))
        inputs = [x, scale, *([self.weight(self.tensors[f"{name}.bias"])] if name else [])]
        return self.graph.add("LayerNormalization", *inputs, axis=-1, epsilon=_NORM_EPSILON)

    def block(self, name: str, x: str, condition: str = "") -> str:
        width = len(self.tensors[f"{name}.time.bias"])
        y = self.convolved(f"{name}.time", x, groups=width)
        y = self.normed(y, width, "" if condition else f"{name}.norm")
        if condition:
            film = self.graph.add("Unsqueeze", self.linear(f"{name}.film", condition), self.graph.whole(1))
            scale, shift = (
                self.graph.add("Slice", film, self.graph.whole(a), self.graph.whole(a + width), self.graph.whole(2))
                for a in (0, width)
            )
            one = self.graph.constant(np.ones(1, np.float32))
            y = self.graph.add("Add", self.graph.add("Mul", y, self.graph.add("Add", scale, one)), shift)
        inner = self.linear(f"{name}.up", y)
        inner = self.graph.add("Mul", inner, self.graph.add("Sigmoid", inner))
        return self.graph.add("Add", x, self.linear(f"{name}.down", inner))

    def stack(self, name: str, x: str, condition: str = "") -> str:
        x = self.convolved(f"{name}.enter", x)
        for index in range(_count(self.tensors, f"{name}.blocks")):
            x = self.block(f"{name}.blocks.{index}", x, condition)
        return x


def _count(tensors: Arrays, prefix: str) -> int:
    return len({name[len(prefix) + 1 :].split(".")[0] for name in tensors if name.startswith(f"{prefix}.")})


def semantic_graph(tensors: Arrays) -> bytes:
    """Content and relative prosody [1, frames, n] -> unit vectors among C0's codes [1, frames, dims]."""
    graph = OnnxGraph()
    write = _GraphWriter(graph, tensors)
    width, source = tensors["content.enter.weight"].shape[:2]
    x = write.normed(write.stack("content", "features"), width, "content_norm")
    p = write.linear("semantic.enter", x)
    least = graph.constant(np.array([_UNIT_EPSILON], np.float32))
    unit = graph.add("Div", p, graph.add("Max", graph.add("ReduceL2", p, graph.whole(2)), least))
    dims = len(tensors["semantic.enter.bias"])
    return graph.encode("features", [1, "frames", source], unit, [1, "frames", dims])


def acoustic_graph(tensors: Arrays) -> bytes:
    """Mel spectrum and absolute F0 [1, frames, n] -> normalised acoustic vectors [1, frames, width]."""
    graph = OnnxGraph()
    write = _GraphWriter(graph, tensors)
    name = "mel" if "mel.enter.weight" in tensors else "content"
    width, source = tensors[f"{name}.enter.weight"].shape[:2]
    out = write.normed(write.stack(name, "features"), width)
    return graph.encode("features", [1, "frames", source], out, [1, "frames", width])


def decoder_graph(tensors: Arrays, *, sounds: int) -> bytes:
    """Quantized frames [1, frames, width] and a condition [1, c] -> parameters of the sound [1, sounds x frames, n]."""
    graph = OnnxGraph()
    write = _GraphWriter(graph, tensors)
    width = tensors["decoder.enter.weight"].shape[1]
    condition = tensors["voice.weight"].shape[0]
    x = write.linear("spread", write.stack("decoder", "frames_in", "condition"))
    sound = len(tensors["spread.bias"]) // sounds
    x = graph.add("Reshape", x, graph.whole(1, -1, sound))
    for index in range(_count(tensors, "sound")):
        x = write.block(f"sound.{index}", x, "condition")
    out = write.linear("head", write.normed(x, sound, "head_norm"))
    shape: list[int | str] = [1, "sound_frames", len(tensors["head.bias"])]
    return graph.encode("frames_in", [1, "frames", width], out, shape, also={"condition": [1, condition]})


def tables(tensors: Arrays, voices: Mapping[str, NDArray[np.float32]]) -> dict[str, NDArray[Any]]:
    """Give the quantizers' tables and the conditions that the decoder can be given, in half precision."""
    codes = tensors["semantic.codes"]
    found = {
        "codes": codes / np.linalg.norm(codes, axis=1, keepdims=True),
        "leave": tensors["semantic.leave.weight"].T,
        "leave_bias": tensors["semantic.leave.bias"],
        "predict": tensors["acoustic.predict.weight"].T,
        "predict_bias": tensors["acoustic.predict.bias"],
        "levels": tensors["level_table.weight"],
        "voice": tensors["voice.weight"].T,
        "voice_bias": tensors["voice.bias"],
    }
    for k in range(_count(tensors, "acoustic.levels")):
        name = f"acoustic.levels.{k}"
        found[f"enter{k}"] = tensors[f"{name}.enter.weight"]
        found[f"codes{k}"] = tensors[f"{name}.codes"]
        found[f"leave{k}"] = tensors[f"{name}.leave.weight"].T
    half = {name: values.astype(np.float16) for name, values in found.items()}
    names = sorted(voices)
    half["voice_vectors"] = np.stack([voices[name] for name in names]).astype(np.float16)
    return half | {"voice_names": np.array(names)}


def write_codec(
    folder: Path,
    tensors: Arrays,
    *,
    sounds: int,
    voices: Mapping[str, NDArray[np.float32]],
    card: Mapping[str, Any],
) -> str:
    """Write the files of a trained codec and their card with SHA-256; gives the codec's fingerprint."""
    stream = io.BytesIO()
    np.savez_compressed(stream, **tables(tensors, voices))  # type: ignore[arg-type]
    contents = {
        SEMANTIC: semantic_graph(tensors),
        ACOUSTIC: acoustic_graph(tensors),
        DECODER: decoder_graph(tensors, sounds=sounds),
        TABLES: stream.getvalue(),
    }
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    for name, content in contents.items():
        write_bytes(folder / name, content)
    write_text(folder / CARD, json.dumps({**card, "sha256": hashes}, indent=2, sort_keys=True) + "\n")
    return fingerprint_of(hashes)


def fingerprint_of(hashes: Mapping[str, str]) -> str:
    """Name a codec by its files: 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(dict(hashes), sort_keys=True).encode()).hexdigest()[:16]
