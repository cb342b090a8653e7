"""What a study ran with: versions, seed, the exact models; enough to repeat it, nothing about people or keys."""

from __future__ import annotations

import platform
import sys
from importlib import metadata
from typing import Any

from personare import __version__
from personare.attackers import embedder as make_embedder
from personare.core.carriers import WEIGHTS
from personare.core.fingerprint import models_of
from personare.pipeline.graph import Graph
from personare.pipeline.measures.utility import kind_of

LIBRARIES = (
    *("numpy", "scipy", "polars", "onnxruntime", "soundfile", "soxr", "torch", "pyworld", "jiwer", "faster-whisper"),
    *("pesq", "pystoi", "speechmos", "visqol-python", "swift-f0", "ray"),
)


def environment_of(graph: Graph) -> dict[str, Any]:
    """Gather it."""
    return {
        "personare": __version__,
        "python": platform.python_version(),
        "platform": f"{sys.platform} {platform.machine()}",
        "libraries": {name: version for name in LIBRARIES if (version := _version(name)) is not None},
        "seed": graph.study.seed,
        "models": _models(graph),
        "methods": {
            w.label: models_of(w.system.build())
            for w in graph.anonymizers
            if w.kind == "sound" and w.system is not None
        },
        "ears": {a.label: make_embedder(a.attacker.embedder).fingerprint for a in graph.attackers},
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _models(graph: Graph) -> dict[str, Any]:
    """Name every shipped model that is used, with its carrier and the SHA-256 of its files."""
    names = {a.attacker.embedder for a in graph.attackers} | {kind_of(c) for c in graph.study.listener_choices.values()}
    names |= {"kokoro"} if any(s.wanted is not None for s in graph.corpora.values()) else set()
    return {
        name: {
            "carrier": f"{WEIGHTS[name].carrier.package} {WEIGHTS[name].carrier.version}",
            "licence": WEIGHTS[name].licence,
            "sha256": {member.rpartition("/")[2]: sha for member, sha in WEIGHTS[name].files.items()},
        }
        for name in sorted(names & set(WEIGHTS))
    }
