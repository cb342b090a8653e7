"""What a study ran with: versions, seed, and every method, embedder, scorer and listener with description and paper.

Enough to repeat the study, nothing about people or keys. Descriptions and papers are what the classes declare of
themselves: the first line of the docstring and ``paper``; a report says them without knowing the classes.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import platform
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from importlib import metadata
from typing import Any

from personare import __version__
from personare.anonymizers import ANONYMIZERS, anonymizer
from personare.attackers import EMBEDDERS
from personare.attackers import embedder as make_embedder
from personare.core.carriers import WEIGHTS
from personare.core.errors import PersonareError
from personare.listeners import COMPARISONS, LISTENERS
from personare.pipeline.graph import Graph
from personare.pipeline.models import file_marks, models_of
from personare.pipeline.resolve import Hiding
from personare.pipeline.stages.listen import Ear
from personare.pipeline.study import ListenerChoice
from personare.pipeline.wishes import kind_of
from personare.pseudospeakers import PSEUDOSPEAKERS

LIBRARIES = (
    *("numpy", "scipy", "polars", "onnxruntime", "soundfile", "soxr", "torch", "pyworld", "jiwer", "faster-whisper"),
    *("pesq", "pystoi", "speechmos", "visqol-python", "swift-f0", "ray"),
)
SCORERS: Mapping[str, tuple[str, str]] = {
    "cosine": ("Cosine similarity of the speaker vectors.", ""),
    "wccn": (
        "Cosine similarity after whitening the variation within speakers.",
        "Hatch et al., Within-class covariance normalization, 2006",
    ),
    "plda": (
        "Log-likelihood ratio of a probabilistic linear discriminant model fitted on the training vectors.",
        "Ioffe, Probabilistic linear discriminant analysis, 2006",
    ),
    "aligned": ("Cosine similarity after a rotation, learnt from training vectors, back to original speech.", ""),
}


def environment_of(graph: Graph) -> dict[str, Any]:
    """Gather everything, for environment.json."""
    embedders = dict.fromkeys(a.choice.embedder for a in graph.assaults)
    labels = _numbered(name.partition(":")[0] for name in embedders)
    scorers = dict.fromkeys(a.scorer for a in graph.assaults)
    return {
        "personare": __version__,
        "python": platform.python_version(),
        "platform": f"{sys.platform} {platform.machine()}",
        "libraries": {name: version for name in LIBRARIES if (version := _version(name)) is not None},
        "seed": graph.study.seed,
        "models": _models(graph),
        "methods": {way.label: _method(way) for way in graph.hidings if way.kind != "none"},
        "embedders": dict(zip(labels, map(_embedder, embedders), strict=True)),
        "scorers": {name: _scorer(name) for name in scorers},
        "listeners": {label: _listener(label, choice) for label, choice in graph.study.ears.items()},
    }


def declared(cls: type) -> dict[str, str]:
    """Give what a class says of itself: the first line of its docstring, and its paper.

    >>> from personare.attackers.ecapa import Ecapa
    >>> declared(Ecapa)["paper"]
    'Desplanques et al., ECAPA-TDNN, 2020'
    """
    first = (inspect.getdoc(cls) or "").partition("\n")[0]
    return {"description": first.replace("``", ""), "paper": str(getattr(cls, "paper", ""))}


def _method(way: Hiding) -> dict[str, Any]:
    """Describe an anonymizer; the generator of its voices brings a paper of its own."""
    name, parameters = way.recipe.method, way.recipe.parameters
    if way.kind == "vectors":
        return declared(PSEUDOSPEAKERS.load(name)) | {"fingerprint": _digest(name, parameters, {})}
    files = models_of(name, parameters)
    described: dict[str, Any] = declared(ANONYMIZERS.load(name))
    generator = parameters.get("generator")
    if isinstance(generator, str) and generator in PSEUDOSPEAKERS.names():
        papers = [described["paper"], declared(PSEUDOSPEAKERS.load(generator))["paper"]]
        described["paper"] = "; ".join(dict.fromkeys(paper for paper in papers if paper))
    own = getattr(anonymizer(name, **parameters), "fingerprint", None)
    return described | {"fingerprint": str(own or _digest(name, parameters, files)), "files": files}


def _digest(name: str, parameters: Mapping[str, Any], files: Mapping[str, str]) -> str:
    """Name a method that has no fingerprint of its own by its settings and the content of its files."""
    facts = [name, file_marks(dict(parameters)), dict(files), __version__]
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()
    return f"{name}-{digest[:16]}"


def _embedder(name: str) -> dict[str, str]:
    return declared(EMBEDDERS.load(name.partition(":")[0])) | {"fingerprint": make_embedder(name).fingerprint}


def _scorer(name: str) -> dict[str, str]:
    description, paper = SCORERS.get(name, ("", ""))
    return {"description": description, "paper": paper, "fingerprint": f"{name}, personare {__version__}"}


def _listener(label: str, choice: ListenerChoice) -> dict[str, str]:
    kind = kind_of(choice)
    catalog = COMPARISONS if kind in COMPARISONS.builtin else LISTENERS
    try:
        exact = Ear(label, choice).fingerprint() if kind != "ctc" or ":" in choice.listener else "trained by the study"
    except PersonareError as error:  # an extra that is missing here is a failure of its stage
        exact = f"unknown ({error})"
    return declared(catalog.load(kind)) | {"fingerprint": exact}


def _numbered(kinds: Iterable[str]) -> list[str]:
    """Name each by its kind, further ones of a kind by a number too: a file's place is nobody's business.

    >>> _numbered(["ecapa", "trained", "trained"])
    ['ecapa', 'trained', 'trained (2)']
    """
    counts: Counter[str] = Counter()
    names = []
    for kind in kinds:
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
    names = {a.choice.embedder for a in graph.assaults} | {kind_of(c) for c in graph.study.ears.values()}
    names |= {"kokoro"} if any(s.wanted is not None for s in graph.speech.values()) else set()
    return {
        name: {
            "carrier": f"{WEIGHTS[name].carrier.package} {WEIGHTS[name].carrier.version}",
            "licence": WEIGHTS[name].licence,
            "sha256": {member.rpartition("/")[2]: sha for member, sha in WEIGHTS[name].files.items()},
        }
        for name in sorted(names & set(WEIGHTS))
    }
