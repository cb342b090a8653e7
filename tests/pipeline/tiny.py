"""A study small enough for every test: hummed voices, an embedder of a few additions, methods that need no model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import yaml

from conftest import hum
from personare.core.audio import Audio, write
from personare.core.files import write_bytes
from personare.core.tables import Corpus
from personare.encoders.graphs import OnnxGraph
from personare.training.embedder.export import FORMAT

TEXTS = ("one two three", "four five six", "seven eight nine")


def write_embedder(path: Path) -> Path:
    """Write an embedder in the form of a trained one: how much each mel band moves, and neighbours together."""
    graph = OnnxGraph()
    time, band = graph.whole(2), graph.whole(1)
    moves = graph.add("Sqrt", graph.add("ReduceMean", graph.add("Mul", "mels", "mels"), time, keepdims=0))
    low, high = (
        graph.add("Slice", "mels", graph.whole(first), graph.whole(last), band) for first, last in ((0, 79), (1, 80))
    )
    steps = graph.add("ReduceMean", graph.add("Abs", graph.add("Sub", high, low)), time, keepdims=0)
    metadata = {"format": FORMAT, "settings": "{}", "speakers": json.dumps([])}
    vector = graph.add("Concat", moves, steps, axis=1)
    write_bytes(path, graph.encode("mels", ["batch", 80, "frames"], vector, ["batch", 159], metadata=metadata))
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
            "ignorant": {"knowledge": "ignorant", "embedder": "trained:net.onnx"},
            "lazy": {"knowledge": "lazy-informed", "embedder": "trained:net.onnx", "enroll_draws": 1},
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
    """Write study, corpus and embedder into a folder (what is there already stays); give the study's path."""
    if not (folder / "corpus").is_dir():
        write_corpus(folder / "corpus")
    if not (folder / "net.onnx").is_file():
        write_embedder(folder / "net.onnx")
    path = folder / "study.yaml"
    path.write_text(study_text(**changes), encoding="utf-8")
    return path
