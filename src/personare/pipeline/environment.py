"""What a study ran with: versions, seed, and every method, embedder, scorer and listener with description and paper.

Enough to repeat the study, nothing about people or keys. Descriptions and papers are what the classes declare of
themselves: the first line of the docstring and ``paper``; a report says them without knowing the classes.
"""

from __future__ import annotations

import inspect
import platform
import sys
from collections import Counter
from collections.abc import Iterable
from importlib import metadata
from typing import Any

from personare import __version__
from personare.attackers import EMBEDDERS, SCORERS
from personare.attackers import embedder as make_embedder
from personare.attackers.fused import JOINT, parts_of
from personare.core.carriers import WEIGHTS
from personare.core.errors import PersonareError
from personare.core.fingerprint import fingerprint, models_of
from personare.pipeline.graph import Graph
from personare.pipeline.resolve import ResolvedAnonymizer
from personare.pipeline.stages.embed import models_of_embedder
from personare.pipeline.study_listener import StudyListener, untrained_listeners
from personare.pseudospeakers import PSEUDOSPEAKERS

LIBRARIES = (
    *("numpy", "scipy", "polars", "onnxruntime", "soundfile", "soxr", "torch", "pyworld", "jiwer", "faster-whisper"),
    *("whisper-normalizer", "pesq", "pystoi", "speechmos", "visqol-python", "swift-f0", "ray"),
)
ALIGNED = "Cosine similarity after a rotation, learnt from training vectors, back to original speech."
UNKNOWN = "Speech that was given, anonymized in a way that nobody says."


def environment_of(graph: Graph) -> dict[str, Any]:
    """Gather everything, for environment.json."""
    embedders = list(dict.fromkeys(a.attacker.embedder for a in graph.attackers))
    scorers = dict.fromkeys(a.attacker.scorer_name for a in graph.attackers)
    return {
        "personare": __version__,
        "python": platform.python_version(),
        "platform": f"{sys.platform} {platform.machine()}",
        "libraries": {name: version for name in LIBRARIES if (version := _version(name)) is not None},
        "seed": graph.study.seed,
        "models": _models(graph),
        "methods": {way.label: _method(way) for way in graph.anonymizers if way.kind != "none"},
        "embedders": dict(zip(_numbered(embedders), map(_embedder, embedders), strict=True)),
        "scorers": {name: _scorer(name) for name in scorers},
        "listeners": {one.label: _listener(one) for one in untrained_listeners(graph.study, graph.folder)},
    }


def declared(cls: type) -> dict[str, str]:
    """Give what a class says of itself: the first line of its docstring, and its paper.

    >>> from personare.encoders.ecapa import Ecapa
    >>> declared(Ecapa)["paper"]
    'Desplanques et al., ECAPA-TDNN, 2020'
    """
    first = (inspect.getdoc(cls) or "").partition("\n")[0]
    return {"description": first.replace("``", ""), "paper": str(getattr(cls, "paper", ""))}


def _method(way: ResolvedAnonymizer) -> dict[str, Any]:
    """Describe an anonymizer; the generator of its voices brings a paper of its own."""
    if way.system is None:
        return {"description": UNKNOWN, "paper": "", "fingerprint": ""}
    built = way.system.build_generator() if way.kind == "vectors" else way.system.build()
    described: dict[str, Any] = declared(type(built))
    generator = way.system.parameters.get("generator")
    if isinstance(generator, str) and generator in PSEUDOSPEAKERS.names():
        papers = [described["paper"], declared(PSEUDOSPEAKERS.load(generator))["paper"]]
        described["paper"] = "; ".join(dict.fromkeys(paper for paper in papers if paper))
    described |= {"parameters": dict(way.system.parameters), "fingerprint": way.system.fingerprint}
    return described | {"files": models_of(built)}


def _embedder(name: str) -> dict[str, str]:
    parts = parts_of(name)
    if len(parts) > 1:
        papers = dict.fromkeys(paper for part in parts if (paper := _embedder(part)["paper"]))
        described = declared(type(make_embedder(name))) | {"paper": "; ".join(papers)}
    else:
        described = declared(EMBEDDERS.load(_kind(name)))
    return described | {"fingerprint": make_embedder(name).fingerprint}


def _scorer(name: str) -> dict[str, str]:
    if name == "aligned":
        return {"description": ALIGNED, "paper": "", "fingerprint": f"aligned, personare {__version__}"}
    return declared(SCORERS.load(name)) | {"fingerprint": fingerprint(SCORERS.make(name))}


def _listener(listener: StudyListener) -> dict[str, str]:
    try:
        exact = listener.fingerprint
    except PersonareError as error:  # an extra that is missing here is a failure of its stage
        exact = f"unknown ({error})"
    trained_on = listener.choice.trained_on if listener.trained_by_study else ""
    return declared(listener.declared) | {"fingerprint": exact, "trained_on": trained_on}


def _kind(name: str) -> str:
    """Give the name in the catalog: ``trained:FILE`` is a ``trained``; ``module:Class`` stays whole."""
    parts = parts_of(name)
    if len(parts) > 1:
        return JOINT.join(map(_kind, parts))
    kind = name.partition(":")[0]
    return kind if kind in EMBEDDERS.names() else name


def _numbered(embedders: Iterable[str]) -> list[str]:
    """Name each by its kind, further ones of a kind by a number too: where a file lies is nobody's business.

    >>> _numbered(["ecapa", "trained:/data/a.onnx", "trained:/data/b.onnx"])
    ['ecapa', 'trained', 'trained (2)']
    """
    counts: Counter[str] = Counter()
    names = []
    for kind in map(_kind, embedders):
        counts[kind] += 1
        names.append(kind if counts[kind] == 1 else f"{kind} ({counts[kind]})")
    return names


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _models(graph: Graph) -> dict[str, Any]:
    """Name every shipped model that is used, with its carrier and the SHA-256 of its files."""
    parts = {part for a in graph.attackers for part in parts_of(a.attacker.embedder)}
    names = {model for part in parts for model in models_of_embedder(part)}
    for listener in untrained_listeners(graph.study, graph.folder):
        names |= set(listener.made().requires.models)
    names |= {model for s in graph.corpora.values() if s.wanted is not None for model in s.wanted.models}
    return {
        name: {
            "carrier": f"{WEIGHTS[name].carrier.package} {WEIGHTS[name].carrier.version}",
            "licence": WEIGHTS[name].licence,
            "sha256": {member.rpartition("/")[2]: sha for member, sha in WEIGHTS[name].files.items()},
        }
        for name in sorted(names & set(WEIGHTS))
    }
