"""From a training to a file that anybody can use: the network as ONNX, proved equal to what was trained."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from personare.attackers import ecapa_graph
from personare.attackers.trained import FORMAT, speaker_tokens
from personare.attackers.training import xvector_graph
from personare.core.errors import TrainingError
from personare.core.files import write_bytes
from personare.core.seeding import rng_for
from personare.encoders import graphs

if TYPE_CHECKING:
    from personare.attackers.training.ear import Ear
    from personare.core.fingerprint import SystemIdentity

TOLERANCE = 1e-4  # largest difference between graph and network, relative to the vector's largest number
_LENGTHS = (5, 57, 300)  # frames


def export(ear: Ear, path: Path, *, system: SystemIdentity | None = None) -> float:
    """Write the network to ``path``; gives the largest relative difference to the network as it was trained.

    ``system`` is the anonymizer whose speech it has learnt from: an attack with this ear is an informed one.
    """
    build = ecapa_graph.build if ear.settings.arch == "ecapa" else xvector_graph.build
    people = {*ear.batches.clips.speakers, *ear.judges.speakers}
    notes = {
        "format": FORMAT,
        "settings": json.dumps(dataclasses.asdict(ear.settings), sort_keys=True),
        "speakers": json.dumps(speaker_tokens(people)),
        "system": system.fingerprint if system else "",
        "system_name": system.name if system else "",
    }
    encoded = _with_notes(build(ear.network_arrays()), notes)
    difference = _difference(ear, encoded)
    if not difference <= TOLERANCE:
        raise TrainingError(f"{path}: the graph differs from the network by {difference:.2g} (at most {TOLERANCE})")
    write_bytes(path, encoded)
    return difference


def _with_notes(encoded: bytes, notes: Mapping[str, str]) -> bytes:
    import onnx

    model = onnx.load_model_from_string(encoded)
    onnx.helper.set_model_props(model, dict(notes))
    written: bytes = model.SerializeToString()
    return written


def _difference(ear: Ear, encoded: bytes) -> float:
    """Let both listen to sounds like mel frames of several lengths."""
    session = graphs.opened(encoded, 1)
    rng = rng_for(ear.batches.key, "export")
    worst = 0.0
    for frames in _LENGTHS:
        features = rng.normal(0, 12, (2, ecapa_graph.N_MELS, frames)).astype(np.float32)
        wanted, found = ear.vectors(features), session.run(None, {"mels": features})[0]
        if wanted.shape != found.shape or not np.isfinite(found).all():
            return float("inf")
        worst = max(worst, float(np.abs(found - wanted).max() / np.abs(wanted).max()))
    return worst
