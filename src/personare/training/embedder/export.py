"""From a training to a file that anybody can use: the network as ONNX, proved equal to what was trained."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import TrainingError
from personare.core.files import write_bytes
from personare.core.seeding import rng_for
from personare.core.sessions import open_session
from personare.core.speakers import speaker_tokens
from personare.encoders import ecapa_graph
from personare.training.embedder import xvector

if TYPE_CHECKING:
    from personare.core.fingerprint import SystemIdentity
    from personare.training.embedder.task import EmbedderTask

FORMAT = "personare embedder 1"  # what a model file says it is
TOLERANCE = 1e-4  # largest difference between graph and network, relative to the vector's largest number
_LENGTHS = (5, 57, 300)  # frames


def export(task: EmbedderTask, path: Path, *, system: SystemIdentity | None = None) -> float:
    """Write the network to ``path``; gives the largest relative difference to the network as it was trained.

    ``system`` is the anonymizer whose speech it was trained on: an attack with this embedder is an informed one.
    """
    build = ecapa_graph.build if task.settings.arch == "ecapa" else xvector.build
    speakers = {*task.batches.utterances.speakers, *task.held_out.speakers}
    metadata = {
        "format": FORMAT,
        "settings": json.dumps(dataclasses.asdict(task.settings), sort_keys=True),
        "speakers": json.dumps(speaker_tokens(speakers)),
        "system": system.fingerprint if system else "",
        "system_name": system.name if system else "",
    }
    encoded = build(task.network_arrays(), metadata=metadata)
    difference = _difference(task, encoded)
    if not difference <= TOLERANCE:
        raise TrainingError(f"{path}: the graph differs from the network by {difference:.2g} (at most {TOLERANCE})")
    write_bytes(path, encoded)
    return difference


def _difference(task: EmbedderTask, encoded: bytes) -> float:
    """Run both on numbers like mel frames of several lengths."""
    session = open_session(encoded)
    rng = rng_for(task.batches.key, "export")
    worst = 0.0
    for frames in _LENGTHS:
        features = rng.normal(0, 12, (2, ecapa_graph.N_MELS, frames)).astype(np.float32)
        expected, vectors = task.vectors(features), session.run(None, {"mels": features})[0]
        if expected.shape != vectors.shape or not np.isfinite(vectors).all():
            return float("inf")
        worst = max(worst, float(np.abs(vectors - expected).max() / np.abs(expected).max()))
    return worst
