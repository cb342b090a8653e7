"""A study small enough for every test: hummed voices, an ear of a few additions, methods that need no model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import yaml

from conftest import hum
from personare.core.audio import Audio, write
from personare.core.tables import Corpus
from personare.training.embedder.export import FORMAT

TEXTS = ("one two three", "four five six", "seven eight nine")


def write_ear(path: Path) -> Path:
    """Write an ear in the form of a trained one: how much each mel band moves, and neighbours together."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    bands = [numpy_helper.from_array(np.array(v, np.int64), n) for n, v in (("zero", [0]), ("one", [1]))]
    ends = [numpy_helper.from_array(np.array(v, np.int64), n) for n, v in (("e79", [79]), ("e80", [80]))]
    time_axis = numpy_helper.from_array(np.array([2], np.int64), "time")
    band_axis = numpy_helper.from_array(np.array([1], np.int64), "band")
    nodes = [
        helper.make_node("Mul", ["mels", "mels"], ["square"]),
        helper.make_node("ReduceMean", ["square", "time"], ["power"], keepdims=0),
        helper.make_node("Sqrt", ["power"], ["moves"]),
        helper.make_node("Slice", ["mels", "zero", "e79", "band"], ["low"]),
        helper.make_node("Slice", ["mels", "one", "e80", "band"], ["high"]),
        helper.make_node("Sub", ["high", "low"], ["step"]),
        helper.make_node("Abs", ["step"], ["size"]),
        helper.make_node("ReduceMean", ["size", "time"], ["steps"], keepdims=0),
        helper.make_node("Concat", ["moves", "steps"], ["vector"], axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "ear",
        [helper.make_tensor_value_info("mels", TensorProto.FLOAT, ["batch", 80, "frames"])],
        [helper.make_tensor_value_info("vector", TensorProto.FLOAT, ["batch", 159])],
        [*bands, *ends, time_axis, band_axis],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    helper.set_model_props(model, {"format": FORMAT, "settings": "{}", "speakers": json.dumps([])})
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(path))
    return path


def voice(speaker: int, utterance: int) -> Audio:
    """One speaker's resonances and pitch, another rhythm and loudness for each utterance."""
    f0_hz = 95.0 + 14 * speaker + 3 * np.sin(utterance)
    sound = hum(speaker, duration_s=0.5 + 0.07 * utterance, f0_hz=float(f0_hz))
    t = np.arange(len(sound.samples)) / sound.rate_hz
    rhythm = 0.7 + 0.3 * np.sin(2 * np.pi * (2 + utterance) * t + speaker)
    noise = 0.004 * np.random.default_rng([speaker, utterance]).standard_normal(len(t))
    return Audio((sound.samples * rhythm + noise).astype(np.float32), sound.rate_hz)


def write_corpus(folder: Path, *, speakers: int = 6, utterances: int = 4, train: int = 2) -> Path:
    """Write the voices with a manifest: the last ``train`` speakers are the part 'train', the others 'eval'."""
    rows = []
    for s in range(speakers):
        name = f"s{s:02d}"
        for u in range(utterances):
            path = folder / name / f"{name}-{u}.wav"
            write(path, voice(s, u))
            part = "train" if s >= speakers - train else "eval"
            rows.append((f"{name}-{u}", name, str(path), "fm"[s % 2], TEXTS[u % 3], part))
    columns = ["utterance", "speaker", "audio", "gender", "text", "part"]
    Corpus(pl.DataFrame(rows, schema=columns, orient="row")).save(folder / "manifest.parquet")
    return folder


def study_text(**changes: Any) -> str:
    """Write the tiny study; ``changes`` replace its keys (None removes one)."""
    told: dict[str, Any] = {
        "title": "A tiny study",
        "corpora": {"hums": {"path": "corpus", "parts": {"train": "train"}}},
        "anonymizers": {"original": {}, "b2": {"method": "mcadams", "alpha": [0.7, 0.9]}},
        "attackers": {
            "ignorant": {"knowledge": "ignorant", "embedder": "trained:ear.onnx"},
            "lazy": {"knowledge": "lazy-informed", "embedder": "trained:ear.onnx", "enroll_draws": 1},
        },
        "listeners": ["stoi"],
        "metrics": ["eer", "linkability", "stoi"],
        "utterances_per_trial": [1],
        "gallery_sizes": [2, 4],
        "clips": 1,
        "seed": 3,
    }
    told |= changes
    return yaml.safe_dump({k: v for k, v in told.items() if v is not None}, sort_keys=False)


def write_study(folder: Path, **changes: Any) -> Path:
    """Write study, corpus and ear into a folder (what is there already stays); give the study's path."""
    if not (folder / "corpus").is_dir():
        write_corpus(folder / "corpus")
    if not (folder / "ear.onnx").is_file():
        write_ear(folder / "ear.onnx")
    path = folder / "study.yaml"
    path.write_text(study_text(**changes), encoding="utf-8")
    return path
